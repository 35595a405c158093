import { Injectable } from '@nestjs/common';
import type { Role } from '../../platform/access/roles.js';
import { ReservedConnections } from '../../platform/database/reserved-connections.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { IDLE_HOURS } from '../sessions/session.js';
import { KEY_IS_VALID, EFFECTIVE_KEY_ROLE, SESSION_IS_VALID } from './credentials-still-valid.js';
import type { VerifiedCredential, VerifiedKey, VerifiedSession } from './verified-credential.js';

const KEYS: Statement = {
  name: 'auth_keys',
  text: `select k.id, k.name, ${EFFECTIVE_KEY_ROLE} as role, k.prefix, k.secret_hash, k.limit_read, k.limit_write, k.limit_triage,
      k.expires_at, k.last_used_at, k.owner_id, owner.username as owner
    from api_keys k left join users owner on owner.id = k.owner_id where k.prefix = any ($1::text[]) and ${KEY_IS_VALID}`,
};

const SESSIONS: Statement = {
  name: 'auth_sessions',
  text: `select s.id as session_id, encode(s.token_hash, 'hex') as hash, s.last_seen_at,
      least(s.expires_at, s.last_seen_at + interval '${IDLE_HOURS} hours') as ends_at, u.id, u.username, u.role
    from sessions s join users u on u.id = s.user_id
    where s.token_hash = any (select decode(hash, 'hex') from unnest($1::text[]) as hash) and ${SESSION_IS_VALID}`,
};

const KEY_ROLE: Statement = {
  name: 'auth_key_role',
  text: `select ${EFFECTIVE_KEY_ROLE} as role from api_keys k where k.id = $1 and ${KEY_IS_VALID}`,
};

const SESSION_ROLE: Statement = {
  name: 'auth_session_role',
  text: `select u.role from sessions s join users u on u.id = s.user_id where s.id = $1 and ${SESSION_IS_VALID}`,
};

// The line of a name is the name itself, who made it, who made that one, and so on. Two lines that meet in a key which
// is neither of the two belong to two holders: nobody in particular stands behind such a key.
const ARE_ONE: Statement = {
  name: 'auth_are_one',
  text: `
    with recursive line (of, name) as (
      values ($1, $1), ($2, $2)
      union
      select line.of, k.created_by from line join api_keys k on k.name = substr(line.name, 5)
        where line.name like 'key:%'
    )
    select exists (
      select 1 from line a join line b on b.name = a.name
      where a.of = $1 and b.of = $2
        and (a.name in ($1, $2) or exists (select 1 from users where username = a.name))
    ) as one`,
};

interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly owner_id: string | null;
  readonly owner: string | null;
  readonly role: Role;
  readonly prefix: string;
  readonly secret_hash: Buffer;
  readonly limit_read: number | null;
  readonly limit_write: number | null;
  readonly limit_triage: number | null;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
}

interface SessionRow {
  readonly session_id: string;
  readonly hash: string;
  readonly last_seen_at: Date;
  readonly ends_at: Date;
  readonly id: string;
  readonly username: string;
  readonly role: Role;
}

/** What every request asks of the database, on the hot path. */
@Injectable()
export class PrincipalsRepository {
  constructor(
    private readonly statements: Statements,
    private readonly reserved: ReservedConnections,
  ) {}

  /** The keys that hold, by their prefix. */
  async findKeys(prefixes: readonly string[]): Promise<Map<string, VerifiedKey>> {
    const rows = await this.reserved.rows<KeyRow>(KEYS, [prefixes]);
    return new Map(rows.map((row) => [row.prefix, keyOf(row)]));
  }

  /** The sessions that hold, by the hash of their token in hexadecimal. */
  async findSessions(hashes: readonly string[]): Promise<Map<string, VerifiedSession>> {
    const rows = await this.reserved.rows<SessionRow>(SESSIONS, [hashes]);
    return new Map(rows.map((row) => [row.hash, sessionOf(row)]));
  }

  async findRole(tx: Tx, verified: VerifiedCredential): Promise<Role | undefined> {
    const [row] =
      verified.kind === 'key'
        ? await this.statements.rowsIn<{ role: Role }>(tx, KEY_ROLE, [verified.id])
        : await this.statements.rowsIn<{ role: Role }>(tx, SESSION_ROLE, [verified.sessionId]);
    return row?.role;
  }

  /** Whether the same user stands behind two names, or one of them made the other. */
  async areSamePerson(tx: Tx, one: string, other: string): Promise<boolean> {
    const [row] = await this.statements.rowsIn<{ one: boolean }>(tx, ARE_ONE, [one, other]);
    return row!.one;
  }
}

function keyOf(row: KeyRow): VerifiedKey {
  const limits = {
    ...(row.limit_read !== null && { read: row.limit_read }),
    ...(row.limit_write !== null && { write: row.limit_write }),
    ...(row.limit_triage !== null && { triage: row.limit_triage }),
  };
  return {
    kind: 'key',
    id: row.id,
    name: `key:${row.name}`,
    person: row.owner ?? `key:${row.name}`,
    ...(row.owner_id !== null && { personId: row.owner_id }),
    role: row.role,
    secretHash: row.secret_hash,
    usedAt: row.last_used_at?.getTime() ?? 0,
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(row.expires_at && { endsAt: row.expires_at.getTime() }),
  };
}

function sessionOf(row: SessionRow): VerifiedSession {
  return {
    kind: 'user',
    id: row.id,
    sessionId: row.session_id,
    name: row.username,
    role: row.role,
    endsAt: row.ends_at.getTime(),
    usedAt: row.last_seen_at.getTime(),
  };
}
