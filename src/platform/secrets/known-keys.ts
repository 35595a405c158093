import { timingSafeEqual } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { type Tx, Transactions } from '../database/transactions.js';
import {
  givenSecretKeys,
  keyFileOf,
  type KeySettings,
  loadSecretKeys,
} from './load-secret-keys.js';
import type { SecretKeyEntity } from './secret-key.entity.js';
import type { SecretKeys } from './secret-keys.js';
import { SecretKeysRepository } from './secret-keys.repository.js';
import { RetiredKeyError, WrongKeyError } from './secrets.errors.js';

/** A key that the database was used with. */
export type KnownKey = Pick<SecretKeyEntity, 'id' | 'verifier' | 'retired_at'>;

/**
 * Loads the keys of this process and compares them with those that the database was used with. Every start and every
 * command comes through here before it writes anything, because nobody could verify or decrypt later what a wrong key
 * had written.
 */
export async function requireKnownKeys(
  settings: KeySettings,
  dataSource: DataSource,
): Promise<SecretKeys> {
  return await new Transactions(dataSource).run((tx) => acceptKeys(tx, settings));
}

/** @param lostId a key that is about to be given up, and is therefore not required */
export async function acceptKeys(
  tx: Tx,
  settings: KeySettings,
  lostId?: string,
): Promise<SecretKeys> {
  const repository = new SecretKeysRepository(tx.dataSource);
  await repository.lockTable(tx);
  const known = (await repository.list(tx)).filter(({ id }) => id !== lostId);
  const given = givenSecretKeys(settings);
  requireKeysOf(known, settings, given);
  const keys = given ?? loadSecretKeys(settings);
  const first = keys.ids[0]!;
  if (known.some(({ id, retired_at }) => retired_at && id === first)) {
    throw new RetiredKeyError(sourceOf(settings), first);
  }
  // A key is stored once a process writes with it, and not while it only stands behind the first one.
  await repository.recordInUse(tx, { id: first, verifier: keys.verifierOf(first)! });
  // Rows of releases that stored no verifier.
  for (const { id, verifier, retired_at } of known) {
    if (!verifier && !retired_at) await repository.setVerifier(tx, id, keys.verifierOf(id)!);
  }
  return keys;
}

/** Throws when the database needs a key that was not given. */
export function requireKeysOf(
  known: readonly KnownKey[],
  settings: KeySettings,
  given: SecretKeys | undefined,
): void {
  const missing = known.filter((key) => isMissing(key, given)).map(({ id }) => id);
  if (missing.length > 0) throw new WrongKeyError(sourceOf(settings), missing, given?.ids ?? []);
}

/** The verifier tells apart two keys that have the same short id. */
function isMissing({ id, verifier, retired_at }: KnownKey, given: SecretKeys | undefined): boolean {
  if (retired_at) return false;
  const own = given?.verifierOf(id);
  return own === undefined || (verifier !== null && !timingSafeEqual(own, verifier));
}

function sourceOf(settings: KeySettings): string {
  return settings.secretsKey.length > 0 ? 'SECRETS_KEY' : keyFileOf(settings);
}
