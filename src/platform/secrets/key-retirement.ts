import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Tx } from '../database/transactions.js';

const QUIET_SECONDS = 20;
const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 1_000;

/** Whoever writes with a key says so every five seconds: it must have been quiet for a while before it is given up. */
export async function waitUntilUnused(
  dataSource: DataSource,
  keyIds: readonly string[],
  tell: (line: string) => void,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  for (const begin = Date.now(); ; await sleep(LOOK_EVERY_MS)) {
    const [used] = await dataSource.query<{ id: string }[]>(
      `select id from secret_keys
       where id = any ($1) and last_used_at > now() - interval '${QUIET_SECONDS} seconds'`,
      [keyIds],
    );
    if (!used) return;
    if (begin + patienceMs < Date.now()) {
      throw new Error(
        `A process that runs now writes with the key ${used.id}: start every replica with the new key first, and run this again.`,
      );
    }
    tell(`Waiting until nobody writes with the key ${used.id} any more.`);
  }
}

/** The keys other than the first that the database still needs. */
export async function olderKeys(dataSource: DataSource, firstId: string): Promise<string[]> {
  const rows = await dataSource.query<{ id: string }[]>(
    'select id from secret_keys where retired_at is null and id <> $1 order by known_since, id',
    [firstId],
  );
  return rows.map(({ id }) => id);
}

/** From here on nothing needs them, and no process may begin with them. */
export async function retire(tx: Tx, keyIds: readonly string[]): Promise<void> {
  await tx.query('update secret_keys set retired_at = now() where id = any ($1)', [keyIds]);
}

/** A key that some process writes with. */
export interface KeyInUse {
  readonly id: string;
  readonly verifier: Buffer | null;
}

export async function keysInUse(tx: Tx): Promise<KeyInUse[]> {
  return await tx.query(
    `select id, verifier from secret_keys
      where retired_at is null and last_used_at > now() - interval '${QUIET_SECONDS} seconds'`,
  );
}

/** They stay known when a backup from before their time is restored: what is sealed with them from now on needs them. */
export async function rememberKeysInUse(tx: Tx, keys: readonly KeyInUse[]): Promise<void> {
  for (const { id, verifier } of keys) {
    await tx.query(
      `insert into secret_keys (id, verifier, last_used_at) values ($1, $2, now())
       on conflict on constraint pk_secret_keys do nothing`,
      [id, verifier],
    );
  }
}
