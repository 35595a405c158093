import { Injectable } from '@nestjs/common';
import type { Role } from '../../platform/access/roles.js';
import { shownStart } from '../../platform/text.js';
import { Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import { SESSION_IS_VALID } from '../principals/credentials-still-valid.js';
import {
  type SessionSort,
  ABSOLUTE_HOURS,
  IDLE_HOURS,
  type NewSession,
  type Session,
} from './session.js';

/** Browsers say less, and what a stranger says is not kept at any length. */
const LONGEST_AGENT = 256;

const ORDERS: Readonly<Record<SessionSort, string>> = {
  created_at: 's.created_at, s.id',
  '-created_at': 's.created_at desc, s.id desc',
  last_seen_at: 's.last_seen_at, s.id',
  '-last_seen_at': 's.last_seen_at desc, s.id desc',
};

/** Who wants to log in, as far as it takes to check the password. */
export interface LoginUser {
  readonly id: string;
  readonly username: string;
  readonly role: Role;
  readonly enabled: boolean;
  readonly password_hash: string | null;
  /** Whether the first start made the password up. */
  readonly password_made_up: boolean;
  /** Whether the user logged in from this network before. */
  readonly known: boolean;
}

@Injectable()
export class SessionsRepository {
  constructor(private readonly statements: Statements) {}

  async findForLogin(username: string, network: string): Promise<LoginUser | undefined> {
    const statement = {
      name: 'sessions_find_login',
      text: `select id, username, role, enabled, password_hash, password_made_up,
          exists (select 1 from known_networks k where k.user_id = u.id and k.network = $2) as known
        from users u where username = $1`,
    };
    return (await this.statements.rows<LoginUser>(statement, [username, network]))[0];
  }

  /**
   * Notes the login and locks the user for it, provided that nothing changed since the password was checked: a user
   * who is disabled, deleted or given another password meanwhile gets no session that outlives it.
   */
  async recordLogin(tx: Tx, user: LoginUser, renewedHash?: string): Promise<Role | undefined> {
    const statement = {
      name: 'sessions_claim_login',
      text: `update users set last_login_at = now(), password_hash = coalesce($3, password_hash)
        where id = $1 and enabled and deleted_at is null and password_hash = $2 returning role`,
    };
    const values = [user.id, user.password_hash, renewedHash ?? null];
    return (await this.statements.rowsIn<{ role: Role }>(tx, statement, values))[0]?.role;
  }

  /** Answers when it ends in any case. */
  async insert(tx: Tx, { id, userId, tokenHash, address, userAgent }: NewSession): Promise<Date> {
    const statement = {
      name: 'sessions_insert',
      text: `insert into sessions (id, user_id, token_hash, expires_at, address, user_agent)
        values ($1, $2, decode($3, 'hex'), now() + interval '${ABSOLUTE_HOURS} hours', $4, $5)
        returning expires_at`,
    };
    const values = [
      id,
      userId,
      tokenHash,
      address,
      userAgent && shownStart(userAgent, LONGEST_AGENT),
    ];
    const rows = await this.statements.rowsIn<{ expires_at: Date }>(tx, statement, values);
    return rows[0]!.expires_at;
  }

  /** The name of the user whose session it was; undefined when there was none. */
  async endByToken(tx: Tx, tokenHash: string): Promise<string | undefined> {
    const statement = {
      name: 'sessions_end',
      text: `delete from sessions s using users u
        where s.token_hash = decode($1, 'hex') and u.id = s.user_id returning u.username`,
    };
    return (await this.statements.rowsIn<{ username: string }>(tx, statement, [tokenHash]))[0]
      ?.username;
  }

  async endAllOf(tx: Tx, userId: string, exceptId?: string): Promise<void> {
    const statement = {
      name: 'sessions_end_all',
      text: `delete from sessions where user_id = $1 and id is distinct from $2`,
    };
    await this.statements.rowsIn(tx, statement, [userId, exceptId ?? null]);
  }

  /** Those of the user that hold. */
  async listByUser(
    userId: string,
    { page, per_page }: PageRequest,
    sort: SessionSort,
  ): Promise<Page<Session>> {
    const shown = `sessions s join users u on u.id = s.user_id where s.user_id = $1 and ${SESSION_IS_VALID}`;
    const rows = {
      name: `sessions_list_${sort}`,
      text: `select s.id, s.created_at, s.last_seen_at, s.expires_at, s.address, s.user_agent
        from ${shown} order by ${ORDERS[sort]} limit $2 offset $3`,
    };
    const count = { name: 'sessions_count', text: `select count(*)::int as total from ${shown}` };
    const [items, [counted]] = await Promise.all([
      this.statements.rows<Session>(rows, [userId, per_page, (page - 1) * per_page]),
      this.statements.rows<{ total: number }>(count, [userId]),
    ]);
    return { items, total: counted!.total };
  }

  /** False when the user has no such session. */
  async endOwn(tx: Tx, userId: string, id: string): Promise<boolean> {
    const text = `delete from sessions where id = $2 and user_id = $1 returning id`;
    const statement = { name: 'sessions_end_of', text };
    return (await this.statements.rowsIn(tx, statement, [userId, id])).length > 0;
  }

  async deleteExpired(): Promise<void> {
    await this.statements.rows({
      name: 'sessions_delete_expired',
      text: `delete from sessions
        where expires_at <= now() or last_seen_at <= now() - interval '${IDLE_HOURS} hours'`,
    });
  }

  /** False when the password is not the one of the hash any more. */
  async replacePassword(tx: Tx, userId: string, before: string, after: string): Promise<boolean> {
    const statement = {
      name: 'sessions_replace_password',
      text: `update users set password_hash = $3, password_made_up = false, updated_at = now()
        where id = $1 and password_hash = $2 returning id`,
    };
    return (await this.statements.rowsIn(tx, statement, [userId, before, after])).length > 0;
  }

  /** The hash of the user's password; undefined when the user is gone. */
  async passwordHashOf(userId: string): Promise<string | undefined> {
    const text = `select password_hash from users where id = $1 and deleted_at is null`;
    const statement = { name: 'sessions_password_hash', text };
    return (await this.statements.rows<{ password_hash: string }>(statement, [userId]))[0]
      ?.password_hash;
  }
}
