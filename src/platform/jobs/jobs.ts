import type { Tx } from '../database/transactions.js';
import type { Page, PageRequest, SortWord } from '../paging/page.js';

declare const carries: unique symbol;

interface QueueOptions {
  /** Number of retries before a job is dead. */
  readonly retryLimit?: number;
  /** Delay before the first retry. It doubles with each retry, with jitter. */
  readonly retryDelaySeconds?: number;
  readonly retryDelayMaxSeconds?: number;
  /** A job that runs longer fails: its signal is aborted and it is retried. */
  readonly timeLimitSeconds?: number;
}

/** Options shared by the jobs of one kind. The module that owns the work declares them as a constant. */
export interface JobQueue<Data extends object> extends Required<QueueOptions> {
  readonly name: string;
  readonly [carries]?: Data;
}

export interface JobContext {
  readonly id: string;
  /** 1 on the first run. A killed worker also uses up an attempt. */
  readonly attempt: number;
  /** Aborted if the result no longer counts: timeout, claim lost to another worker, or shutdown. */
  readonly signal: AbortSignal;
}

/**
 * A job may run more than once, for example if its worker is killed before it marks the job as done. So handlers must
 * be idempotent.
 */
export type JobHandler<Data> = (data: Data, job: JobContext) => Promise<void>;

const NAME = /^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*$/;
const LONGEST_NAME = 80;

const DEFAULTS: Required<QueueOptions> = {
  retryLimit: 8,
  // Short, because it also delays the retry after a killed worker.
  retryDelaySeconds: 1,
  retryDelayMaxSeconds: 300,
  timeLimitSeconds: 300,
};

/** Example: `const triageQueue = defineQueue<{ runId: string }>('triage', { timeLimitSeconds: 60 })` */
export function defineQueue<Data extends object>(
  name: string,
  options: QueueOptions = {},
): JobQueue<Data> {
  if (!NAME.test(name) || name.length > LONGEST_NAME) {
    throw new Error(
      `'${name}' is not a valid queue name: use lower-case words with dots and hyphens.`,
    );
  }
  return Object.freeze({ ...DEFAULTS, ...options, name });
}

/** Rejects a value that is too large when it is written, not when it is read. */
export function requireBounded(what: string, value: unknown, maxBytes: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes > maxBytes) {
    throw new RangeError(`${what} has ${bytes} bytes of JSON; at most ${maxBytes} are allowed.`);
  }
}

export interface EnqueueOptions {
  /** Earliest start. Default: at once. */
  readonly runAt?: Date;
}

export interface EnqueueOneOptions extends EnqueueOptions {
  /**
   * At most one job with this key waits in the queue: another enqueue replaces the data and time of the waiting job. A
   * running job does not wait, so no wake-up is lost. Transactions that enqueue the same key block each other until
   * they commit, so choose a fine-grained key (an id, not a kind).
   */
  readonly singletonKey?: string;
}

export interface WorkOptions {
  /** Number of jobs of the queue that run concurrently on each replica. */
  readonly concurrency?: number;
}

export interface QueueState {
  readonly queue: string;
  /** Due, deferred or waiting for a retry. */
  readonly waiting: number;
  readonly active: number;
  readonly dead: number;
}

export interface DeadJob {
  readonly id: string;
  readonly queue: string;
  readonly attempts: number;
  readonly error: string;
  readonly data: unknown;
  readonly enqueued_at: Date;
  /** Time of the last attempt. */
  readonly created_at: Date;
}

/**
 * The job queue. Jobs are rows in PostgreSQL: enqueued in the transaction of the caller, shared by all replicas,
 * executed at least once, retried with backoff, and finally dead and kept for an operator.
 */
export abstract class Jobs {
  /** Enqueues in the transaction of the caller. The job starts right after the commit. */
  abstract enqueue<Data extends object>(
    tx: Tx,
    queue: JobQueue<Data>,
    data: NoInfer<Data>,
    options?: EnqueueOneOptions,
  ): Promise<void>;

  abstract enqueueMany<Data extends object>(
    tx: Tx,
    queue: JobQueue<Data>,
    data: readonly NoInfer<Data>[],
    options?: EnqueueOptions,
  ): Promise<void>;

  /** Registers the handler of a queue. Call it in `onModuleInit`: workers start after all modules. */
  abstract work<Data extends object>(
    queue: JobQueue<Data>,
    handler: JobHandler<Data>,
    options?: WorkOptions,
  ): void;

  /** Whether the workers run; false while the database is unreachable at the start. */
  abstract get started(): boolean;

  /** State of each queue, for health and metrics. */
  abstract waiting(): Promise<QueueState[]>;
}

export interface DeadJobsQuery extends PageRequest {
  readonly queue?: string | undefined;
  /** Default: newest first. */
  readonly sort?: SortWord<'created_at'>;
}

/** Operations on dead jobs. They need no running workers. */
export abstract class DeadJobs {
  abstract list(query: DeadJobsQuery): Promise<Page<DeadJob>>;

  /** Moves a dead job back to its queue with all its attempts. Returns false if there is no such job. */
  abstract requeue(tx: Tx, id: string): Promise<boolean>;
}
