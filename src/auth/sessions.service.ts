// SQL: changes rows and returns their values, and deletes old rows.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, Raw } from 'typeorm';
import { AuditLog } from '../audit/audit-log.js';
import type { Role } from '../platform/access/roles.js';
import { networkOf } from '../platform/addresses/network.js';
import type { Caller } from '../platform/http/request.js';
import { AppError, NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import { isUuid, newId } from '../platform/ids.js';
import { findOrder, findPage, type Page } from '../platform/paging/page.js';
import { Transactions, type Tx } from '../platform/database/transactions.js';
import { shownStart } from '../platform/text.js';
import { Work } from '../platform/work/work.js';
import { ABSOLUTE_HOURS, IDLE_HOURS, isUsername, SessionEntity } from './auth.entity.js';
import { createSessionToken, Credentials, sessionHashOf } from './credentials.js';
import type { PasswordChangeDto, SessionQueryDto } from './auth.dto.js';
import { type LoginUser, Passwords } from './passwords.js';
import { InvalidCredentialsError, type Principal, UnauthorizedError } from './principal.js';
import { changeUser, endSessionsOf, userEntry } from './accounts.service.js';

const PRUNE_SECONDS = 600;
const LONGEST_AGENT = 256;
const KEPT_DAYS = 180;

const FIND_USER = `
  select u.*, exists (select from known_networks where user_id = u.id and network = $2) as known
  from users u where u.username = $1`;

/** Stores the network, from which the user can log in while guesses from other networks are blocked. Locks the user. */
const BEGIN_SESSION = `
  with login as (
    update users set last_login_at = now()
    where id = $1 and enabled and deleted_at is null and password_hash = $2 returning id, role
  ), session as (
    insert into sessions (id, user_id, token_hash, expires_at, address, user_agent)
    select $3::uuid, id, decode($4, 'hex'), now() + interval '${ABSOLUTE_HOURS} hours', $5::text, $6::text from login
    returning expires_at
  ), remembered as (
    insert into known_networks (user_id, network) select id, $7::text from login
    on conflict (user_id, network) do update set last_seen_at = now()
  )
  select role, expires_at from login, session`;

const PRUNE = `
  with ended as (
    delete from sessions
    where expires_at <= now() or last_seen_at <= now() - interval '${IDLE_HOURS} hours'
  )
  delete from known_networks where last_seen_at <= now() - interval '${KEPT_DAYS} days'
    or user_id in (select id from users where deleted_at is not null)`;

const SORT_COLUMNS = { created_at: 'created_at', last_seen_at: 'last_seen_at' } as const;

/** Name for the query if the text cannot be a user name. No user has this name. */
const NOBODYS_NAME = '-';

interface LoginOrigin {
  readonly address: string;
  readonly userAgent?: string;
  /** The login ends the earlier session of the browser, because an attacker may have planted that session. */
  readonly formerSession?: string;
}

@Injectable()
export class SessionsService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly passwords: Passwords,
    private readonly credentials: Credentials,
    private readonly audit: AuditLog,
    private readonly work: Work,
  ) {}

  onModuleInit(): void {
    this.work.every('auth.prune', PRUNE_SECONDS, () => this.prune());
  }

  async prune(): Promise<void> {
    await this.dataSource.query(PRUNE);
  }

  /** Gives the same response in the same time for unknown users, disabled users and wrong passwords. */
  async logIn(username: string, password: string, origin: LoginOrigin) {
    const { address } = origin;
    // Mobile keyboards start a text with a capital letter.
    const typed = username.trim().toLowerCase();
    const account = isUsername(typed) ? typed : NOBODYS_NAME;
    const user = await this.findUser(account, address);
    const passed = await this.passwords.verify({ address, account, password, user });
    const session = passed && user ? await this.begin(user, origin) : undefined;
    if (!user || !session) throw new InvalidCredentialsError();
    return { ...session, name: user.username, passwordMadeUp: user.password_made_up };
  }

  /** Runs the same statement for existing and unknown users, so that its duration reveals nothing. */
  async findUser(username: string, address: string): Promise<LoginUser | undefined> {
    const values = [username, networkOf(address)];
    const [user] = await this.dataSource.query<LoginUser[]>(FIND_USER, values);
    return user;
  }

  /** Returns `undefined` if the user was disabled or deleted, or got another password, after the check. */
  async begin(
    user: Pick<LoginUser, 'id' | 'username' | 'password_hash'>,
    { address, userAgent, formerSession }: LoginOrigin,
  ) {
    const token = createSessionToken();
    return await this.transactions.run(async (tx) => {
      const { id, username, password_hash } = user;
      const agent = userAgent && shownStart(userAgent, LONGEST_AGENT);
      const [begun] = await tx.query<{ role: Role; expires_at: Date }[]>(BEGIN_SESSION, [
        ...[id, password_hash, newId(), sessionHashOf(token)],
        ...[address, agent, networkOf(address)],
      ]);
      if (!begun) return undefined;
      if (formerSession !== undefined) await this.endSession(tx, formerSession);
      await this.audit.record(tx, userEntry(username, 'auth.login', username, { address }));
      return { token, ...begun };
    });
  }

  async logOut({ name, sessionId }: Caller, address: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      if (sessionId === undefined || !(await this.endSession(tx, sessionId))) return;
      await this.audit.record(tx, userEntry(name, 'auth.logout', name, { address }));
    });
  }

  async changePassword(
    caller: Principal,
    { current_password, new_password }: PasswordChangeDto,
    address: string,
  ): Promise<void> {
    const { id, kind, name, sessionId } = caller;
    if (kind !== 'user')
      throw new AppError('invalid_state', 'A key has no password: log in as a user.');
    const user = await this.findUser(name, address);
    const password_hash = user?.password_hash;
    if (!password_hash) throw new UnauthorizedError();
    const wrong = new InvalidCredentialsError('The current password');
    // Counted separately, so that strangers who guess passwords at the login do not block this change.
    const account = `${name} in a session`;
    const guess = { address, account, password: current_password, user };
    if (!(await this.passwords.verify(guess))) throw wrong;
    if (new_password === current_password) {
      const message = 'new_password must differ from current_password.';
      throw ValidationError.of('new_password', 'unchanged', message);
    }
    const chosen = await this.passwords.hashChosen(name, new_password, 'new_password');
    await this.transactions.run(async (tx) => {
      const change = { password_hash: chosen };
      if (!(await changeUser(tx, { id }, change, { password_hash }))) throw wrong;
      await endSessionsOf(tx, id, sessionId);
      this.credentials.forgetAfter(tx);
      await this.audit.record(tx, userEntry(name, 'user.password_changed', name, { address }));
    }, caller);
  }

  /** Lists no sessions for an API key, because its id is not the id of a user. */
  async listOwn(caller: Principal, query: SessionQueryDto): Promise<Page<SessionEntity>> {
    const idleSince = `now() - interval '${IDLE_HOURS} hours'`;
    return await findPage(this.dataSource.getRepository(SessionEntity), query, {
      where: {
        user_id: caller.id,
        expires_at: Raw((column) => `${column} > now()`),
        last_seen_at: Raw((column) => `${column} > ${idleSince}`),
      },
      order: findOrder(query.sort, SORT_COLUMNS, 'id'),
    });
  }

  async endOwn(caller: Principal, id: string, address: string): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('Session');
    await this.transactions.run(async (tx) => {
      const isEnded = await this.endSession(tx, id, { user_id: caller.id });
      if (!isEnded) throw new NotFoundError('Session');
      await this.audit.record(tx, {
        actor: caller.name,
        action: 'auth.session_ended',
        subject: { type: 'session', id },
        details: { address },
      });
    }, caller);
  }

  private async endSession(tx: Tx, id: string, owner: { user_id?: string } = {}) {
    const { affected } = await tx.getRepository(SessionEntity).delete({ id, ...owner });
    if (affected === 0) return false;
    this.credentials.forgetAfter(tx);
    return true;
  }
}
