import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import type { Role } from '../../platform/access/roles.js';
import { newId } from '../../platform/ids.js';
import { networkOf } from '../../platform/addresses/network.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import { KnownNetworksRepository } from './known-networks.repository.js';
import { createSessionToken, sessionHashOf } from './session-token.js';
import { type LoginRow, SessionsRepository } from './sessions.repository.js';

const PRUNE_SECONDS = 600;

export interface NewSession {
  readonly token: string;
  readonly role: Role;
  readonly expiresAt: Date;
}

export interface Beginning {
  readonly user: LoginRow;
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
  }: Beginning): Promise<NewSession | undefined> {
    const token = createSessionToken();
    return await this.transactions.run(async (tx) => {
      const role = await this.sessions.claimLogin(tx, user, renewedHash);
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
    return await this.sessions.end(tx, hash);
  }
}
