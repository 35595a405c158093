// SQL: contains statements that run for each request or writing transaction, and a recursive query.
import { Injectable, Logger } from '@nestjs/common';
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { highestRole, lowerRoleSql, roleReachesSql } from '../platform/access/roles.js';
import { Clock } from '../platform/clock.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import { within } from '../platform/concurrency/within.js';
import { ReservedConnections } from '../platform/database/reserved-connections.js';
import { ConnectionLostError } from '../platform/database/sqlstate.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import { afterCommit, type Tx } from '../platform/database/transactions.js';
import { IDLE_HOURS } from './auth.entity.js';
import type { Principal } from './principal.js';

const PREFIX_LENGTH = 8;
const SECRET_BYTES = 32;
const KEY = /^its_([A-Za-z0-9]{8})_[A-Za-z0-9_-]{43}$/;
const SESSION_TOKEN = /^[A-Za-z0-9_-]{43}$/;

export const createSessionToken = () => randomBytes(SECRET_BYTES).toString('base64url');

export function createKey() {
  const prefix = createSessionToken().replace(/[_-]/g, '').slice(0, PREFIX_LENGTH);
  return readKey(`its_${prefix}_${createSessionToken()}`)!;
}

/** A plain hash is safe to store, because a secret of 256 bits cannot be guessed. */
export const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

export function readKey(key: string) {
  const prefix = KEY.exec(key)?.[1];
  return prefix === undefined ? undefined : { key, prefix, hash: hashOf(key) };
}

export const sessionHashOf = (token: string): string | undefined =>
  SESSION_TOKEN.test(token) ? hashOf(token).toString('hex') : undefined;

type Identity = Omit<Principal, 'requiredRole' | 'requireStillValid' | 'begin' | 'finish'>;

export interface VerifiedCredential {
  /** Prefix of a key, or hexadecimal hash of a session token. */
  readonly lookup: string;
  readonly identity: Identity;
  /** Hash of a key. Absent for a session, because a session is found by its hash. */
  readonly secretHash?: Buffer;
  readonly endsAt: Date | null;
  usedAt: Date | null;
}

/** A key is invalid while its owner is disabled. If the owner was deleted but the key was kept, the key stays valid. */
const KEY_IS_VALID = `k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
  and not exists (select 1 from users o where o.id = k.owner_id and not o.enabled and o.deleted_at is null)`;
const SESSION_IS_VALID = `s.expires_at > now() and s.last_seen_at > now() - interval '${IDLE_HOURS} hours'
  and u.enabled and u.deleted_at is null`;

/** The lower of two roles: of the key and of its owner. For a deleted owner, the last role counts. */
const EFFECTIVE_KEY_ROLE = lowerRoleSql(
  'k.role',
  '(select o.role from users o where o.id = k.owner_id)',
);

const CREDENTIALS: Statement = {
  name: 'auth_credentials',
  text: `
    select k.prefix as lookup, k.secret_hash as "secretHash", k.expires_at as "endsAt", k.last_used_at as "usedAt",
        jsonb_strip_nulls(jsonb_build_object('kind', 'key', 'id', k.id, 'name', 'key:' || k.name,
          'person', coalesce(owner.username, 'key:' || k.name), 'personId', k.owner_id, 'role', ${EFFECTIVE_KEY_ROLE},
          'limit_class', k.limit_class, 'limits', k.limits)) as identity
      from api_keys k left join users owner on owner.id = k.owner_id where k.prefix = any ($1::text[]) and ${KEY_IS_VALID}
    union all
    select encode(s.token_hash, 'hex'), null, least(s.expires_at, s.last_seen_at + interval '${IDLE_HOURS} hours'),
        s.last_seen_at, jsonb_build_object('kind', 'user', 'id', u.id, 'name', u.username, 'person', u.username,
          'personId', u.id, 'role', u.role, 'sessionId', s.id)
      from sessions s join users u on u.id = s.user_id where s.token_hash = any ($2::bytea[]) and ${SESSION_IS_VALID}`,
};

/** The conditions on the time prevent other replicas from writing the same use again. */
const NOTE_USED: Statement = {
  name: 'auth_note_used',
  text: `with used_keys as (
      update api_keys set last_used_at = now() where id = $1
        and coalesce(last_used_at <= now() - interval '1 minute', true))
    update sessions set last_seen_at = now() where id = $2
      and last_seen_at <= now() - interval '1 minute'`,
};

type CredentialId = Pick<Principal, 'id' | 'sessionId'>;

const idsOf = ({ id, sessionId }: CredentialId): [key: string | null, session: string | null] =>
  sessionId === undefined ? [id, null] : [null, sessionId];

/*
 * Tests whether the first name belongs to the same person as one of the other names. The line of a name contains the
 * name, the principal that created it, the creator of that principal, and so on. Two names belong to one person if the
 * line of one name contains the other name, or if both lines contain the same user. A key in both lines is not enough,
 * because a key of the first start creates keys for many people.
 */
const IS_AMONG: Statement = {
  name: 'auth_is_among',
  text: `
    with recursive line (of, name) as (
      select name, name from unnest($1::text || $2::text[]) as name
      union
      select line.of, k.created_by from line join api_keys k on k.name = substr(line.name, 5)
        where line.name like 'key:%'
    )
    select exists (
      select 1 from line a join line b on b.name = a.name
      where a.of = $1 and b.of = any ($2)
        and (a.name in (a.of, b.of) or exists (select 1 from users where username = a.name))
    ) as found`,
};

/** Maximum age of a cached read. A revocation must take effect within 1 s, so 200 ms remain as a margin. */
export const VALID_MS = 800;
/** Shorter than the statement timeout, so that requests wait less for a hanging database. */
const READ_TIMEOUT_MS = 3_000;
const BATCH = 200;

