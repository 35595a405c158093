import type { TestApp } from './test-app.js';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses the Prometheus text format. */
export function samplesOf(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, key, label]) => [key, label])),
        value: Number(value),
      };
    });
}

/** Returns the samples with this name that have these labels, and possibly further labels. */
export const samplesWith = (
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Sample[] =>
  samples
    .filter((sample) => sample.name === name)
    .filter(({ labels: has }) => Object.entries(labels).every(([key, one]) => has[key] === one));

/** `token`: value of METRICS_TOKEN, if the app has this setting. */
export async function scrape(app: Pick<TestApp, 'get'>, token?: string): Promise<Sample[]> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status, text } = await app.get('/metrics', headers);
  if (status !== 200) throw new Error(`GET /metrics answered ${status}: ${text}`);
  return samplesOf(text);
}
