import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { PgBoss, type Queue, type QueueResult, type UpdateQueueOptions } from 'pg-boss';
import type { PoolConfig } from 'pg';
import { reportFailure } from '../../concurrency/background-loop.js';
import { within } from '../../concurrency/within.js';
import { UnavailableError } from '../../errors/app-error.js';
import { isConnectionLost, isDatabaseUnavailable } from '../../database/sqlstate.js';
import { BossDatabase } from './boss-database.js';
import { BOSS_OPTIONS } from './boss-options.js';

const START_RETRY_MS = 1_000;
/** A request that enqueues may come before the start is through: it waits no longer than this. */
const PATIENCE_MS = 5_000;

/** The library's one instance in this process: started in the background, tried again while the database is away. */
export class BossInstance {
  private readonly log = new Logger('Jobs');
  private readonly known = new Set<string>();
  private readonly giveUp = new AbortController();
  private boss: PgBoss | undefined;
  private readonly firstStart = Promise.withResolvers<PgBoss>();
  private starting: Promise<void> = Promise.resolve();

  constructor(private readonly db: BossDatabase) {}

  get started(): boolean {
    return this.boss !== undefined;
  }

  /** Ends when the queues are there, however long the database takes. */
  start(queues: readonly Queue[]): Promise<PgBoss> {
    this.starting = this.untilStarted(queues);
    return this.firstStart.promise;
  }

  async ready(): Promise<PgBoss> {
    if (this.boss) return this.boss;
    return await within(PATIENCE_MS, this.firstStart.promise, () => {
      throw new UnavailableError('The job queue has not started yet.');
    });
  }

  /** For a queue that only other replicas work on. */
  async ensure(queue: Queue): Promise<void> {
    if (this.known.has(queue.name)) return;
    await ensureQueues(await this.ready(), [queue]);
    this.known.add(queue.name);
  }

  async stop(): Promise<void> {
    this.giveUp.abort();
    await this.starting;
    await this.boss?.stop({ graceful: false });
    await this.db.close();
  }

  private async untilStarted(queues: readonly Queue[]): Promise<void> {
    while (!this.giveUp.signal.aborted) {
      const boss = this.create();
      try {
        await boss.start();
        await ensureQueues(boss, queues);
        for (const { name } of queues) this.known.add(name);
        this.boss = boss;
        this.firstStart.resolve(boss);
        return;
      } catch (error) {
        // What keeps the database away says so itself, and perhaps in a moment: the queue has connections of its own.
        if (isConnectionLost(error)) this.log.debug({ err: error }, 'The job queue is not started');
        else reportFailure(this.log, 'Starting the job queue', error);
        await boss.stop({ graceful: false }).catch(() => undefined);
        await sleep(START_RETRY_MS, undefined, { signal: this.giveUp.signal }).catch(
          () => undefined,
        );
      }
    }
  }

  private create(): PgBoss {
    const boss = new PgBoss({ ...BOSS_OPTIONS, db: this.db });
    boss.on('error', (error) => {
      // What keeps the database away says so itself; the library goes on by itself when it is back.
      if (!isDatabaseUnavailable(error))
        this.log.error({ err: error }, 'The job queue reports an error.');
    });
    boss.on('warning', ({ message, data }) => this.log.warn({ data }, message));
    return boss;
  }
}

/** Creates the queues that are missing and corrects what changed: nothing but one query on a warm start. */
async function ensureQueues(boss: PgBoss, wanted: readonly Queue[]): Promise<void> {
  const present = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  for (const queue of wanted) {
    const existing = present.get(queue.name);
    if (!existing) await boss.createQueue(queue.name, queue);
    else if (differs(existing, queue)) await boss.updateQueue(queue.name, changeable(queue));
  }
}

function differs(existing: QueueResult, wanted: Queue): boolean {
  return Object.entries(wanted).some(
    ([option, value]) => existing[option as keyof QueueResult] !== value,
  );
}

/** A queue keeps its policy for life. */
function changeable(queue: Queue): UpdateQueueOptions {
  return Object.fromEntries(
    Object.entries(queue).filter(([option]) => option !== 'name' && option !== 'policy'),
  );
}

/** Makes the schema of the job queue or brings it up to date, for a service that may not do so itself. */
export async function installBoss(connection: PoolConfig): Promise<void> {
  const db = new BossDatabase(connection);
  const boss = new PgBoss({ ...BOSS_OPTIONS, db, supervise: false });
  const failure = new Promise<never>((_, reject) => boss.once('error', reject));
  try {
    await Promise.race([boss.start(), failure]);
  } finally {
    failure.catch(() => undefined);
    await boss.stop({ graceful: false });
    await db.close();
  }
}
