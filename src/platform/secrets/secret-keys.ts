// SQL: locks a table that may have no row yet; TypeORM locks only rows.
import { timingSafeEqual } from 'node:crypto';
import { Column, Entity, In, PrimaryColumn } from 'typeorm';
import type { Tx } from '../database/transactions.js';
import {
  givenSecretKeys,
  keyFileOf,
  type KeySettings,
  loadSecretKeys,
} from './load-secret-keys.js';
import type { SecretKeys } from './secret-box.js';
import { RetiredKeyError, WrongKeyError } from './secrets.errors.js';

@Entity('secret_keys')
export class SecretKeyEntity {
  @PrimaryColumn({ type: 'text' })
  readonly id: string;

  @Column({ type: 'bytea', nullable: true })
  readonly verifier: Buffer | null;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly known_since: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly retired_at: Date | null;
}

export type KnownKey = Pick<SecretKeyEntity, 'id' | 'verifier' | 'retired_at'>;

/** Returns the keys that the database was used with, oldest first, including retired keys. */
async function listKeys(tx: Tx): Promise<SecretKeyEntity[]> {
  const order = { known_since: 'ASC', id: 'ASC' } as const;
  return await tx.getRepository(SecretKeyEntity).find({ order });
}

export async function neededKeys(tx: Tx): Promise<SecretKeyEntity[]> {
  return (await listKeys(tx)).filter(({ retired_at }) => !retired_at);
}

export async function addKeys(
  tx: Tx,
  keys: readonly Pick<SecretKeyEntity, 'id' | 'verifier'>[],
): Promise<void> {
  const values = keys.map(({ id, verifier }) => ({ id, verifier }));
  if (values.length === 0) return;
  await tx.createQueryBuilder().insert().into(SecretKeyEntity).values(values).orIgnore().execute();
}

/** Marks the keys as retired: no process may start with a retired key in first place. */
export async function retireKeys(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.getRepository(SecretKeyEntity).update({ id: In(ids) }, { retired_at: () => 'now()' });
}

/** Every start and command calls this before it writes: data written with a wrong key could never be verified or decrypted. */
export async function acceptKeys(tx: Tx, settings: KeySettings): Promise<SecretKeys> {
  // Serializes processes that start together: all of them use the first key of a new database.
  await tx.query('lock table secret_keys in exclusive mode');
  const known = await listKeys(tx);
  requireKeysOf(known, settings, givenSecretKeys(settings));
  const keys = loadSecretKeys(settings);
  const first = keys.ids[0]!;
  if (known.some(({ id, retired_at }) => retired_at && id === first)) {
    throw new RetiredKeyError(sourceOf(settings), first);
  }
  // Records only the first key, because only the first key encrypts new data.
  await addKeys(tx, [{ id: first, verifier: keys.verifierOf(first)! }]);
  return keys;
}

export function requireKeysOf(
  known: readonly KnownKey[],
  settings: KeySettings,
  given: SecretKeys | undefined,
): void {
  const missing = known.filter((key) => isMissing(key, given)).map(({ id }) => id);
  if (missing.length > 0) throw new WrongKeyError(sourceOf(settings), missing, given?.ids ?? []);
}

/** The verifier distinguishes two keys with the same short id. */
function isMissing({ id, verifier, retired_at }: KnownKey, given: SecretKeys | undefined): boolean {
  if (retired_at) return false;
  const own = given?.verifierOf(id);
  return own === undefined || !timingSafeEqual(own, verifier!);
}

function sourceOf(settings: KeySettings): string {
  return settings.secretsKey.length > 0 ? 'SECRETS_KEY' : keyFileOf(settings);
}
