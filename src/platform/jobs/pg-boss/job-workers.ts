import type { Db, PgBoss } from 'pg-boss';
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { BEAT_MS, periodicQueueName } from './boss-options.js';
import { BackgroundLoop } from '../../concurrency/background-loop.js';
import { isDatabaseUnavailable } from '../../database/sqlstate.js';
import { dueQueues } from './queue-queries.js';
import { QueueWorker, type Work } from './queue-worker.js';

const LONGEST_PAUSE_MS = 60_000;

export interface Period {
  readonly name: string;
  readonly seconds: number;
}

/**
 * Enqueues what recurs. Every replica tries twice in each period, and the database takes one job per period: so it
 * does not matter which replicas there are, nor whether their clocks agree.
 */
export class PeriodicJobs {
  private readonly loops: BackgroundLoop[];

  constructor(
    boss: PgBoss,
    periods: readonly Period[],
    onEnqueued: (queue: string) => void,
    onError: (error: unknown) => void,
  ) {
    this.loops = periods.map(({ name, seconds }) => {
      const queue = periodicQueueName(name);
      const enqueue = async (): Promise<void> => {
        const id = await boss.send(queue, {}, { singletonSeconds: seconds });
        if (id !== null) onEnqueued(queue);
      };
      return new BackgroundLoop(Math.min(seconds * 500, LONGEST_PAUSE_MS), enqueue, onError);
    });
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }
}

/** For what other replicas enqueued, what comes due, and retries; a job of this replica starts with its commit. */
const POLL_MS = 1_000;

/** All workers of this replica: what wakes them, what keeps their claims alive, and how they end. */
export class JobWorkers {
  private readonly log = new Logger('Jobs');
  private readonly workers: ReadonlyMap<string, QueueWorker>;
  private readonly poll: BackgroundLoop;
  private readonly heartbeat: BackgroundLoop;
  private readonly periodic: PeriodicJobs;

  constructor(boss: PgBoss, db: Db, works: readonly Work[], periods: readonly Period[]) {
    this.workers = new Map(works.map((work) => [work.queue, new QueueWorker(boss, work)]));
    const queues = [...this.workers.keys()];
    const report = (error: unknown): void => this.report(error);
    this.poll = new BackgroundLoop(
      POLL_MS,
      async () => (await dueQueues(db, queues)).forEach((queue) => this.wake(queue)),
      report,
    );
    this.heartbeat = new BackgroundLoop(BEAT_MS, () => this.beat(), report);
    this.periodic = new PeriodicJobs(boss, periods, (queue) => this.wake(queue), report);
  }

  start(): void {
    this.poll.start();
    this.heartbeat.start();
    this.periodic.start();
  }

  wake(queue: string): void {
    this.workers.get(queue)?.wake();
  }

  /** Takes no more jobs. */
  async pause(): Promise<void> {
    for (const worker of this.workers.values()) worker.pause();
    await Promise.all([this.poll.stop(), this.periodic.stop()]);
  }

  /** Waits for the running jobs, but not longer than so; the rest is left to the other replicas. */
  async stop(graceMs: number): Promise<void> {
    await this.pause();
    const workers = [...this.workers.values()];
    const drained = Promise.all(workers.map((worker) => worker.drained())).then(() => true);
    if (!(await Promise.race([drained, sleep(graceMs, false, { ref: false })]))) {
      this.log.warn(
        'Some jobs did not finish within the grace; other replicas will run them again.',
      );
      for (const worker of workers) worker.abandon();
    }
    await this.heartbeat.stop();
  }

  private async beat(): Promise<void> {
    await Promise.all([...this.workers.values()].map((worker) => worker.beat()));
  }

  private report(error: unknown): void {
    if (isDatabaseUnavailable(error)) {
      this.log.warn(`The job queue waits for the database: ${(error as Error).message}`);
    } else {
      this.log.error({ err: error }, 'The job queue has a fault.');
    }
  }
}
