import { readdirSync } from 'node:fs';
import { PLAYBOOKS, type Shown, type Site, waitUntilIdle } from './site.ts';
import { readSample, sourceOf } from './tools.ts';

export interface SampleRuns {
  readonly incidents: readonly string[];
  /** Steps that fail according to a dry run. */
  readonly failing: readonly string[];
  readonly dryRuns: number;
}

/** Sends every sample, and runs every shipped playbook on its incidents: first as a dry run, then as a real run. */
export async function runSamples(site: Site): Promise<SampleRuns> {
  const incidents: string[] = [];
  for (const sample of samples()) {
    const { body } = await site.send({ source: sourceOf(sample), body: readSample(sample) });
    const made: Shown[] = body.incidents ?? (body.incident_id ? [body] : []);
    incidents.push(...made.map(({ incident_id: id }) => id as string));
  }
  await waitUntilIdle(site.admin);
  const failing: string[] = [];
  let dryRuns = 0;
  for (const id of new Set(incidents)) {
    for (const playbook of PLAYBOOKS) {
      const path = `/api/playbooks/${playbook}/run`;
      const { data } = await site.admin.request('POST', path, { incident_id: id, dry_run: true });
      dryRuns += 1;
      failing.push(
        ...data.steps
          .filter(({ decision }: Shown) => decision === 'error')
          .map(({ name, error }: Shown) => `${playbook}, ${id}, ${name}: ${error}`),
      );
      await site.admin.request('POST', path, { incident_id: id });
    }
  }
  await waitUntilIdle(site.admin);
  return { incidents, failing, dryRuns };
}

function samples(): string[] {
  return ['presets', 'formats'].flatMap((kind) =>
    readdirSync(`test/fixtures/webhooks/${kind}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json') && !name.endsWith('.expected.json'))
      .map((name) => `${kind}/${name}`)
      .sort(),
  );
}
