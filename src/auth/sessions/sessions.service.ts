// SQL: a deletion that returns the name of the user, and a CTE that deletes old networks and stores the current one.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, Not, Raw } from 'typeorm';
import { AuditLog } from '../../audit/audit-log.js';
import { networkOf } from '../../platform/addresses/network.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import { findOrder, type Page } from '../../platform/paging/page.js';
import { afterCommit, Transactions, type Tx } from '../../platform/database/transactions.js';
import { shownStart } from '../../platform/text.js';
import { Work } from '../../platform/work/work.js';
import { InvalidCredentialsError } from '../auth.errors.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import type { SessionQueryDto } from '../me/me.dto.js';
import { Passwords } from '../passwords/passwords.js';
import type { Principal } from '../principal.js';
import { isUsername, type LoginUser, userEntry } from '../users/user.entity.js';
import { UsersRepository } from '../users/users.repository.js';
import {
  ABSOLUTE_HOURS,
  createSessionToken,
  IDLE_HOURS,
  KnownNetworkEntity,
  type Session,
  SessionEntity,
  sessionHashOf,
} from './session.entity.js';

const PRUNE_SECONDS = 600;
/** Browsers send shorter texts. Longer texts are cut, because a stranger may send any text. */
const LONGEST_AGENT = 256;
/** More networks than a user normally has, and few enough to keep the table small. */
const MOST_NETWORKS = 50;
const KEPT_DAYS = 180;

/**
 * Stores the network of a login. Attempts from stored networks are accepted while other networks are limited, so that
 * guessing does not lock the user out. The login has already locked the user row.
 */
const REMEMBER_NETWORK = `
  with forgotten as (
    delete from known_networks where user_id = $1 and network in (
      select network from known_networks where user_id = $1 and network <> $2
      order by last_seen_at desc, network offset ${MOST_NETWORKS - 1})
  )
  insert into known_networks (user_id, network) values ($1, $2)
  on conflict (user_id, network) do update set last_seen_at = now()`;

const SORT_COLUMNS = { created_at: 'created_at', last_seen_at: 'last_seen_at' } as const;

/** Name for the query if the text cannot be a user name. No user has this name. */
const NOBODYS_NAME = '-';

interface LoginOrigin {
  readonly address: string;
  readonly userAgent?: string;
  /**
   * Previous session token of the browser. That session ends, so that an attacker cannot plant a session before the
   * login.
   */
  readonly formerToken?: string;
}

