import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { SQLSTATE, sqlStateOf } from '../sqlstate.js';
import { BackupError } from './backup-format.js';

/** Less than the second after which PostgreSQL looks for deadlocks and ends somebody's transaction. */
const WAIT_MS = 700;
const PAUSE_MS = 300;
const PATIENCE_MS = 60_000;

/**
 * Holds all tables until the transaction ends: nobody else has begun a change, and nobody reads. A transaction of the
 * service may hold one table and wait for another; so after a short wait all locks are given back, and it can end.
 */
export async function lockTables(client: ClientBase, tables: readonly string[]): Promise<void> {
  const names = tables.map((name) => client.escapeIdentifier(name)).join(', ');
  await client.query(`set local lock_timeout = ${WAIT_MS}`);
  await client.query('savepoint before_locks');
  for (const giveUpAt = performance.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    try {
      await client.query(`lock table ${names} in access exclusive mode`);
      await client.query('set local lock_timeout = default');
      return;
    } catch (error) {
      if (sqlStateOf(error) !== SQLSTATE.lockNotAvailable) throw error;
      await client.query('rollback to savepoint before_locks');
      if (performance.now() > giveUpAt) throw new BackupError(await holdersOf(client, tables));
    }
  }
}

async function holdersOf(client: ClientBase, tables: readonly string[]): Promise<string> {
  const { rows } = await client.query<{ pids: string | null }>(
    `select string_agg(distinct pid::text, ', ') as pids from pg_locks
      where relation = any ($1::regclass[]) and granted and pid <> pg_backend_pid()`,
    [tables.map((name) => client.escapeIdentifier(name))],
  );
  return `Nothing was changed: the tables were in use for a minute, now by the session ${rows[0]?.pids ?? 'of nobody'}. Try again when it has ended.`;
}
