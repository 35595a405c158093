import type { Db, PgBoss } from 'pg-boss';
import { Logger } from '@nestjs/common';
import { BEAT_MS, periodicQueueName } from './boss-options.js';
import { BackgroundLoop } from '../../concurrency/background-loop.js';
import { within } from '../../concurrency/within.js';
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
class PeriodicJobs {
  private readonly loops: BackgroundLoop[];

  constructor(
    boss: PgBoss,
    periods: readonly Period[],
    onEnqueued: (queue: string) => void,
    log: Logger,
  ) {
    this.loops = periods.map(({ name, seconds }) => {
      const queue = periodicQueueName(name);
      const enqueue = async (): Promise<void> => {
        const id = await boss.send(queue, {}, { singletonSeconds: seconds });
        if (id !== null) onEnqueued(queue);
      };
      const pauseMs = Math.min(seconds * 500, LONGEST_PAUSE_MS);
      return new BackgroundLoop({ task: `Enqueueing ${queue}`, log, pauseMs }, enqueue);
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
    const { log } = this;
    const look = { task: 'Looking for jobs that are due', log, pauseMs: POLL_MS };
    this.poll = new BackgroundLoop(look, async () =>
      (await dueQueues(db, queues)).forEach((queue) => this.wake(queue)),
    );
    const beat = { task: 'Keeping the claims of running jobs', log, pauseMs: BEAT_MS };
    this.heartbeat = new BackgroundLoop(beat, () => this.beat());
    this.periodic = new PeriodicJobs(boss, periods, (queue) => this.wake(queue), log);
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
    const drained = Promise.all(workers.map((worker) => worker.drained()));
    if ((await within(graceMs, drained, () => 'late')) === 'late') {
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
}
