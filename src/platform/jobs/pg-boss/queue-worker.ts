import type { Job, PgBoss } from 'pg-boss';
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobContext, JobHandler } from '../job-queue.js';
import { shownStart } from '../../text.js';
import { isDatabaseUnavailable } from '../../database/sqlstate.js';
import { Batcher } from '../../concurrency/batcher.js';
import { withoutTrace } from './job-trace.js';
import { outsideTraces, traced } from '../../tracing/tracing.js';

/** A job that this process has claimed and not yet settled. */
class ClaimedJob implements JobContext {
  readonly id: string;
  readonly attempt: number;
  /** The handler has ended; only the row is left to be written. */
  settling = false;
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;

  constructor(readonly claim: Job<object>) {
    this.id = claim.id;
    this.attempt = claim.retryCount + 1;
    this.timer = setTimeout(
      () => this.abort(`The job ran longer than ${claim.expireInSeconds} s.`),
      claim.expireInSeconds * 1_000,
    );
    this.timer.unref();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  abort(reason: string): void {
    this.controller.abort(new Error(reason));
  }

  release(): void {
    clearTimeout(this.timer);
  }
}

const SETTLE_RETRY_MS = 500;
const LONGEST_ERROR = 2_000;

export interface Work {
  readonly queue: string;
  readonly handler: JobHandler<object>;
  readonly concurrency: number;
  /** A periodic job's row stays for a while: it marks its time slot as taken. */
  readonly keepWhenDone: boolean;
}

/**
 * Works on one queue: takes as many jobs as it has free places, runs each on its own, gives the sign of life and
 * settles. The library's own workers take the next batch only when the last job of this one has ended, and poll once
 * per place; everything that must be right (claiming, retries, dead jobs, heartbeats) is the library's.
 */
export class QueueWorker {
  private readonly log = new Logger('Jobs');
  private readonly running = new Map<string, ClaimedJob>();
  private readonly done: Batcher<ClaimedJob, undefined>;
  private fetching: Promise<void> | undefined;
  private wanted = false;
  private stopping = false;
  private abandoned = false;

  constructor(
    private readonly boss: PgBoss,
    private readonly work: Work,
  ) {
    this.done = new Batcher(async (jobs) => {
      await this.markDone(jobs);
      return jobs.map(() => undefined);
    });
  }

  /** There may be jobs. */
  wake(): void {
    this.wanted = true;
    this.fetching ??= outsideTraces(() => this.fetch()).finally(() => {
      this.fetching = undefined;
      // Something woke us between the last look and here.
      if (this.wanted && !this.stopping && this.free > 0) this.wake();
    });
  }

  /** Tells the database that the jobs are still being worked on, and the jobs that are no longer ours so. */
  async beat(): Promise<void> {
    const held = [...this.running.values()];
    if (held.length === 0) return;
    const answer = await this.boss.touch(
      this.work.queue,
      held.map(({ claim }) => claim),
    );
    const ours = new Set((answer as { settled?: string[] }).settled ?? held.map(({ id }) => id));
    for (const job of held) {
      if (!ours.has(job.id) && !job.settling) job.abort('The job was given to another worker.');
    }
  }

  /** Takes no more jobs. */
  pause(): void {
    this.stopping = true;
  }

  /** Waits until no job runs, or until those that do are abandoned. */
  async drained(): Promise<void> {
    while (!this.abandoned && (this.running.size > 0 || this.fetching)) await sleep(20);
  }

  /** Leaves what still runs to other workers: they take it when its heartbeat has stopped for long enough. */
  abandon(): void {
    this.abandoned = true;
    for (const job of this.running.values()) {
      job.abort('The service ends.');
      job.release();
    }
  }

  private get free(): number {
    return this.work.concurrency - this.running.size;
  }

  private async fetch(): Promise<void> {
    try {
      while (this.wanted && !this.stopping) {
        const { free } = this;
        // Still wanted: the next job that ends looks again.
        if (free <= 0) return;
        this.wanted = false;
        const jobs = await this.boss.fetch<object>(this.work.queue, { batchSize: free });
        this.wanted ||= jobs.length === free;
        for (const job of jobs) void this.run(new ClaimedJob(job));
      }
    } catch (error) {
      // The poll looks again.
      if (!isDatabaseUnavailable(error))
        this.log.error({ err: error }, `Cannot fetch ${this.work.queue}.`);
    }
  }

  private async run(job: ClaimedJob): Promise<void> {
    this.running.set(job.id, job);
    const failure = await this.failureOf(job);
    job.settling = true;
    await this.settle(failure ? () => this.markFailed(job, failure) : () => this.done.submit(job));
    job.release();
    this.running.delete(job.id);
    if (this.wanted) this.wake();
  }

  private async failureOf(job: ClaimedJob): Promise<Error | undefined> {
    try {
      await this.handle(job);
      return undefined;
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      this.log.warn(
        { err: failure, job: job.id, queue: this.work.queue, attempt: job.attempt },
        'A job failed.',
      );
      return failure;
    }
  }

  private async handle(job: ClaimedJob): Promise<void> {
    const { queue, handler } = this.work;
    const attributes = { 'job.id': job.id, 'job.queue': queue, 'job.attempt': job.attempt };
    const { data, links } = withoutTrace(job.claim.data);
    await traced(
      () => ({ name: `job ${queue}`, kind: 'consumer', attributes, links }),
      () => handler(data, job),
    );
  }

  /** While the database is away the job stays claimed, so that it is not run again for nothing. */
  private async settle(write: () => Promise<unknown>): Promise<void> {
    while (!this.abandoned) {
      try {
        await write();
        return;
      } catch (error) {
        if (!isDatabaseUnavailable(error)) {
          this.log.error({ err: error }, `Cannot settle a job of ${this.work.queue}.`);
          return;
        }
        await sleep(SETTLE_RETRY_MS);
      }
    }
  }

  /** Only as the attempt that was claimed: what another worker has taken over meanwhile stays as it is. */
  private async markDone(jobs: readonly ClaimedJob[]): Promise<void> {
    const claims = jobs.map(({ claim }) => claim);
    if (this.work.keepWhenDone) await this.boss.complete(this.work.queue, claims);
    else await this.boss.deleteJob(this.work.queue, claims);
  }

  private async markFailed(job: ClaimedJob, { name, message }: Error): Promise<void> {
    // Not the error itself: its other properties may hold anything.
    const output = { name, message: shownStart(message, LONGEST_ERROR) };
    await this.boss.fail(this.work.queue, [job.claim], output);
  }
}
