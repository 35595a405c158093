import { Counter, Gauge, Histogram, register } from 'prom-client';

export const REQUESTS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
export const LONG_WORK = [0.1, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 45, 60, 120];
export const LONG_WAITS = [30, 60, 300, 900, 1800, 3600, 4 * 3600, 8 * 3600, 24 * 3600];

export function counter<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[],
): Counter<L> {
  return once(name, () => new Counter({ name, help, labelNames }));
}

export function gauge<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[],
): Gauge<L> {
  return once(name, () => new Gauge({ name, help, labelNames }));
}

export function histogram<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[],
  buckets: readonly number[],
): Histogram<L> {
  return once(name, () => new Histogram({ name, help, labelNames, buckets: [...buckets] }));
}

/** The value when it is one of a set that we, and no caller, define; else `other`. */
export function knownOr(value: string, known: readonly string[] | ReadonlySet<string>): string {
  const isKnown = 'has' in known ? known.has(value) : known.includes(value);
  return isKnown ? value : 'other';
}

/** Several apps may live in one process (tests, replicas side by side): they share the registry. */
function once<M>(name: string, create: () => M): M {
  return (register.getSingleMetric(name) as M | undefined) ?? create();
}
