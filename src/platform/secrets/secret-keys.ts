// SQL: locks a table that may have no row yet, and changes columns of tables that other modules list.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  Column,
  type DataSource,
  Entity,
  type EntityManager,
  In,
  IsNull,
  Not,
  PrimaryColumn,
} from 'typeorm';
import { readValue, type Settings } from '../config/settings.js';
import { secretKeys } from '../config/setting-parsers.js';
import type { Tx } from '../database/transactions.js';
import { syncFolder } from '../files.js';
import { type SecretBox, SecretKeys, UnreadableSecretError } from './secret-box.js';

type KeySettings = Pick<Settings, 'secretsKey' | 'databaseUrl' | 'dataDir'>;

interface GivenKeys {
  readonly source: string;
  /** `undefined` if the database is embedded and has no key file yet. */
  readonly keys: SecretKeys | undefined;
}

/** Returns the configured keys. An external database requires SECRETS_KEY, because all replicas need the same keys. */
export function givenSecretKeys({ secretsKey, databaseUrl, dataDir }: KeySettings): GivenKeys {
  if (secretsKey.length > 0) return { source: 'SECRETS_KEY', keys: new SecretKeys(secretsKey) };
  if (databaseUrl !== undefined) {
    throw new Error(
      'DATABASE_URL requires SECRETS_KEY: set it to the output of `openssl rand -base64 32`.',
    );
  }
  const source = join(dataDir, 'secrets.key');
  return { source, keys: readKeyFile(source) };
}

/** Creates a key file for a new embedded database. acceptKeys lets one process at a time do so. */
export function loadSecretKeys(settings: KeySettings): SecretKeys {
  const { source, keys } = givenSecretKeys(settings);
  if (keys) return keys;
  mkdirSync(dirname(source), { recursive: true });
  const key = randomBytes(32).toString('base64');
  writeFileSync(`${source}.new`, `${key}\n`, { mode: 0o600, flush: true });
  renameSync(`${source}.new`, source);
  syncFolder(dirname(source));
  return new SecretKeys(secretKeys.read(key));
}

/** Reads the key file, which has the format of SECRETS_KEY. To rotate keys, add a new key at its beginning. */
function readKeyFile(path: string): SecretKeys | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if ((stats.mode & 0o077) !== 0) {
    throw new Error(
      `${path} is readable by other users. Run chmod 600 on it, and replace its keys.`,
    );
  }
  const text = readFileSync(path, 'utf8').trim().replace(/\s+/g, ',');
  if (text === '') throw new Error(`${path} is empty. Restore the key from a backup.`);
  return new SecretKeys(readValue(path, text, secretKeys));
}

@Entity('secret_keys')
export class SecretKeyEntity {
  @PrimaryColumn({ type: 'text' })
  readonly id: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly known_since: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly retired_at: Date | null;
}

/** Returns the keys that the database needs, oldest first. */
export async function neededKeys(manager: EntityManager): Promise<string[]> {
  const order = { known_since: 'ASC', id: 'ASC' } as const;
  const keys = await manager.find(SecretKeyEntity, { where: { retired_at: IsNull() }, order });
  return keys.map(({ id }) => id);
}

export async function addKeys(tx: Tx, ids: readonly string[]): Promise<void> {
  const values = ids.map((id) => ({ id }));
  if (values.length === 0) return;
  await tx.createQueryBuilder().insert().into(SecretKeyEntity).values(values).orIgnore().execute();
}

/** Marks keys as retired. No process may start with a retired key as its first key. */
export async function retireKeys(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.getRepository(SecretKeyEntity).update({ id: In(ids) }, { retired_at: () => 'now()' });
}

/** Must be called before any write: data written with a wrong key could never be verified or decrypted. */
export async function acceptKeys(tx: Tx, settings: KeySettings): Promise<SecretKeys> {
  // Lets processes that start together wait for each other, so that all of them use the first key of a new database.
  await tx.query('lock table secret_keys in exclusive mode');
  const given = givenSecretKeys(settings);
  requireKeys(await neededKeys(tx), given);
  const keys = given.keys ?? loadSecretKeys(settings);
  const first = keys.ids[0]!;
  // A retired key must not encrypt new data, because the database would then need it again.
  if (await tx.existsBy(SecretKeyEntity, { id: first, retired_at: Not(IsNull()) })) {
    throw new Error(
      `${given.source} begins with the retired key ${first}. Put the newer key first.`,
    );
  }
  // Records only the first key, because only the first key encrypts new data.
  await addKeys(tx, [first]);
  return keys;
}

/** @param backup the file that needs the keys; if undefined, the database needs the keys */
export function requireKeys(
  needed: readonly string[],
  { source, keys }: GivenKeys,
  backup?: string,
): void {
  const missing = needed.filter((id) => !keys?.ids.includes(id));
  if (missing.length === 0) return;
  const ids = missing.join(' and ');
  const needs = backup ? `The backup ${backup} needs` : 'This database was used with';
  const instead = keys ? `contains ${keys.ids.join(' and ')}` : 'does not exist';
  // A restored backup may need older keys, but the current key of the database must stay first.
  const remedy =
    backup && keys
      ? `Add ${ids} from your key store, behind the current key`
      : `Restore ${ids} from your key store`;
  throw new Error(
    `${needs} the key${missing.length > 1 ? 's' : ''} ${ids}, but ${source} ${instead}. ${remedy}. If it is lost, see "A lost key" in docs/operations.md.`,
  );
}

export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly id: readonly string[];
  readonly where: string;
  readonly context: (id: Readonly<Record<string, string>>) => string;
}

type Row = Readonly<Record<string, string>> & { readonly sealed: string };

/** Encrypts all values with the first key and returns their number. Skips a value that changes at the same time. */
export async function resealAll(
  dataSource: DataSource,
  columns: readonly SealedColumn[],
  box: SecretBox,
  firstKeyId: string,
): Promise<number> {
  let count = 0;
  for (const sealedColumn of columns) {
    const { table, column, id, where } = sealedColumn;
    const rows = await dataSource.query<Row[]>(
      `select ${id.join()}, ${column} as sealed from ${table}
        where ${where} and split_part(${column}, '.', 2) <> $1`,
      [firstKeyId],
    );
    const same = id.map((name, index) => `${name} = $${index + 3}`).join(' and ');
    for (const row of rows) {
      await dataSource.query(
        `update ${table} set ${column} = $1 where ${column} = $2 and ${same}`,
        [reseal(box, sealedColumn, row), row.sealed, ...id.map((name) => row[name])],
      );
    }
    count += rows.length;
  }
  return count;
}

function reseal(box: SecretBox, { table, id, context }: SealedColumn, row: Row): string {
  try {
    return box.seal(box.open(row.sealed, context(row)), context(row));
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    throw new Error(
      `The secret of ${id.map((name) => row[name]).join(' ')} in ${table} was altered and cannot be decrypted. Set it again, then repeat this command.`,
      { cause: error },
    );
  }
}
