import type { Job, PgBoss } from 'pg-boss';
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobContext, JobHandler } from '../jobs.js';
import { shownStart } from '../../text.js';
import { isDatabaseUnavailable } from '../../database/sqlstate.js';
import { Batcher } from '../../concurrency/batcher.js';
import { outsideTraces, traced, presentSpan } from '../../tracing/tracing.js';

/** A job that this process has claimed and not settled yet. */
class ClaimedJob implements JobContext {
  readonly id: string;
  readonly attempt: number;
  /** The handler has ended; the result is being written. */
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
}

/**
 * Works on one queue: claims as many jobs as places are free, runs each separately, sends heartbeats and settles. The
 * workers of the library would wait for the slowest job of each batch and poll once per place. Claims, retries, dead
 * jobs and heartbeats are still those of the library.
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

  /** Looks for jobs. */
  wake(): void {
    this.wanted = true;
    this.fetching ??= outsideTraces(() => this.fetch()).finally(() => {
      this.fetching = undefined;
      // A wake-up arrived after the last look.
      if (this.wanted && !this.stopping && this.free > 0) this.wake();
    });
  }

  /** Sends the heartbeat, and aborts jobs that another worker has taken over. */
  async beat(): Promise<void> {
    const held = [...this.running.values()];
    if (held.length === 0) return;
    const answer = await this.boss.touch(
      this.work.queue,
      held.map(({ claim }) => claim),
    );
    const ours = new Set((answer as { settled?: string[] }).settled ?? held.map(({ id }) => id));
    for (const job of held) {
      if (!ours.has(job.id) && !job.settling) job.abort('Another worker has taken over the job.');
    }
  }

  /** Stops taking jobs. */
  pause(): void {
    this.stopping = true;
  }

  /** Waits until all jobs have ended or are abandoned. */
  async drained(): Promise<void> {
    while (!this.abandoned && (this.running.size > 0 || this.fetching)) await sleep(20);
  }

  /** Aborts the running jobs. Other workers take them over when the heartbeat expires. */
  abandon(): void {
    this.abandoned = true;
    for (const job of this.running.values()) {
      job.abort('The service is stopping.');
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
        // `wanted` stays set: the next job that ends looks again.
        if (free <= 0) return;
        this.wanted = false;
        const jobs = await this.boss.fetch<object>(this.work.queue, { batchSize: free });
        this.wanted ||= jobs.length === free;
        for (const job of jobs) void this.run(new ClaimedJob(job));
      }
    } catch (error) {
      // The next poll retries.
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

  /** Retries while the database is unreachable, so that the job is not executed again. */
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

  /** Settles only the claimed attempt: a job that another worker has taken over stays unchanged. */
  private async markDone(jobs: readonly ClaimedJob[]): Promise<void> {
    const claims = jobs.map(({ claim }) => claim);
    await this.boss.deleteJob(this.work.queue, claims);
  }

  private async markFailed(job: ClaimedJob, { name, message }: Error): Promise<void> {
    // Only name and message: other properties may hold any data.
    const output = { name, message: shownStart(message, LONGEST_ERROR) };
    await this.boss.fail(this.work.queue, [job.claim], output);
  }
}

/** Stored beside the data of the job. No queue has a field of this name. */
const KEY = 'traceparent';

/** Adds the current span to the data of a job. */
export function withTrace<Data extends object>(data: Data): Data {
  const span = presentSpan();
  return span ? { ...data, [KEY]: span.traceparent } : data;
}

/** Separates the data from the span. Older jobs may have one although tracing is off now. */
export function withoutTrace(stored: object): { readonly data: object; readonly links: string[] } {
  if (!(KEY in stored)) return { data: stored, links: [] };
  const { [KEY]: link, ...data } = stored;
  return { data, links: typeof link === 'string' ? [link] : [] };
}
