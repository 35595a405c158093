import type { DataSource, QueryRunner } from 'typeorm';
import { eventually } from '../jobs/eventually.js';

/**
 * Changes rows in a transaction that stays open, lets `waiting` run into its locks, and commits only then: what was asked
 * before the change has to be judged after it. What `meanwhile` does belongs to the change, while it is waited for.
 */
export async function whileHeld<T>(
  database: DataSource,
  change: string,
  values: readonly unknown[],
  waiting: () => Promise<T>,
  meanwhile: (change: QueryRunner) => Promise<unknown> = async () => undefined,
): Promise<T> {
  const runner = database.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query(change, [...values]);
    const asked = waiting();
    await eventually(async () => (await blockedStatements(database)) > 0);
    await meanwhile(runner);
    await runner.commitTransaction();
    return await asked;
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}

async function blockedStatements(database: DataSource): Promise<number> {
  const [row] = await database.query<{ n: number }[]>(`
    select count(*)::integer as n from pg_stat_activity
     where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`);
  return row!.n;
}

/** As if the action had been requested that long ago: a change that the database refuses as long as its trigger is on. */
export async function requestedEarlier(
  run: Pick<QueryRunner, 'query'>,
  id: string,
  interval: string,
): Promise<void> {
  await run.query(`alter table actions disable trigger actions_stay_as_requested`);
  await run.query(
    `update actions set requested_at = clock_timestamp() - $2::interval where id = $1`,
    [id.replace('act-', ''), interval],
  );
  await run.query(`alter table actions enable trigger actions_stay_as_requested`);
}
