import type { Tx } from '../database/transactions.js';
import type { JobHandler, JobQueue } from './job-queue.js';

export interface EnqueueOptions {
  /** Not before this time; at once when absent. */
  readonly runAt?: Date;
}

export interface EnqueueOneOptions extends EnqueueOptions {
  /**
   * At most one job with this key waits in the queue: another enqueue replaces the data and the time of the one that
   * waits. A job that already runs is not waiting, so no wake-up is lost. Transactions that enqueue the same key take
   * turns until they commit: choose fine keys (an id, not a kind).
   */
  readonly singletonKey?: string;
}

export interface WorkOptions {
  /** How many jobs of the queue run at once on each replica. */
  readonly concurrency?: number;
}

export interface QueueState {
  readonly queue: string;
  /** Due, deferred or waiting for their next attempt. */
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
  readonly enqueuedAt: Date;
  readonly diedAt: Date;
}

/**
 * The job queue. Jobs are rows in PostgreSQL: enqueued in the caller's transaction, shared by all replicas, run at
 * least once, tried again with growing waits, and dead, but kept for an operator, when that does not help.
 */
export abstract class Jobs {
  /** Enqueues in the caller's transaction: rolled back with it, and started right after its commit. */
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

  /** Says who does the work. Called in `onModuleInit`: the workers start once all modules are there. */
  abstract work<Data extends object>(
    queue: JobQueue<Data>,
    handler: JobHandler<Data>,
    options?: WorkOptions,
  ): void;

  /**
   * Runs `handler` once in each period of so many seconds, on whichever replica is there, and never on two at a time.
   * A run that fails is not tried again before the next period. Called in `onModuleInit`, too.
   */
  abstract every(name: string, seconds: number, handler: JobHandler<object>): void;

  /** Whether jobs are being worked on; false while the database is away at the start. */
  abstract get started(): boolean;

  /** The state of each queue, for health and metrics. */
  abstract waiting(): Promise<QueueState[]>;
}
