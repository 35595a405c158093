declare const carries: unique symbol;

export interface QueueOptions {
  /** How often a failed job is tried again before it is dead. */
  readonly retryLimit?: number;
  /** The wait before the first retry; it doubles with each, with some jitter. */
  readonly retryDelaySeconds?: number;
  readonly retryDelayMaxSeconds?: number;
  /** A job that runs longer counts as failed: its signal is aborted and it is tried again. */
  readonly timeLimitSeconds?: number;
}

/** What the jobs of one kind have in common. The module that owns the work declares it as a constant. */
export interface JobQueue<Data extends object> extends Required<QueueOptions> {
  readonly name: string;
  readonly [carries]?: Data;
}

export interface JobContext {
  readonly id: string;
  /** 1 on the first run. A worker that was killed in the middle has used up an attempt, too. */
  readonly attempt: number;
  /** Aborted when the result can no longer count: out of time, claimed by another worker, or the service ends. */
  readonly signal: AbortSignal;
}

/** A job may run more than once (its worker is killed after the work and before the tick), so work by its data's ids. */
export type JobHandler<Data> = (data: Data, job: JobContext) => Promise<void>;

const NAME = /^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*$/;
const LONGEST_NAME = 80;

const DEFAULTS: Required<QueueOptions> = {
  retryLimit: 8,
  // Short, because it also delays the job of a killed worker.
  retryDelaySeconds: 1,
  retryDelayMaxSeconds: 300,
  timeLimitSeconds: 300,
};

/** `const triageQueue = defineQueue<{ runId: string }>('triage', { timeLimitSeconds: 60 })` */
export function defineQueue<Data extends object>(
  name: string,
  options: QueueOptions = {},
): JobQueue<Data> {
  if (!NAME.test(name) || name.length > LONGEST_NAME) {
    throw new Error(`'${name}' is no name for a queue: lower-case words with dots and hyphens.`);
  }
  return Object.freeze({ ...DEFAULTS, ...options, name });
}

/** Refuses what is too large where it is made, not where it is read. */
export function requireBounded(what: string, value: unknown, maxBytes: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes > maxBytes) {
    throw new RangeError(`${what} has ${bytes} bytes of JSON; ${maxBytes} are allowed.`);
  }
}