interface CachedRead<V> {
  /** Start of the read, as a time of the monotonic clock. */
  readonly askedAt: number;
  readonly result: Promise<V | undefined>;
}

/** Caches credentials, found or missing, for less than 1 s, so that not every request reads the database. */
export class CredentialCache<V> {
  /** Reads in the order of `askedAt`. */
  private readonly known = new Map<string, CachedRead<V>>();
  private readonly reads: Batcher<string, V | undefined>;

  constructor(readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>) {
    this.reads = new Batcher<string, V | undefined>(async (keys) => {
      const values = await within(READ_TIMEOUT_MS, readAll(keys), () => {
        throw new ConnectionLostError('The database does not answer.');
      });
      return keys.map((key) => values.get(key));
    }, BATCH);
  }

  async get(key: string): Promise<V | undefined> {
    const now = performance.now();
    for (const [old, { askedAt }] of this.known) {
      if (askedAt > now - VALID_MS) break;
      this.known.delete(old);
    }
    const known = this.known.get(key);
    if (known) return await known.result;
    const read = { askedAt: now, result: this.reads.submit(key) };
    this.known.set(key, read);
    try {
      return await read.result;
    } catch (error) {
      if (this.known.get(key) === read) this.known.delete(key);
      throw error;
    }
  }

  /** Empties the cache. Later requests read again, and do not use the result of a read in progress. */
  clear(): void {
    this.known.clear();
  }
}

const MINUTE = 60_000;

export interface Credential {
  readonly kind: Principal['kind'];
  /** The token is empty if the Authorization header is malformed. */
  readonly token: string;
}

/** Verifies credentials without a read per request: see docs/adr/0007. Stores the last use once per minute. */
@Injectable()
export class Credentials {
  private readonly logger = new Logger(Credentials.name);
  private readonly cache = new CredentialCache((lookups) => this.find(lookups));

  constructor(
    private readonly statements: Statements,
    private readonly reserved: ReservedConnections,
    private readonly clock: Clock,
  ) {}

  async verify({ kind, token }: Credential): Promise<VerifiedCredential | undefined> {
    const key = kind === 'key' ? readKey(token) : undefined;
    const lookup = kind === 'key' ? key?.prefix : sessionHashOf(token);
    const known = lookup === undefined ? undefined : await this.cache.get(lookup);
    if (!known || (key && !timingSafeEqual(known.secretHash!, key.hash))) return undefined;
    const now = this.clock.now();
    if (known.endsAt && known.endsAt <= now) return undefined;
    if (!known.usedAt || now.getTime() - known.usedAt.getTime() >= MINUTE) {
      known.usedAt = now;
      const warn = (err: unknown) =>
        this.logger.warn({ err }, 'A last use of a key was not stored.');
      this.noteUsed(known.identity).catch(warn);
    }
    return known;
  }

  /** Must be called in each change of a credential. Other replicas notice the change within 1 s. */
  forgetAfter(tx: Tx): void {
    afterCommit(tx, () => this.cache.clear());
  }

  /** Finds valid credentials by their `lookup`. With `tx`, reads the current state, not the cache. */
  async find(lookups: readonly string[], tx?: Tx): Promise<Map<string, VerifiedCredential>> {
    const isPrefix = (lookup: string) => lookup.length === PREFIX_LENGTH;
    const hashes = lookups.filter((lookup) => !isPrefix(lookup));
    const values = [lookups.filter(isPrefix), hashes.map((one) => Buffer.from(one, 'hex'))];
    const rows = tx
      ? await this.statements.rowsIn<VerifiedCredential>(tx, CREDENTIALS, values)
      : await this.reserved.rows<VerifiedCredential>(CREDENTIALS, values);
    return new Map(rows.map((row) => [row.lookup, row]));
  }

  /** Returns true if a name belongs to the caller's person. Names are never reused, so old records count too. */
  async isAmong(
    tx: Tx,
    { name, person }: Pick<Principal, 'name' | 'person'>,
    names: readonly string[],
  ): Promise<boolean> {
    if (names.includes(name) || names.includes(person)) return true;
    if (names.length === 0) return false;
    const [row] = await this.statements.rowsIn<{ found: boolean }>(tx, IS_AMONG, [name, names]);
    return row!.found;
  }

  async noteUsed(used: CredentialId): Promise<void> {
    await this.statements.rows(NOTE_USED, idsOf(used));
  }
}

/** SQL for a write of several callers. If false, call `Principal.begin` for each to find the invalid credential. */
export function credentialsStillValid(firstParameter = 1): string {
  const [keys, sessions, role] = [0, 1, 2].map((at) => `$${firstParameter + at}`);
  const required = `${role}::text`;
  return `(
    (select count(*) from api_keys k
      where k.id = any (${keys}::uuid[]) and ${roleReachesSql(EFFECTIVE_KEY_ROLE, required)} and ${KEY_IS_VALID}) = cardinality(${keys}::uuid[])
    and
    (select count(*) from sessions s join users u on u.id = s.user_id
      where s.id = any (${sessions}::uuid[]) and ${roleReachesSql('u.role', required)} and ${SESSION_IS_VALID}) = cardinality(${sessions}::uuid[]))`;
}

export function credentialsStillValidValues(callers: readonly Principal[]): unknown[] {
  const ids = callers.map(idsOf);
  const [keys, sessions] = [0, 1].map((at) => [...new Set(ids.flatMap((pair) => pair[at] ?? []))]);
  return [keys, sessions, highestRole(callers.map(({ requiredRole }) => requiredRole))];
}
