import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { AppError, ValidationError } from '../../platform/errors/app-error.js';
import { networkOf } from '../../platform/addresses/network.js';
import { afterCommit, Transactions } from '../../platform/database/transactions.js';
import { UnauthorizedError, WrongCurrentPasswordError } from '../auth.errors.js';
import { PasswordThrottle } from '../passwords/password-throttle.js';
import { Passwords } from '../passwords/passwords.js';
import type { Principal } from '../principal.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import { KnownNetworksRepository, SessionsRepository } from '../sessions/sessions.repository.js';
import { UsersRepository } from '../users/users.repository.js';

export interface PasswordChange {
  readonly current_password: string;
  readonly new_password: string;
}

@Injectable()
export class OwnPasswordService {
  constructor(
    private readonly transactions: Transactions,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly networks: KnownNetworksRepository,
    private readonly throttle: PasswordThrottle,
    private readonly passwords: Passwords,
    private readonly audit: AuditLog,
    private readonly verification: CredentialVerification,
  ) {}

  async change(caller: Principal, wanted: PasswordChange, address: string): Promise<void> {
    if (caller.kind !== 'user') throw new AppError('invalid_state', 'A key has no password.');
    const stored = await this.users.findPasswordHash(caller.id);
    if (stored === undefined) throw new UnauthorizedError();
    const guess = {
      address,
      // Counted separately from logins, so that strangers who guess passwords there do not prevent this change.
      account: `${caller.name} in a session`,
      fromKnownNetwork: await this.networks.has(caller.id, networkOf(address)),
      password: wanted.current_password,
      storedHash: stored,
      mayLogIn: true,
      username: caller.name,
    };
    if (!(await this.throttle.verifyPassword(guess))) throw new WrongCurrentPasswordError();
    if (wanted.new_password === wanted.current_password) {
      throw ValidationError.of(
        'new_password',
        'unchanged',
        'new_password must differ from current_password.',
      );
    }
    const hash = await this.passwords.hashChosen({
      username: caller.name,
      password: wanted.new_password,
      field: 'new_password',
    });
    await this.transactions.run(async (tx) => {
      // The password may have changed since the check.
      if (!(await this.users.replacePassword(tx, caller.id, stored, hash))) {
        throw new WrongCurrentPasswordError();
      }
      await this.sessions.endAllOf(tx, caller.id, caller.sessionId);
      afterCommit(tx, () => this.verification.forgetUser(caller.id));
      await this.audit.record(tx, {
        actor: caller.name,
        action: 'user.password_changed',
        subject: { type: 'user', id: caller.name },
        details: { address },
      });
    }, caller);
  }
}
