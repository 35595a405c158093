// SQL: statements that run for each request or writing transaction, and a recursive query.
import { Injectable } from '@nestjs/common';
import { highestRole, lowerRoleSql, type Role, roleReachesSql } from '../platform/access/roles.js';
import { ReservedConnections } from '../platform/database/reserved-connections.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { IDLE_HOURS } from './auth.entity.js';
import type { Principal } from './principal.js';

type Identity = Omit<Principal, 'requiredRole' | 'requireStillValid' | 'begin' | 'finish'>;

/** A key or session, as last read from the database. */
export interface VerifiedCredential {
  readonly identity: Identity;
  /** Of a key. A session is found by its hash. */
  readonly secretHash?: Buffer;
  readonly endsAt: Date | null;
  usedAt: Date | null;
}

/** A key is invalid while its owner is disabled. A key that was kept when its owner was deleted stays valid. */
const KEY_IS_VALID = `k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
  and not exists (select 1 from users o where o.id = k.owner_id and not o.enabled and o.deleted_at is null)`;
const SESSION_IS_VALID = `s.expires_at > now() and s.last_seen_at > now() - interval '${IDLE_HOURS} hours'
  and u.enabled and u.deleted_at is null`;

/** Lower role of the key and its owner. A deleted owner counts with the last role. */
const EFFECTIVE_KEY_ROLE = lowerRoleSql(
  'k.role',
  '(select o.role from users o where o.id = k.owner_id)',
);

const CREDENTIALS: Readonly<Record<Principal['kind'], Statement>> = {
  key: {
    name: 'auth_keys',
    text: `select k.prefix as lookup, k.secret_hash as "secretHash", k.expires_at as "endsAt", k.last_used_at as "usedAt",
        jsonb_strip_nulls(jsonb_build_object('kind', 'key', 'id', k.id, 'name', 'key:' || k.name,
          'person', coalesce(owner.username, 'key:' || k.name), 'personId', k.owner_id, 'role', ${EFFECTIVE_KEY_ROLE},
          'limit_class', k.limit_class, 'limits', k.limits)) as identity
      from api_keys k left join users owner on owner.id = k.owner_id where k.prefix = any ($1::text[]) and ${KEY_IS_VALID}`,
  },
  user: {
    name: 'auth_sessions',
    text: `select encode(s.token_hash, 'hex') as lookup, s.last_seen_at as "usedAt",
        least(s.expires_at, s.last_seen_at + interval '${IDLE_HOURS} hours') as "endsAt",
        jsonb_build_object('kind', 'user', 'id', u.id, 'name', u.username, 'person', u.username, 'personId', u.id,
          'role', u.role, 'sessionId', s.id) as identity
      from sessions s join users u on u.id = s.user_id
      where s.token_hash = any (select decode(hash, 'hex') from unnest($1::text[]) as hash) and ${SESSION_IS_VALID}`,
  },
};

/** Role of the key `$1` or the session `$2`. */
const ROLE: Statement = {
  name: 'auth_role',
  text: `select ${EFFECTIVE_KEY_ROLE} as role from api_keys k where k.id = $1 and ${KEY_IS_VALID}
    union all
    select u.role from sessions s join users u on u.id = s.user_id where s.id = $2 and ${SESSION_IS_VALID}`,
};

/** The time conditions avoid a second write of the same use by other replicas. */
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
 * Tests if the first name and any of the other names belong to one person. The line of a name is the name, the
 * principal that created it, the creator of that principal, and so on. Two names belong to one person if the line of
 * either name contains the other, or if both lines contain the same user. The same key in both lines is not enough: a
 * key of the first start creates keys for many people.
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

@Injectable()
export class PrincipalsRepository {
  constructor(
    private readonly statements: Statements,
    private readonly reserved: ReservedConnections,
  ) {}

  /** Finds valid keys by prefix, or valid sessions by the hexadecimal hash of their token. */
  async find(
    kind: Principal['kind'],
    lookups: readonly string[],
  ): Promise<Map<string, VerifiedCredential>> {
    type Row = VerifiedCredential & { readonly lookup: string };
    const rows = await this.reserved.rows<Row>(CREDENTIALS[kind], [lookups]);
    return new Map(rows.map((row) => [row.lookup, row]));
  }

  /** Returns `undefined` if the credential is no longer valid. */
  async findRole(tx: Tx, used: CredentialId): Promise<Role | undefined> {
    const [row] = await this.statements.rowsIn<{ role: Role }>(tx, ROLE, idsOf(used));
    return row?.role;
  }

  /** True if any of the names belongs to the person of the caller. Names are never reused, so old records count too. */
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

/**
 * SQL condition for a statement that writes for several callers: all credentials are valid and give the required
 * role. If the condition is false, call `Principal.begin` for each caller to find the invalid credential.
 */
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
