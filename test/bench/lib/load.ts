import autocannon from 'autocannon';
import { countProcessorTime, type ProcessorTime } from './processor-time.ts';
import type { Target } from './processes.ts';

export interface Load {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** For one request. */
  readonly processor: ProcessorTime;
}

export interface Shot {
  readonly what: string;
  readonly method: 'GET' | 'POST';
  readonly paths: readonly string[];
  readonly body?: string;
  readonly clients?: number;
  /** Looks at each answer; without it the status is enough. */
  readonly isRight?: (body: string) => boolean;
}

/** What was answered is not what was to be measured. */
export class SpoiltShot extends Error {}

/** As many requests as the clients get answered in the time. */
export async function load(target: Target, shot: Shot, seconds: number): Promise<Load> {
  const { what, method, paths, body, clients = 32, isRight = () => true } = shot;
  let wrong = '';
  const processorTime = await countProcessorTime(target);
  const result = await autocannon({
    url: target.url,
    connections: clients,
    duration: seconds,
    requests: paths.map((path) => ({
      method,
      path,
      headers: { ...target.headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body }),
    })),
    verifyBody: (answer) => {
      const right = isRight(answer);
      if (!right) wrong ||= answer;
      return right;
    },
  });
  const { '2xx': answered, non2xx, errors, mismatches, duration, latency } = result;
  if (answered === 0 || non2xx + errors + mismatches > 0) {
    const codes = Object.entries(result.statusCodeStats).map(
      ([code, { count }]) => `${count} x ${code}`,
    );
    throw new SpoiltShot(
      `${what}: no figure. ${target.url} gave ${answered + non2xx} answers (${codes.join(', ')}): ${non2xx} refused, ` +
        `${mismatches} answered something else, and ${errors} requests got no answer. ${wrong}`,
    );
  }
  const { server, postgres } = await processorTime();
  return {
    perSecond: answered / duration,
    p50: latency.p50,
    p99: latency.p99,
    processor: {
      ...(server !== undefined && { server: server / answered }),
      ...(postgres !== undefined && { postgres: postgres / answered }),
    },
  };
}

export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const median = (numbers: readonly number[]): number => percentile(numbers, 0.5);
