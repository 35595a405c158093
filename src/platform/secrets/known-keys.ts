import { timingSafeEqual } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { type Tx, Transactions } from '../database/transactions.js';
import {
  givenSecretKeys,
  keyFileOf,
  type KeySettings,
  loadSecretKeys,
} from './load-secret-keys.js';
import type { SecretKeys } from './secret-keys.js';
import { RetiredKeyError, WrongKeyError } from './secrets.errors.js';

export interface KnownKey {
  readonly id: string;
  readonly verifier: Buffer | null;
  readonly retired: boolean;
}

/** The keys, with whether they were given up. */
export const KNOWN =
  'select id, verifier, retired_at is not null as retired from secret_keys order by known_since, id';

/**
 * The keys of this process, held against those that the database was used with. Every start and every command comes
 * through here before it writes anything: a stray key would seal what nobody could ever verify.
 */
export async function requireKnownKeys(
  settings: KeySettings,
  dataSource: DataSource,
): Promise<SecretKeys> {
  return await new Transactions(dataSource).run((tx) => acceptKeys(tx, settings));
}

/** `lost`: a key that is about to be given up. */
export async function acceptKeys(
  tx: Tx,
  settings: KeySettings,
  lost?: string,
): Promise<SecretKeys> {
  // Replicas that start together take turns: the first key of a new database is the key of all.
  await tx.query('lock table secret_keys in exclusive mode');
  const all: KnownKey[] = await tx.query(KNOWN);
  const known = all.filter(({ id }) => id !== lost);
  const given = givenSecretKeys(settings);
  refuseMissingKeys(settings, known, given);
  const keys = given ?? loadSecretKeys(settings);
  const [first] = keys.ids;
  if (known.some(({ id, retired }) => retired && id === first)) {
    throw new RetiredKeyError(sourceOf(settings), first!);
  }
  await rememberKeys(tx, keys, known);
  return keys;
}

/** Throws when the database needs a key that is not given. */
export function refuseMissingKeys(
  settings: KeySettings,
  known: readonly KnownKey[],
  given: SecretKeys | undefined,
): void {
  const missing = missingFrom(known, given);
  if (missing.length > 0) throw new WrongKeyError(sourceOf(settings), missing, given?.ids ?? []);
}

function sourceOf(settings: KeySettings): string {
  return settings.secretsKey.length > 0 ? 'SECRETS_KEY' : keyFileOf(settings);
}

/** The ids of the keys that the database needs and that are not given. */
function missingFrom(
  known: readonly KnownKey[],
  given: Pick<SecretKeys, 'verifierOf'> | undefined,
): string[] {
  return known
    .filter(({ id, verifier, retired }) => {
      const own = given?.verifierOf(id);
      return !retired && (own === undefined || (verifier && !timingSafeEqual(own, verifier)));
    })
    .map(({ id }) => id);
}

/** A key counts as known from the first start that writes with it, and not while it only waits behind the first one. */
async function rememberKeys(tx: Tx, keys: SecretKeys, known: readonly KnownKey[]): Promise<void> {
  const [first] = keys.ids;
  await tx.query(
    `insert into secret_keys (id, verifier, last_used_at) values ($1, $2, now())
     on conflict on constraint pk_secret_keys do update set last_used_at = excluded.last_used_at`,
    [first, keys.verifierOf(first!)],
  );
  for (const { id, verifier, retired } of known) {
    if (verifier || retired) continue;
    await tx.query('update secret_keys set verifier = $2 where id = $1', [id, keys.verifierOf(id)]);
  }
}