@Injectable()
export class SessionsService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly users: UsersRepository,
    private readonly passwords: Passwords,
    private readonly verification: CredentialVerification,
    private readonly audit: AuditLog,
    private readonly work: Work,
  ) {}

  onModuleInit(): void {
    this.work.every('auth.prune-sessions', PRUNE_SECONDS, () => this.deleteExpired());
    this.work.every('auth.prune-known-networks', PRUNE_SECONDS, () => this.deleteOldNetworks());
  }

  /** Responds to unknown users, disabled users and wrong passwords in the same way and time. */
  async logIn(username: string, password: string, origin: LoginOrigin) {
    const { address } = origin;
    // Mobile keyboards start a text with a capital letter.
    const typed = username.trim().toLowerCase();
    const account = isUsername(typed) ? typed : NOBODYS_NAME;
    const user = await this.users.findForLogin(account, networkOf(address));
    const passed = await this.passwords.verify({ address, account, password, user });
    const session = passed && user ? await this.begin(user, origin) : undefined;
    if (!user || !session) throw new InvalidCredentialsError();
    return { ...session, name: user.username, passwordMadeUp: user.password_made_up };
  }

  /** Returns `undefined` if the user was disabled or deleted, or the password was changed, since the check. */
  async begin(
    user: Pick<LoginUser, 'id' | 'username' | 'password_hash'>,
    { address, userAgent, formerToken }: LoginOrigin,
  ) {
    const token = createSessionToken();
    return await this.transactions.run(async (tx) => {
      const role = await this.users.recordLogin(tx, user);
      if (!role) return undefined;
      if (formerToken !== undefined) await this.endByToken(tx, formerToken);
      const { id: user_id, username } = user;
      const result = await tx
        .createQueryBuilder()
        .insert()
        .into(SessionEntity)
        .values({
          id: newId(),
          user_id,
          token_hash: Buffer.from(sessionHashOf(token)!, 'hex'),
          expires_at: () => `now() + interval '${ABSOLUTE_HOURS} hours'`,
          address,
          user_agent: userAgent && shownStart(userAgent, LONGEST_AGENT),
        })
        .returning(['expires_at'])
        .execute();
      const [{ expires_at: expiresAt }] = result.raw as [Pick<SessionEntity, 'expires_at'>];
      await tx.query(REMEMBER_NETWORK, [user_id, networkOf(address)]);
      await this.audit.record(tx, userEntry(username, 'auth.login', username, { address }));
      return { token, role, expiresAt };
    });
  }

  async end(token: string, address: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      const username = await this.endByToken(tx, token);
      if (username === undefined) return;
      await this.audit.record(tx, userEntry(username, 'auth.logout', username, { address }));
    });
  }

  async endAllOf(tx: Tx, userId: string, exceptId?: string): Promise<void> {
    const all = { user_id: userId };
    const wanted = exceptId === undefined ? all : { ...all, id: Not(exceptId) };
    await tx.getRepository(SessionEntity).delete(wanted);
  }

  /** Returns the valid sessions of the caller. An API key has none: its id is not the id of a user. */
  async listOwn(
    caller: Principal,
    { page, per_page, sort }: SessionQueryDto,
  ): Promise<Page<Session>> {
    const [items, total] = await this.dataSource.getRepository(SessionEntity).findAndCount({
      where: {
        user_id: caller.id,
        expires_at: Raw((column) => `${column} > now()`),
        last_seen_at: Raw((column) => `${column} > now() - interval '${IDLE_HOURS} hours'`),
      },
      order: findOrder(sort, SORT_COLUMNS, 'id'),
      skip: (page - 1) * per_page,
      take: per_page,
    });
    return { items, total };
  }

  async endOwn(caller: Principal, id: string, address: string): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('Session');
    await this.transactions.run(async (tx) => {
      const own = { id, user_id: caller.id };
      const { affected } = await tx.getRepository(SessionEntity).delete(own);
      if (affected === 0) throw new NotFoundError('Session');
      afterCommit(tx, () => this.verification.forgetSessionOf(id));
      await this.audit.record(tx, {
        actor: caller.name,
        action: 'auth.session_ended',
        subject: { type: 'session', id },
        details: { address },
      });
    }, caller);
  }

  async deleteExpired(): Promise<void> {
    await this.dataSource
      .createQueryBuilder()
      .delete()
      .from(SessionEntity)
      .where('expires_at <= now()')
      .orWhere(`last_seen_at <= now() - interval '${IDLE_HOURS} hours'`)
      .execute();
  }

  async deleteOldNetworks(): Promise<void> {
    await this.dataSource
      .createQueryBuilder()
      .delete()
      .from(KnownNetworkEntity)
      .where(`last_seen_at <= now() - interval '${KEPT_DAYS} days'`)
      .orWhere('user_id in (select id from users where deleted_at is not null)')
      .execute();
  }

  /** Returns the name of the user, or `undefined` if the session did not exist. */
  private async endByToken(tx: Tx, token: string): Promise<string | undefined> {
    const hash = sessionHashOf(token);
    if (hash === undefined) return undefined;
    afterCommit(tx, () => this.verification.forgetSession(hash));
    const [rows] = await tx.query<[{ username: string }[], number]>(
      `delete from sessions s using users u
        where u.id = s.user_id and s.token_hash = decode($1, 'hex') returning u.username`,
      [hash],
    );
    return rows[0]?.username;
  }
}
