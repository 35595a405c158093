import type { DataSource, QueryRunner } from 'typeorm';
import { eventually } from '../jobs/eventually.js';

/**
 * Changes rows in an open transaction, lets `waiting` wait for its locks, and then commits. Requests that arrived
 * before the commit must be judged by the changed rows. `meanwhile` runs in the transaction.
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

/**
 * Moves the time at which an action was requested into the past. Meanwhile, disables the trigger that protects this
 * column.
 */
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
