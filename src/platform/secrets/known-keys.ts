import { timingSafeEqual } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { type Tx, Transactions } from '../database/transactions.js';
import {
  givenSecretKeys,
  keyFileOf,
  type KeySettings,
  loadSecretKeys,
} from './load-secret-keys.js';
import { SecretKeys } from './secret-box.js';
import { type SecretKeyEntity, SecretKeysRepository } from './secret-keys.repository.js';
import { RetiredKeyError, WrongKeyError } from './secrets.errors.js';

/** A key that the database was used with. */
export type KnownKey = Pick<SecretKeyEntity, 'id' | 'verifier' | 'retired_at'>;

/**
 * Loads the keys of this process and compares them with the keys of the database. Every start and command calls this
 * before it writes, because data written with a wrong key could never be verified or decrypted.
 */
export async function requireKnownKeys(
  settings: KeySettings,
  dataSource: DataSource,
): Promise<SecretKeys> {
  return await new Transactions(dataSource).run((tx) => acceptKeys(tx, settings));
}

export async function acceptKeys(tx: Tx, settings: KeySettings): Promise<SecretKeys> {
  const repository = new SecretKeysRepository(tx.dataSource);
  await repository.lockTable(tx);
  const known = await repository.list(tx);
  const given = givenSecretKeys(settings);
  requireKeysOf(known, settings, given);
  const keys = given ?? loadSecretKeys(settings);
  const first = keys.ids[0]!;
  if (known.some(({ id, retired_at }) => retired_at && id === first)) {
    throw new RetiredKeyError(sourceOf(settings), first);
  }
  // Only the first key is recorded, because only that key is written with.
  await repository.insertIfNew(tx, [{ id: first, verifier: keys.verifierOf(first)! }]);
  return keys;
}

/** Throws if the database needs a key that was not given. */
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
