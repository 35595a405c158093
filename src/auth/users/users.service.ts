import { Injectable } from '@nestjs/common';
import type { AuditAction } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import type { Role } from '../../platform/access/roles.js';
import { NotFoundError, ValidationError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import { mapConstraints } from '../../platform/database/sqlstate.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import { ApiKeysService } from '../keys/api-keys.service.js';
import { Passwords } from '../passwords/passwords.js';
import type { Principal } from '../principal.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import type { KeysOfDeleted, User, UserSort } from './user.entity.js';
import { LastAdminError, UsernameTakenError } from '../auth.errors.js';
import { UsersRepository } from './users.repository.js';

interface CreateUser {
  readonly username: string;
  readonly password: string;
  readonly role: Role;
  readonly enabled?: boolean;
}

interface UpdateUser {
  readonly role?: Role;
  readonly enabled?: boolean;
  readonly password?: string;
}

@Injectable()
export class UsersService {
  constructor(
    private readonly transactions: Transactions,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly keys: ApiKeysService,
    private readonly passwords: Passwords,
    private readonly audit: AuditLog,
    private readonly verification: CredentialVerification,
  ) {}

  async create(
    caller: Principal,
    { username, password, role, enabled = true }: CreateUser,
    idempotency: Participant<User>,
  ): Promise<User> {
    const password_hash = await this.passwords.hashChosen({
      username,
      password,
      field: 'password',
    });
    const taken = () => new UsernameTakenError(username);
    return await mapConstraints({ uq_users_username: taken }, () =>
      this.transactions.run<User>(
        async (tx) => {
          const id = newId();
          const user = await this.users.insert(tx, { id, username, role, enabled, password_hash });
          await this.record(tx, caller, 'user.created', user, { role, enabled });
          return user;
        },
        caller,
        idempotency,
      ),
    );
  }

  list(request: PageRequest, sort: readonly UserSort[]): Promise<Page<User>> {
    return this.users.list(request, sort);
  }

  async get(id: string): Promise<User> {
    const user = isUuid(id) ? await this.users.findById(id) : undefined;
    if (!user) throw new NotFoundError('User');
    return user;
  }

  async update(caller: Principal, id: string, wanted: UpdateUser): Promise<User> {
    const { role, enabled, password } = wanted;
    if (role === undefined && enabled === undefined && password === undefined) {
      throw ValidationError.nothingGiven();
    }
    if (!isUuid(id)) throw new NotFoundError('User');
    const password_hash = password === undefined ? undefined : await this.hashFor(id, password);
    return await this.transactions.run<User>(async (tx) => {
      const before = await this.lock(
        tx,
        id,
        (user) => (role ?? user.role) === 'admin' && (enabled ?? user.enabled),
      );
      const user = await this.users.update(tx, id, { role, enabled, password_hash });
      if (!user.enabled) await this.sessions.endAllOf(tx, id);
      else if (password_hash) await this.sessions.endAllOf(tx, id, caller.sessionId);
      afterCommit(tx, () => this.verification.forgetUser(id));
      await this.record(tx, caller, 'user.updated', user, {
        role,
        role_before: role && before.role,
        enabled,
        enabled_before: enabled === undefined ? undefined : before.enabled,
        password: password_hash && 'changed',
      });
      return user;
    }, caller);
  }

  async delete(caller: Principal, id: string, keys: KeysOfDeleted): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('User');
    await this.transactions.run(async (tx) => {
      const user = await this.lock(tx, id, () => false);
      await this.sessions.endAllOf(tx, id);
      await this.users.markDeleted(tx, id);
      const revoked = keys === 'revoke' ? await this.keys.revokeAllOf(tx, caller, user) : 0;
      afterCommit(tx, () => this.verification.forgetUser(id));
      await this.record(tx, caller, 'user.deleted', user, {
        role: user.role,
        keys,
        keys_revoked: revoked,
      });
    }, caller);
  }

  private async hashFor(id: string, password: string): Promise<string> {
    const { username } = await this.get(id);
    return await this.passwords.hashChosen({ username, password, field: 'password' });
  }

  /** Locks the user. Rejects a change that would leave no enabled admin. */
  private async lock(tx: Tx, id: string, staysAdmin: (user: User) => boolean): Promise<User> {
    const { user, otherAdmins } = await this.users.lockWithEnabledAdmins(tx, id);
    if (!user) throw new NotFoundError('User');
    const isAdmin = user.role === 'admin' && user.enabled;
    if (isAdmin && otherAdmins === 0 && !staysAdmin(user)) throw new LastAdminError();
    return user;
  }

  private async record(
    tx: Tx,
    caller: Principal,
    action: Extract<AuditAction, `user.${string}`>,
    user: User,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await this.audit.record(tx, {
      actor: caller.name,
      action,
      subject: { type: 'user', id: user.username },
      details,
    });
  }
}
