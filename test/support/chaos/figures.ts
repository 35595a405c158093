/** The full run: `CHAOS=full npm run test:chaos`. */
export const FULL = process.env['CHAOS'] === 'full';

export function percentile(ascending: readonly number[], share: number): number {
  const at = Math.min(ascending.length - 1, Math.ceil(ascending.length * share) - 1);
  return Math.round(ascending[Math.max(0, at)] ?? 0);
}

/** `p50 / p99 / most` of so many. */
export function spread(values: readonly number[]): string {
  const ascending = [...values].sort((a, b) => a - b);
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(ascending, share));
  return `p50 ${p50} ms, p99 ${p99} ms, most ${most} ms of ${ascending.length}`;
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
