import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import type { Principal } from '../principal.js';
import { createSessionToken, type Session, sessionHashOf, type SessionSort } from './session.js';
import { type LoginUser, SessionsRepository } from './sessions.repository.js';
import type { Role } from '../../platform/access/roles.js';
import { networkOf } from '../../platform/addresses/network.js';
import { KnownNetworksRepository } from './known-networks.repository.js';

const PRUNE_SECONDS = 600;

export interface BegunSession {
  readonly token: string;
  readonly role: Role;
  readonly expiresAt: Date;
}

export interface SessionToBegin {
  readonly user: LoginUser;
  readonly address: string;
  readonly userAgent?: string;
  /** The password's hash made anew, when the stored one is of another cost. */
  readonly renewedHash?: string;
  /** What the browser brought along; it ends here, so that nobody goes on with a session planted before the login. */
  readonly formerToken?: string;
}

@Injectable()
export class SessionsService implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly sessions: SessionsRepository,
    private readonly networks: KnownNetworksRepository,
    private readonly verification: CredentialVerification,
    private readonly audit: AuditLog,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    this.jobs.every('auth.prune-sessions', PRUNE_SECONDS, () => this.sessions.deleteExpired());
    this.jobs.every('auth.prune-known-networks', PRUNE_SECONDS, () => this.networks.deleteOld());
  }

  /** Undefined when the user was disabled, deleted or given another password since it was checked. */
  async begin({
    user,
    address,
    userAgent,
    renewedHash,
    formerToken,
  }: SessionToBegin): Promise<BegunSession | undefined> {
    const token = createSessionToken();
    return await this.transactions.run(async (tx) => {
      const role = await this.sessions.recordLogin(tx, user, renewedHash);
      if (!role) return undefined;
      if (formerToken !== undefined) await this.endOne(tx, formerToken);
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

  /** True when there was a session to end. */
  async end(token: string, address: string): Promise<boolean> {
    return await this.transactions.run(async (tx) => {
      const username = await this.endOne(tx, token);
      if (username === undefined) return false;
      await this.audit.record(tx, {
        actor: username,
        action: 'auth.logout',
        subject: { type: 'user', id: username },
        details: { address },
      });
      return true;
    });
  }

  private async endOne(tx: Tx, token: string): Promise<string | undefined> {
    const hash = sessionHashOf(token);
    if (hash === undefined) return undefined;
    this.transactions.onCommit(tx, () => this.verification.forgetSession(token));
    return await this.sessions.endByToken(tx, hash);
  }
}

/** What users see and end of their own. A key has no sessions, not even those of the user who made it. */
@Injectable()
export class OwnSessionsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly sessions: SessionsRepository,
    private readonly audit: AuditLog,
    private readonly verification: CredentialVerification,
  ) {}

  /** The sessions are found by the user; the id of a key is no user's. */
  list(caller: Principal, request: PageRequest, sort: SessionSort): Promise<Page<Session>> {
    return this.sessions.listByUser(caller.id, request, sort);
  }

  async end(caller: Principal, id: string, address: string): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('Session');
    await this.transactions.run(async (tx) => {
      if (!(await this.sessions.endOwn(tx, caller.id, id))) throw new NotFoundError('Session');
      this.transactions.onCommit(tx, () => this.verification.forgetSessionOf(id));
      await this.audit.record(tx, {
        actor: caller.name,
        action: 'auth.session_ended',
        subject: { type: 'session', id },
        details: { address },
      });
    }, caller);
  }
}
