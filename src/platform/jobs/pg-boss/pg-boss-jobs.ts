import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { JobInsert, Queue } from 'pg-boss';
import { DataSource } from 'typeorm';
import { newId } from '../../ids.js';
import { Settings } from '../../config/settings.js';
import { connectionOf } from '../../database/data-source.js';
import { afterCommit, type Tx } from '../../database/transactions.js';
import { type JobHandler, type JobQueue, requireBounded } from '../job-queue.js';
import {
  type EnqueueOneOptions,
  type EnqueueOptions,
  Jobs,
  type QueueState,
  type WorkOptions,
} from '../jobs.js';
import { BossDatabase, databaseIn } from './boss-database.js';
import { BossInstance } from './boss-instance.js';
import {
  DEAD_QUEUE_DEFINITION,
  periodicQueueDefinition,
  periodicQueueName,
  queueDefinition,
} from './boss-options.js';
import { withTrace } from './job-trace.js';
import { JobWorkers, type Period } from './job-workers.js';
import { queueStates } from './queue-queries.js';
import type { Work } from './queue-worker.js';

const DEFAULT_CONCURRENCY = 5;
const LARGEST_JOB_BYTES = 1024 * 1024;
/** The rest of the grace is for what comes after the jobs in a shutdown. */
const GRACE_MARGIN_MS = 500;

/** Jobs in PostgreSQL through pg-boss. */
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
  private readonly periods: Period[] = [];
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
    // The update locks the job that waits, so that no worker takes it before this transaction has committed. When one
    // has taken it in between there is nothing to update, and the next insert succeeds.
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
      // What comes out of the queue is what `enqueue` put in.
      handler: handler as JobHandler<object>,
      concurrency,
      keepWhenDone: false,
    });
  }

  every(name: string, seconds: number, handler: JobHandler<object>): void {
    const queue = periodicQueueName(name);
    this.register(periodicQueueDefinition(name, seconds), {
      queue,
      handler,
      concurrency: 1,
      keepWhenDone: true,
    });
    this.periods.push({ name, seconds });
  }

  async waiting(): Promise<QueueState[]> {
    await this.host.ready();
    return queueStates(
      this.db,
      this.works.filter(({ keepWhenDone }) => !keepWhenDone).map(({ queue }) => queue),
    );
  }

  /** In the background: the service answers meanwhile, and a database that is away does not end it. */
  onApplicationBootstrap(): void {
    void this.host.start([...this.queues.values()]).then((boss) => {
      if (this.deadline !== Infinity) return;
      this.workers = new JobWorkers(boss, this.db, this.works, this.periods);
      this.workers.start();
    });
  }

  /** Requests and jobs run out side by side. */
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
      throw new Error(`Somebody works on ${definition.name} already, or it is too late to begin.`);
    }
    this.queues.set(definition.name, definition);
    this.works.push(work);
  }

  private wakeAfter(tx: Tx, queue: JobQueue<object>): void {
    afterCommit(tx, () => this.workers?.wake(queue.name));
  }
}
