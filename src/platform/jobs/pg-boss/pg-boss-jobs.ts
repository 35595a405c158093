// SQL: the tables of dead jobs belong to pg-boss and have no entities.
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { type JobInsert, type Queue, type Db, PgBoss } from 'pg-boss';
import { DataSource } from 'typeorm';
import { newId, isUuid } from '../../ids.js';
import { Settings } from '../../config/settings.js';
import { connectionOf, poolOf } from '../../database/data-source.js';
import { afterCommit, type Tx } from '../../database/transactions.js';
import {
  type JobHandler,
  type JobQueue,
  requireBounded,
  type EnqueueOneOptions,
  type EnqueueOptions,
  Jobs,
  type QueueState,
  type WorkOptions,
  DeadJobs,
  type DeadJobsQuery,
  type DeadJob,
} from '../jobs.js';
import { BossDatabase, databaseIn, BossInstance } from './boss-instance.js';
import {
  DEAD_QUEUE_DEFINITION,
  queueDefinition,
  BOSS_OPTIONS,
  BOSS_SCHEMA,
  DEAD_QUEUE,
} from './boss-options.js';
import { withTrace, type Work } from './queue-worker.js';
import { JobWorkers, queueStates } from './job-workers.js';
import type { Page } from '../../paging/page.js';

const DEFAULT_CONCURRENCY = 5;
const LARGEST_JOB_BYTES = 1024 * 1024;
/** Part of the grace period reserved for the steps after the jobs. */
const GRACE_MARGIN_MS = 500;

@Injectable()
export class PgBossJobs
  extends Jobs
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly db: BossDatabase;
  private readonly host: BossInstance;
  private readonly queues = new Map<string, Queue>([
    [DEAD_QUEUE_DEFINITION.name, DEAD_QUEUE_DEFINITION],
  ]);
  private readonly works: Work[] = [];
  private workers: JobWorkers | undefined;
  private deadline = Infinity;

  constructor(
    dataSource: DataSource,
    private readonly settings: Settings,
  ) {
    super();
    this.db = new BossDatabase(connectionOf(dataSource));
    this.host = new BossInstance(this.db);
  }

  get started(): boolean {
    return this.host.started;
  }

  async enqueue<Data extends object>(
    tx: Tx,
    queue: JobQueue<Data>,
    data: NoInfer<Data>,
    { singletonKey, runAt }: EnqueueOneOptions = {},
  ): Promise<void> {
    if (singletonKey === undefined) return this.enqueueMany(tx, queue, [data], { runAt });
    requireBounded(`A job of ${queue.name}`, data, LARGEST_JOB_BYTES);
    await this.host.ensure(queueDefinition(queue));
    const boss = await this.host.ready();
    const options = { singletonKey, startAfter: runAt ?? '0', db: databaseIn(tx) };
    // The update locks the waiting job, so no worker takes it before this transaction commits. If a worker has just
    // taken it, there is nothing to update and the next insert succeeds.
    const stored = withTrace(data);
    while ((await boss.send(queue.name, stored, options)) === null) {
      if ((await boss.update(queue.name, stored, options)).updated > 0) break;
    }
    this.wakeAfter(tx, queue);
  }

  async enqueueMany<Data extends object>(
    tx: Tx,
    queue: JobQueue<Data>,
    data: readonly NoInfer<Data>[],
    { runAt }: EnqueueOptions = {},
  ): Promise<void> {
    if (data.length === 0) return;
    const jobs = data.map((one): JobInsert => {
      requireBounded(`A job of ${queue.name}`, one, LARGEST_JOB_BYTES);
      const id = newId();
      return { id, singletonKey: id, data: withTrace(one), startAfter: runAt?.toISOString() };
    });
    await this.host.ensure(queueDefinition(queue));
    await (await this.host.ready()).insert(queue.name, jobs, { db: databaseIn(tx) });
    this.wakeAfter(tx, queue);
  }

  work<Data extends object>(
    queue: JobQueue<Data>,
    handler: JobHandler<Data>,
    { concurrency = DEFAULT_CONCURRENCY }: WorkOptions = {},
  ): void {
    this.register(queueDefinition(queue), {
      queue: queue.name,
      // The queue returns the data that `enqueue` stored.
      handler: handler as JobHandler<object>,
      concurrency,
    });
  }

  async waiting(): Promise<QueueState[]> {
    await this.host.ready();
    return queueStates(
      this.db,
      this.works.map(({ queue }) => queue),
    );
  }

  /** Runs in the background, so that an unreachable database does not stop the start. */
  onApplicationBootstrap(): void {
    void this.host.start([...this.queues.values()]).then((boss) => {
      if (this.deadline !== Infinity) return;
      this.workers = new JobWorkers(boss, this.db, this.works);
      this.workers.start();
    });
  }

  /** Requests and jobs finish concurrently. */
  async beforeApplicationShutdown(): Promise<void> {
    this.deadline = Date.now() + this.settings.shutdownGraceMs - GRACE_MARGIN_MS;
    await this.workers?.pause();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.workers?.stop(Math.max(0, this.deadline - Date.now()));
    await this.host.stop();
  }

  private register(definition: Queue, work: Work): void {
    if (this.workers || this.queues.has(definition.name)) {
      throw new Error(
        `The queue ${definition.name} already has a handler, or the workers have already started.`,
      );
    }
    this.queues.set(definition.name, definition);
    this.works.push(work);
  }

  private wakeAfter(tx: Tx, queue: JobQueue<object>): void {
    afterCommit(tx, () => this.workers?.wake(queue.name));
  }
}

const DEAD = `
    from ${BOSS_SCHEMA}.job
   where name = '${DEAD_QUEUE}' and state = 'created' and ($1::text is null or source_name = $1)`;

const COUNT = `select count(*)::int as total ${DEAD}`;

const list = (direction: 'asc' | 'desc'): string => `
  select id, source_name as queue, source_retry_count + 1 as attempts,
         coalesce(source_output ->> 'message', source_output -> 'value' ->> 'message', 'unknown') as error,
         data, source_created_on as enqueued_at, created_on as created_at
  ${DEAD}
   order by created_on ${direction}, id ${direction}
   limit $2 offset $3`;

@Injectable()
export class PgBossDeadJobs extends DeadJobs {
  private readonly db: Db;

  constructor(dataSource: DataSource) {
    super();
    this.db = { executeSql: (text, values) => poolOf(dataSource).query(text, values) };
  }

  async list({ queue, page, per_page, sort }: DeadJobsQuery): Promise<Page<DeadJob>> {
    const name = queue ?? null;
    const counted: { rows: { total: number }[] } = await this.db.executeSql(COUNT, [name]);
    const statement = list(sort === 'created_at' ? 'asc' : 'desc');
    const place = [per_page, (page - 1) * per_page];
    const found: { rows: DeadJob[] } = await this.db.executeSql(statement, [name, ...place]);
    return { items: found.rows, total: counted.rows[0]?.total ?? 0 };
  }

  async requeue(tx: Tx, id: string): Promise<boolean> {
    if (!isUuid(id)) return false;
    // Not started, because it only writes.
    const boss = new PgBoss({ ...BOSS_OPTIONS, db: databaseIn(tx) });
    return (await boss.redrive(DEAD_QUEUE, { ids: [id] })) === 1;
  }
}
