import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, type Repository } from 'typeorm';
import type { AuditEntry } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { AppError, NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import { isUuid, newId } from '../platform/ids.js';
import { findOrder, findPage, type Page } from '../platform/paging/page.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../platform/database/transactions.js';
import { SessionEntity, type User, UserEntity } from './auth.entity.js';
import { NameTakenError } from './auth.errors.js';
import { Credentials } from './credentials.js';
import { ApiKeysService } from './api-keys.service.js';
import { Passwords } from './passwords.js';
import type { Principal } from './principal.js';
import type { DeleteUserQueryDto, UserInputDto, UserQueryDto, UserUpdateDto } from './auth.dto.js';

const SORT_COLUMNS = { created_at: 'created_at', username: 'username', name: 'username' } as const;

@Injectable()
export class UsersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly keys: ApiKeysService,
    private readonly passwords: Passwords,
    private readonly audit: AuditLog,
    private readonly credentials: Credentials,
  ) {}

  async create(
    caller: Principal,
    { username, password, role, enabled = true }: UserInputDto,
    idempotency: Participant<User>,
  ): Promise<User> {
    const password_hash = await this.passwords.hashChosen(username, password);
    return await this.transactions.run<User>(
      async (tx) => {
        const user = await insertUserIfNew(tx, { username, role, enabled, password_hash });
        if (!user) throw new NameTakenError(username);
        const details = { role, enabled };
        await this.audit.record(tx, userEntry(caller.name, 'user.created', username, details));
        return user;
      },
      caller,
      idempotency,
    );
  }

  async list(query: UserQueryDto): Promise<Page<User>> {
    return await findPage(this.dataSource.getRepository(UserEntity), query, {
      where: { deleted_at: IsNull() },
      order: findOrder(query.sort, SORT_COLUMNS, 'id'),
    });
  }

  async get(id: string): Promise<User> {
    const where = { id, deleted_at: IsNull() };
    const user = isUuid(id) && (await this.dataSource.getRepository(UserEntity).findOneBy(where));
    if (!user) throw new NotFoundError('User');
    return user;
  }

  async update(
    caller: Principal,
    id: string,
    { role, enabled, password }: UserUpdateDto,
  ): Promise<User> {
    if (role === undefined && enabled === undefined && password === undefined) {
      throw ValidationError.nothingGiven();
    }
    const { username } = await this.get(id);
    const password_hash = password && (await this.passwords.hashChosen(username, password));
    return await this.transactions.run<User>(async (tx) => {
      const before = await this.lock(
        tx,
        id,
        (user) => (role ?? user.role) === 'admin' && (enabled ?? user.enabled),
      );
      const user = (await updateUser(tx, { id }, { role, enabled, password_hash }))!;
      if (!user.enabled) await endSessionsOf(tx, id);
      else if (password_hash) await endSessionsOf(tx, id, caller.sessionId);
      afterCommit(tx, () => this.credentials.forget());
      const details = {
        role,
        role_before: role && before.role,
        enabled,
        enabled_before: enabled === undefined ? undefined : before.enabled,
        password: password_hash && 'changed',
      };
      await this.audit.record(tx, userEntry(caller.name, 'user.updated', username, details));
      return user;
    }, caller);
  }

  async delete(caller: Principal, id: string, { keys }: DeleteUserQueryDto): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('User');
    await this.transactions.run(async (tx) => {
      const user = await this.lock(tx, id, () => false);
      await endSessionsOf(tx, id);
      const deletion = { deleted_at: () => 'now()', enabled: false, password_hash: null };
      await updateUser(tx, { id }, deletion);
      const revoked = keys === 'revoke' ? await this.keys.revokeAllOf(tx, caller, user) : 0;
      afterCommit(tx, () => this.credentials.forget());
      const details = { role: user.role, keys, keys_revoked: revoked };
      await this.audit.record(tx, userEntry(caller.name, 'user.deleted', user.username, details));
    }, caller);
  }

  /**
   * Locks the user and all enabled admins in the order of ids. If two concurrent changes would each remove the other
   * admin, the second change waits and sees the first. Rejects a change that would leave no enabled admin.
   */
  private async lock(tx: Tx, id: string, staysAdmin: (user: User) => boolean): Promise<User> {
    const admins = { role: 'admin', enabled: true, deleted_at: IsNull() } as const;
    const users = await tx.getRepository(UserEntity).find({
      where: [{ id, deleted_at: IsNull() }, admins],
      order: { id: 'ASC' },
      lock: { mode: 'pessimistic_write' },
    });
    const user = users.find((one) => one.id === id);
    if (!user) throw new NotFoundError('User');
    const isLastAdmin = user.role === 'admin' && user.enabled && users.length === 1;
    if (!isLastAdmin || staysAdmin(user)) return user;
    const message =
      'This is the last enabled admin. It cannot be deleted, disabled or given another role.';
    throw new AppError('invalid_state', message);
  }
}

export function userEntry(
  actor: string,
  action: AuditEntry['action'],
  username: string,
  details: AuditEntry['details'],
): AuditEntry {
  return { actor, action, subject: { type: 'user', id: username }, details };
}

type NewUser = Pick<UserEntity, 'username' | 'role' | 'enabled' | 'password_hash'> &
  Partial<Pick<UserEntity, 'password_made_up'>>;

/** Returns `undefined` if the name is or was in use. */
export async function insertUserIfNew(tx: Tx, user: NewUser): Promise<User | undefined> {
  const id = newId();
  const insert = tx
    .createQueryBuilder()
    .insert()
    .into(UserEntity)
    .values({ id, ...user });
  const inserted = await insert.orIgnore().returning(['id']).execute();
  if ((inserted.raw as object[]).length === 0) return undefined;
  return await tx.getRepository(UserEntity).findOneByOrFail({ id });
}

type UserChange = Parameters<Repository<UserEntity>['update']>[1];

/** Returns `undefined` if the user was deleted or no longer has the values of `before`. */
export async function updateUser(
  tx: Tx,
  user: Partial<Pick<UserEntity, 'id' | 'username'>>,
  change: UserChange,
  before: { readonly password_hash?: string } = {},
): Promise<User | undefined> {
  const users = tx.getRepository(UserEntity);
  const { affected } = await users.update(
    { ...user, deleted_at: IsNull(), ...before },
    {
      ...change,
      password_made_up: change.password_hash === undefined ? undefined : false,
      updated_at: () => 'now()',
    },
  );
  return affected === 0 ? undefined : await users.findOneByOrFail(user);
}

export async function endSessionsOf(tx: Tx, user_id: string, exceptId?: string): Promise<void> {
  const others = exceptId === undefined ? {} : { id: Not(exceptId) };
  await tx.getRepository(SessionEntity).delete({ user_id, ...others });
}
