import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import { afterCommit, Transactions, type Tx } from '../../platform/database/transactions.js';
import { Work } from '../../platform/work/work.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import type { Principal } from '../principal.js';
import { createSessionToken, type Session, sessionHashOf } from './session.entity.js';
import { SessionsRepository } from './sessions.repository.js';
import { networkOf } from '../../platform/addresses/network.js';
import { InvalidCredentialsError } from '../auth.errors.js';
import type { SessionQueryDto } from '../me/me.dto.js';
import { Passwords } from '../passwords/passwords.js';
import { isUsername, type LoginUser, userEntry } from '../users/user.entity.js';
import { UsersRepository } from '../users/users.repository.js';

const PRUNE_SECONDS = 600;

/** Looked up if the text cannot be a user name. No user has this name. */
const NOBODYS_NAME = '-';

interface LoginOrigin {
  readonly address: string;
  readonly userAgent?: string;
  /**
   * Session token that the browser already had. That session ends, so that an attacker cannot plant a session before
   * the login.
   */
  readonly formerToken?: string;
}

@Injectable()
export class SessionsService implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly passwords: Passwords,
    private readonly verification: CredentialVerification,
    private readonly audit: AuditLog,
    private readonly work: Work,
  ) {}

  onModuleInit(): void {
    this.work.every('auth.prune-sessions', PRUNE_SECONDS, () => this.sessions.deleteExpired());
    this.work.every('auth.prune-known-networks', PRUNE_SECONDS, () =>
      this.sessions.deleteOldNetworks(),
    );
  }

  /** Unknown users, disabled users and wrong passwords have the same answer and the same response time. */
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

  /** `undefined` if the user was disabled, deleted or got another password since the check. */
  async begin(
    user: Pick<LoginUser, 'id' | 'username' | 'password_hash'>,
    { address, userAgent, formerToken }: LoginOrigin,
  ) {
    const token = createSessionToken();
    return await this.transactions.run(async (tx) => {
      const role = await this.users.recordLogin(tx, user);
      if (!role) return undefined;
      if (formerToken !== undefined) await this.endByToken(tx, formerToken);
      const expiresAt = await this.sessions.insert(tx, sessionHashOf(token)!, {
        id: newId(),
        user_id: user.id,
        address,
        user_agent: userAgent ?? null,
      });
      await this.sessions.rememberNetwork(tx, user.id, networkOf(address));
      const { username } = user;
      await this.audit.record(tx, userEntry(username, 'auth.login', username, { address }));
      return { token, role, expiresAt };
    });
  }

  /** Ends the session of the token, if there is one. */
  async end(token: string, address: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      const username = await this.endByToken(tx, token);
      if (username === undefined) return;
      await this.audit.record(tx, userEntry(username, 'auth.logout', username, { address }));
    });
  }

  /** Sessions of the caller. An API key has none: its id is not the id of a user. */
  listOwn(caller: Principal, query: SessionQueryDto): Promise<Page<Session>> {
    return this.sessions.listByUser(caller.id, query);
  }

  async endOwn(caller: Principal, id: string, address: string): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('Session');
    await this.transactions.run(async (tx) => {
      if (!(await this.sessions.endOwn(tx, caller.id, id))) throw new NotFoundError('Session');
      afterCommit(tx, () => this.verification.forgetSessionOf(id));
      await this.audit.record(tx, {
        actor: caller.name,
        action: 'auth.session_ended',
        subject: { type: 'session', id },
        details: { address },
      });
    }, caller);
  }

  private async endByToken(tx: Tx, token: string): Promise<string | undefined> {
    const hash = sessionHashOf(token);
    if (hash === undefined) return undefined;
    afterCommit(tx, () => this.verification.forgetSession(token));
    return await this.sessions.endByToken(tx, hash);
  }
}
