import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import { afterCommit, Transactions, type Tx } from '../../platform/database/transactions.js';
import { Work } from '../../platform/work/work.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import type { Principal } from '../principal.js';
import {
  createSessionToken,
  type Session,
  sessionHashOf,
  type SessionSort,
} from './session.entity.js';
import { SessionsRepository, KnownNetworksRepository } from './sessions.repository.js';
import type { Role } from '../../platform/access/roles.js';
import { networkOf } from '../../platform/addresses/network.js';
import type { LoginUser } from '../users/user.entity.js';
import { UsersRepository } from '../users/users.repository.js';

const PRUNE_SECONDS = 600;

export interface BegunSession {
  readonly token: string;
  readonly role: Role;
  readonly expiresAt: Date;
}

interface SessionToBegin {
  readonly user: Pick<LoginUser, 'id' | 'username' | 'password_hash'>;
  readonly address: string;
  readonly userAgent?: string;
  /** New hash of the same password, if the stored hash has another cost. */
  readonly renewedHash?: string;
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
    private readonly networks: KnownNetworksRepository,
    private readonly verification: CredentialVerification,
    private readonly audit: AuditLog,
    private readonly work: Work,
  ) {}

  onModuleInit(): void {
    this.work.every('auth.prune-sessions', PRUNE_SECONDS, () => this.sessions.deleteExpired());
    this.work.every('auth.prune-known-networks', PRUNE_SECONDS, () => this.networks.deleteOld());
  }

  /** `undefined` if the user was disabled, deleted or got another password since the check. */
  async begin({
    user,
    address,
    userAgent,
    renewedHash,
    formerToken,
  }: SessionToBegin): Promise<BegunSession | undefined> {
    const token = createSessionToken();
    return await this.transactions.run(async (tx) => {
      const role = await this.users.recordLogin(tx, user, renewedHash);
      if (!role) return undefined;
      if (formerToken !== undefined) await this.endByToken(tx, formerToken);
      const expiresAt = await this.sessions.insert(tx, {
        id: newId(),
        userId: user.id,
        tokenHash: sessionHashOf(token)!,
        address,
        userAgent,
      });
      await this.networks.remember(tx, user.id, networkOf(address));
      await this.audit.record(tx, {
        actor: user.username,
        action: 'auth.login',
        subject: { type: 'user', id: user.username },
        details: { address },
      });
      return { token, role, expiresAt };
    });
  }

  /** Ends the session of the token; `false` if there was none. */
  async end(token: string, address: string): Promise<boolean> {
    return await this.transactions.run(async (tx) => {
      const userId = await this.endByToken(tx, token);
      if (userId === undefined) return false;
      const username = (await this.users.findNameById(tx, userId))!;
      await this.audit.record(tx, {
        actor: username,
        action: 'auth.logout',
        subject: { type: 'user', id: username },
        details: { address },
      });
      return true;
    });
  }

  /** Sessions of the caller. An API key has none: its id is not the id of a user. */
  listOwn(
    caller: Principal,
    request: PageRequest,
    sort: readonly SessionSort[],
  ): Promise<Page<Session>> {
    return this.sessions.listByUser(caller.id, request, sort);
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
