import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { AuditLog } from '../../audit/audit-log.js';
import { networkOf } from '../../platform/addresses/network.js';
import { AppError, NotFoundError, ValidationError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import { findOrder, type Page } from '../../platform/paging/page.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import { ApiKeysService } from '../keys/api-keys.service.js';
import type { PasswordChangeDto } from '../me/me.dto.js';
import { Passwords } from '../passwords/passwords.js';
import type { Principal } from '../principal.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { type KeysOfDeleted, type User, UserEntity, userEntry } from './user.entity.js';
import type { UserInputDto, UserQueryDto, UserUpdateDto } from './users.dto.js';
import { InvalidCredentialsError, NameTakenError, UnauthorizedError } from '../auth.errors.js';
import { UsersRepository } from './users.repository.js';

const SORT_COLUMNS = { created_at: 'created_at', username: 'username', name: 'username' } as const;

@Injectable()
export class UsersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsService,
    private readonly keys: ApiKeysService,
    private readonly passwords: Passwords,
    private readonly audit: AuditLog,
    private readonly verification: CredentialVerification,
  ) {}

  async create(
    caller: Principal,
    { username, password, role, enabled = true }: UserInputDto,
    idempotency: Participant<User>,
  ): Promise<User> {
    const password_hash = await this.passwords.hashChosen(username, password);
    return await this.transactions.run<User>(
      async (tx) => {
        const wanted = { id: newId(), username, role, enabled, password_hash };
        const user = await this.users.insertIfNew(tx, wanted);
        if (!user) throw new NameTakenError(username);
        const details = { role, enabled };
        await this.audit.record(tx, userEntry(caller.name, 'user.created', username, details));
        return user;
      },
      caller,
      idempotency,
    );
  }

  async list({ page, per_page, sort }: UserQueryDto): Promise<Page<User>> {
    const [items, total] = await this.dataSource.getRepository(UserEntity).findAndCount({
      where: { deleted_at: IsNull() },
      order: findOrder(sort, SORT_COLUMNS, 'id'),
      skip: (page - 1) * per_page,
      take: per_page,
    });
    return { items, total };
  }

  async get(id: string): Promise<User> {
    const where = { id, deleted_at: IsNull() };
    const user = isUuid(id) && (await this.dataSource.getRepository(UserEntity).findOneBy(where));
    if (!user) throw new NotFoundError('User');
    return user;
  }

  async update(caller: Principal, id: string, wanted: UserUpdateDto): Promise<User> {
    const { role, enabled, password } = wanted;
    if (role === undefined && enabled === undefined && password === undefined) {
      throw ValidationError.nothingGiven();
    }
    if (!isUuid(id)) throw new NotFoundError('User');
    const password_hash =
      password && (await this.passwords.hashChosen((await this.get(id)).username, password));
    return await this.transactions.run<User>(async (tx) => {
      const before = await this.lock(
        tx,
        id,
        (user) => (role ?? user.role) === 'admin' && (enabled ?? user.enabled),
      );
      const user = (await this.users.update(tx, { id }, { role, enabled, password_hash }))!;
      if (!user.enabled) await this.sessions.endAllOf(tx, id);
      else if (password_hash) await this.sessions.endAllOf(tx, id, caller.sessionId);
      afterCommit(tx, () => this.verification.forgetUser(id));
      const details = {
        role,
        role_before: role && before.role,
        enabled,
        enabled_before: enabled === undefined ? undefined : before.enabled,
        password: password_hash && 'changed',
      };
      await this.audit.record(tx, userEntry(caller.name, 'user.updated', user.username, details));
      return user;
    }, caller);
  }

  async delete(caller: Principal, id: string, keys: KeysOfDeleted): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('User');
    await this.transactions.run(async (tx) => {
      const user = await this.lock(tx, id, () => false);
      await this.sessions.endAllOf(tx, id);
      await tx.getRepository(UserEntity).update(id, {
        deleted_at: () => 'now()',
        updated_at: () => 'now()',
        enabled: false,
        password_hash: null,
      });
      const revoked = keys === 'revoke' ? await this.keys.revokeAllOf(tx, caller, user) : 0;
      afterCommit(tx, () => this.verification.forgetUser(id));
      const details = { role: user.role, keys, keys_revoked: revoked };
      await this.audit.record(tx, userEntry(caller.name, 'user.deleted', user.username, details));
    }, caller);
  }

  async changeOwnPassword(
    caller: Principal,
    { current_password, new_password }: PasswordChangeDto,
    address: string,
  ): Promise<void> {
    if (caller.kind !== 'user') throw new AppError('invalid_state', 'A key has no password.');
    const user = await this.users.findForLogin(caller.name, networkOf(address));
    const stored = user?.password_hash;
    if (!stored) throw new UnauthorizedError();
    // Counted separately from logins, so that strangers who guess passwords at the login do not block this change.
    const account = `${caller.name} in a session`;
    const guess = { address, account, password: current_password, user };
    if (!(await this.passwords.verify(guess))) {
      throw new InvalidCredentialsError('The current password');
    }
    if (new_password === current_password) {
      throw ValidationError.of(
        'new_password',
        'unchanged',
        'new_password must differ from current_password.',
      );
    }
    const password_hash = await this.passwords.hashChosen(
      caller.name,
      new_password,
      'new_password',
    );
    await this.transactions.run(async (tx) => {
      // The password may have changed since the check.
      const before = { password_hash: stored };
      if (!(await this.users.update(tx, { id: caller.id }, { password_hash }, before))) {
        throw new InvalidCredentialsError('The current password');
      }
      await this.sessions.endAllOf(tx, caller.id, caller.sessionId);
      afterCommit(tx, () => this.verification.forgetUser(caller.id));
      const { name } = caller;
      await this.audit.record(tx, userEntry(name, 'user.password_changed', name, { address }));
    }, caller);
  }

  /** Locks the user. Rejects a change that would leave no enabled admin. */
  private async lock(tx: Tx, id: string, staysAdmin: (user: User) => boolean): Promise<User> {
    const { user, otherAdmins } = await this.users.lockWithEnabledAdmins(tx, id);
    if (!user) throw new NotFoundError('User');
    const isAdmin = user.role === 'admin' && user.enabled;
    if (isAdmin && otherAdmins === 0 && !staysAdmin(user)) {
      const message =
        'This is the last enabled admin. It cannot be deleted, disabled or given another role.';
      throw new AppError('invalid_state', message);
    }
    return user;
  }
}
