// SQL: the tables belong to pg-boss and have no entities.
import type { Db, PgBoss } from 'pg-boss';
import { Logger } from '@nestjs/common';
import { BEAT_MS, BOSS_SCHEMA, DEAD_QUEUE } from './boss-options.js';
import { BackgroundLoop } from '../../concurrency/background-loop.js';
import { within } from '../../concurrency/within.js';
import { QueueWorker, type Work } from './queue-worker.js';
import type { QueueState } from '../jobs.js';

/** Poll interval for jobs of other replicas, deferred jobs and retries. A job of this replica starts at its commit. */
const POLL_MS = 1_000;

/** All workers of this replica: wakes them, renews their claims and stops them. */
export class JobWorkers {
  private readonly log = new Logger('Jobs');
  private readonly workers: ReadonlyMap<string, QueueWorker>;
  private readonly poll: BackgroundLoop;
  private readonly heartbeat: BackgroundLoop;

  constructor(boss: PgBoss, db: Db, works: readonly Work[]) {
    this.workers = new Map(works.map((work) => [work.queue, new QueueWorker(boss, work)]));
    const queues = [...this.workers.keys()];
    const { log } = this;
    const look = { task: 'Looking for jobs that are due', log, pauseMs: POLL_MS };
    this.poll = new BackgroundLoop(look, async () =>
      (await dueQueues(db, queues)).forEach((queue) => this.wake(queue)),
    );
    const beat = { task: 'Keeping the claims of running jobs', log, pauseMs: BEAT_MS };
    this.heartbeat = new BackgroundLoop(beat, () => this.beat());
  }

  start(): void {
    this.poll.start();
    this.heartbeat.start();
  }

  wake(queue: string): void {
    this.workers.get(queue)?.wake();
  }

  /** Stops taking jobs. */
  async pause(): Promise<void> {
    for (const worker of this.workers.values()) worker.pause();
    await this.poll.stop();
  }

  /** Waits up to `graceMs` for the running jobs. Other replicas retry the rest. */
  async stop(graceMs: number): Promise<void> {
    await this.pause();
    const workers = [...this.workers.values()];
    const drained = Promise.all(workers.map((worker) => worker.drained()));
    if ((await within(graceMs, drained, () => 'late')) === 'late') {
      this.log.warn(
        'Some jobs did not finish within the grace period. Other replicas will retry them.',
      );
      for (const worker of workers) worker.abandon();
    }
    await this.heartbeat.stop();
  }

  private async beat(): Promise<void> {
    await Promise.all([...this.workers.values()].map((worker) => worker.beat()));
  }
}

/** One query for all queues instead of one fetch per queue. Usually no job is due, which an index shows. */
const DUE = `
  select wanted.name
    from unnest($1::text[]) as wanted(name)
   where exists (
     select from ${BOSS_SCHEMA}.job
      where job.name = wanted.name and job.state < 'active' and not job.blocked
        and job.start_after <= now())`;

async function dueQueues(db: Db, queues: readonly string[]): Promise<string[]> {
  const { rows }: { rows: { name: string }[] } = await db.executeSql(DUE, [queues]);
  return rows.map(({ name }) => name);
}

/** Done jobs are deleted, so the table is as small as the backlog. */
const STATES = `
  select queue, sum(waiting)::int as waiting, sum(active)::int as active, sum(dead)::int as dead
    from (
      select case when name = '${DEAD_QUEUE}' then source_name else name end as queue,
             case when name <> '${DEAD_QUEUE}' and state in ('created', 'retry') then 1 else 0 end as waiting,
             case when name <> '${DEAD_QUEUE}' and state = 'active' then 1 else 0 end as active,
             case when name = '${DEAD_QUEUE}' and state = 'created' then 1 else 0 end as dead
        from ${BOSS_SCHEMA}.job
       union all
      select name, 0, 0, 0 from unnest($1::text[]) as worked(name)) as jobs
   where queue is not null
   group by queue
   order by queue`;

export async function queueStates(db: Db, queues: readonly string[]): Promise<QueueState[]> {
  const { rows }: { rows: QueueState[] } = await db.executeSql(STATES, [queues]);
  return rows;
}
