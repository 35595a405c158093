import { Agent, get as httpGet } from 'node:http';
import autocannon from 'autocannon';
import type { Target } from './processes.ts';

export interface Load {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

interface Shot {
  readonly method: 'GET' | 'POST';
  readonly paths: readonly string[];
  readonly body?: string;
}

/** As many requests as 32 clients get answered in the time. */
export async function load(target: Target, shot: Shot, seconds: number): Promise<Load> {
  const result = await autocannon({
    url: target.url,
    connections: 32,
    duration: seconds,
    requests: shot.paths.map((path) => ({
      method: shot.method,
      path,
      headers: { ...target.headers, ...(shot.body && { 'content-type': 'application/json' }) },
      ...(shot.body && { body: shot.body }),
    })),
  });
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${result.non2xx} refusals and ${result.errors} errors at ${shot.paths[0]}`);
  }
  return {
    perSecond: result['2xx'] / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
  };
}

/** One client, one request after the other: the time of each in milliseconds. */
export async function latencies(target: Target, path: string, count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  try {
    for (let round = 0; round < count; round += 1) {
      const start = performance.now();
      await answered(target, path, agent);
      times.push(performance.now() - start);
    }
  } finally {
    agent.destroy();
  }
  return times;
}

function answered(target: Target, path: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = httpGet(
      target.url + path,
      { agent, headers: { ...target.headers } },
      (answer) => {
        answer.resume();
        answer.on('end', () =>
          answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode} ${path}`)),
        );
      },
    );
    request.on('error', reject);
  });
}

export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const median = (numbers: readonly number[]): number => percentile(numbers, 0.5);
