// SQL: pg-boss writes its statements itself.
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { PgBoss, type Queue, type QueueResult, type UpdateQueueOptions, type Db } from 'pg-boss';
import type { PoolConfig, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { reportFailure } from '../../concurrency/background-loop.js';
import { within } from '../../concurrency/within.js';
import { UnavailableError } from '../../errors/app-error.js';
import { isConnectionLost, isDatabaseUnavailable } from '../../database/sqlstate.js';
import { BOSS_OPTIONS } from './boss-options.js';
import { createHash } from 'node:crypto';
import { ServicePool } from '../../database/data-source.js';
import type { Tx } from '../../database/transactions.js';

/** Fetching, settling and supervising are short. Requests have their own pool. */
const POOL_SIZE = 3;

/** Connections of the job library, separate from the shared pool. */
export class BossDatabase implements Db {
  private readonly pool: ServicePool;

  constructor(connection: PoolConfig) {
    this.pool = new ServicePool({
      ...connection,
      application_name: `${connection.application_name ?? 'jobs'}-jobs`,
      max: POOL_SIZE,
    });
    // A broken idle connection must not end the process: the next query opens another one.
    this.pool.on('error', () => undefined);
  }

  /** The pool closes a connection whose query failed: some texts are whole transactions, which may still be open. */
  executeSql(text: string, values?: unknown[]): Promise<QueryResult<QueryResultRow>> {
    return this.pool.query(text, values);
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

const MOST_NAMED_STATEMENTS = 500;
const statementNames = new Map<string, string>();

/** Lets the library write in the transaction of the caller. Its texts recur, so each is a named statement. */
export function databaseIn(tx: Tx): Db {
  return {
    executeSql: async (text: string, values?: unknown[]) => {
      if (!tx.queryRunner) throw new Error('A transaction has a query runner.');
      const connection = (await tx.queryRunner.connect()) as PoolClient;
      const name = statementName(text);
      return name ? connection.query({ name, text, values }) : connection.query(text, values);
    },
  };
}

function statementName(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known || statementNames.size >= MOST_NAMED_STATEMENTS) return known;
  const name = `jobs-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  statementNames.set(text, name);
  return name;
}

const START_RETRY_MS = 1_000;
/** Maximum wait of a request that enqueues before the job library has started. */
const PATIENCE_MS = 5_000;

/**
 * The single pg-boss instance of this process. It starts in the background and retries while the database is
 * unreachable.
 */
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

  /** Resolves when the queues exist, however long the database takes. */
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

  /** Creates a queue that only other replicas work on. */
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
        // The outage log reports a lost connection, perhaps a moment later: the queue has separate connections.
        if (isConnectionLost(error))
          this.log.debug({ err: error }, 'The job queue has not started.');
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
      // The outage log reports an unreachable database; the library recovers by itself.
      if (!isDatabaseUnavailable(error))
        this.log.error({ err: error }, 'The job queue reported an error.');
    });
    boss.on('warning', ({ message, data }) => this.log.warn({ data }, message));
    return boss;
  }
}

/** Creates missing queues and updates changed ones. A warm start needs only one query. */
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

/** The policy of a queue cannot change. */
function changeable(queue: Queue): UpdateQueueOptions {
  return Object.fromEntries(
    Object.entries(queue).filter(([option]) => option !== 'name' && option !== 'policy'),
  );
}

/** Creates or migrates the schema of the job library, for a service whose role may not. */
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
