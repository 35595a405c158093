import { Injectable } from '@nestjs/common';
import {
  DataSource,
  type FindOptionsWhere,
  IsNull,
  Not,
  type QueryDeepPartialEntity,
  type Repository,
} from 'typeorm';
import type { AuditEntry } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { AppError, NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import { isUuid, newId } from '../platform/ids.js';
import { findOrder, findPage, type Page } from '../platform/paging/page.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import {
  ApiKeyEntity,
  type CreatedKey,
  SessionEntity,
  type User,
  UserEntity,
} from './auth.entity.js';
import { createKey, Credentials, readKey } from './credentials.js';
import { Passwords } from './passwords.js';
import { NameTakenError, type Principal } from './principal.js';
import type {
  ApiKeyInputDto,
  ApiKeyQueryDto,
  DeleteUserQueryDto,
  UserInputDto,
  UserQueryDto,
  UserUpdateDto,
} from './auth.dto.js';

const USER_SORTS = { created_at: 'created_at', username: 'username', name: 'username' } as const;
const KEY_SORTS = { created_at: 'created_at', name: 'name' } as const;

@Injectable()
export class AccountsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly passwords: Passwords,
    private readonly audit: AuditLog,
    private readonly credentials: Credentials,
  ) {}

  async createUser(
    caller: Principal,
    { username, password, role, enabled = true }: UserInputDto,
    idempotency: Participant<User>,
  ): Promise<User> {
    const password_hash = await this.passwords.hashChosen(username, password);
    const row = { username, role, enabled, password_hash };
    return await this.transactions.run<User>(
      async (tx) => {
        const user = await insertIfNew(tx, UserEntity, row);
        if (!user) throw new NameTakenError(username);
        const details = { role, enabled };
        await this.audit.record(tx, userEntry(caller.name, 'user.created', username, details));
        return user;
      },
      caller,
      idempotency,
    );
  }

  async listUsers(query: UserQueryDto): Promise<Page<User>> {
    return await findPage(this.dataSource.getRepository(UserEntity), query, {
      where: { deleted_at: IsNull() },
      order: findOrder(query.sort, USER_SORTS, 'id'),
    });
  }

  async getUser(id: string): Promise<User> {
    const where = { id, deleted_at: IsNull() };
    const user = isUuid(id) && (await this.dataSource.getRepository(UserEntity).findOneBy(where));
    if (!user) throw new NotFoundError('User');
    return user;
  }

  async updateUser(
    caller: Principal,
    id: string,
    { role, enabled, password }: UserUpdateDto,
  ): Promise<User> {
    if (role === undefined && enabled === undefined && password === undefined) {
      throw ValidationError.nothingGiven();
    }
    const { username } = await this.getUser(id);
    const password_hash = password && (await this.passwords.hashChosen(username, password));
    return await this.transactions.run<User>(async (tx) => {
      const before = await lockUser(tx, id, { role, enabled });
      const user = (await changeUser(tx, { id }, { role, enabled, password_hash }))!;
      if (!user.enabled) await endSessionsOf(tx, id);
      else if (password_hash) await endSessionsOf(tx, id, caller.sessionId);
      this.credentials.forgetAfter(tx);
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

  async deleteUser(caller: Principal, id: string, { keys }: DeleteUserQueryDto): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('User');
    await this.transactions.run(async (tx) => {
      const { username, role } = await lockUser(tx, id, { enabled: false });
      await endSessionsOf(tx, id);
      const deletion = { deleted_at: () => 'now()', enabled: false, password_hash: null };
      await changeUser(tx, { id }, deletion);
      const reason = `${username} was deleted`;
      const keys_revoked =
        keys === 'revoke' ? await this.revokeKeys(tx, caller, { owner_id: id }, { reason }) : 0;
      this.credentials.forgetAfter(tx);
      const details = { role, keys, keys_revoked };
      await this.audit.record(tx, userEntry(caller.name, 'user.deleted', username, details));
    }, caller);
  }

  async createKey(
    caller: Principal,
    wanted: ApiKeyInputDto,
    idempotency: Participant<CreatedKey>,
  ): Promise<CreatedKey> {
    return await this.transactions.run<CreatedKey>(
      async (tx) => {
        const created = await insertKeyIfNew(tx, this.audit, caller, wanted);
        if (!created) throw new NameTakenError(wanted.name);
        // The insert locks the owner: either a deletion of the owner waits and finds the new key, or this check fails.
        await caller.begin(tx);
        return created;
      },
      caller,
      idempotency,
    );
  }

  async listKeys({ created_by, ...query }: ApiKeyQueryDto): Promise<Page<ApiKeyEntity>> {
    const creator = created_by === undefined ? {} : { created_by };
    return await findPage(this.dataSource.getRepository(ApiKeyEntity), query, {
      where: { revoked_at: IsNull(), ...creator },
      order: findOrder(query.sort, KEY_SORTS, 'id'),
    });
  }

  async revokeKey(caller: Principal, id: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      const revoked = isUuid(id) ? await this.revokeKeys(tx, caller, { id }) : 0;
      if (revoked === 0) throw new NotFoundError('API key');
    }, caller);
  }

  private async revokeKeys(
    tx: Tx,
    caller: Principal,
    where: FindOptionsWhere<ApiKeyEntity>,
    more: { readonly reason?: string } = {},
  ): Promise<number> {
    const result = await tx
      .createQueryBuilder()
      .update(ApiKeyEntity)
      .set({ revoked_at: () => 'now()' })
      .where({ ...where, revoked_at: IsNull() })
      .returning(['id', 'name', 'role', 'prefix'])
      .execute();
    const revoked = result.raw as Pick<ApiKeyEntity, 'id' | 'name' | 'role' | 'prefix'>[];
    const entries = revoked.map(({ id, ...details }) => {
      const subject = { type: 'api_key', id };
      const action = 'api_key.revoked' as const;
      return { actor: caller.name, action, subject, details: { ...details, ...more } };
    });
    await this.audit.record(tx, ...entries);
    this.credentials.forgetAfter(tx);
    return revoked.length;
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

/** Locks the user and all enabled admins in id order, so that two changes cannot each remove the other admin. */
async function lockUser(tx: Tx, id: string, { role, enabled }: UserUpdateDto): Promise<User> {
  const admins = { role: 'admin', enabled: true, deleted_at: IsNull() } as const;
  const users = await tx.getRepository(UserEntity).find({
    where: [{ id, deleted_at: IsNull() }, admins],
    order: { id: 'ASC' },
    lock: { mode: 'pessimistic_write' },
  });
  const user = users.find((one) => one.id === id);
  if (!user) throw new NotFoundError('User');
  const isLastAdmin = user.role === 'admin' && user.enabled && users.length === 1;
  if (isLastAdmin && (enabled === false || (role ?? 'admin') !== 'admin')) {
    const message =
      'This is the last enabled admin. It cannot be deleted, disabled or given another role.';
    throw new AppError('invalid_state', message);
  }
  return user;
}

export async function insertKeyIfNew(
  tx: Tx,
  audit: AuditLog,
  creator: Pick<Principal, 'name' | 'personId'>,
  { limits, expires_in_days, ...columns }: ApiKeyInputDto,
  { given, reason }: { readonly given?: string; readonly reason?: string } = {},
): Promise<CreatedKey | undefined> {
  const { key, prefix, hash } = (given && readKey(given)) || createKey();
  const created = await insertIfNew(tx, ApiKeyEntity, {
    ...columns,
    limits: Object.values(limits ?? {}).some((limit) => limit !== undefined) ? limits : null,
    prefix,
    secret_hash: hash,
    created_by: creator.name,
    owner_id: creator.personId,
    expires_at: expires_in_days
      ? () => `now() + make_interval(days => ${Number(expires_in_days)})`
      : null,
  });
  if (!created) return undefined;
  const { id, name, role, expires_at, limit_class } = created;
  await audit.record(tx, {
    actor: creator.name,
    action: 'api_key.created',
    subject: { type: 'api_key', id },
    details: { name, role, prefix, expires_at, limit_class, reason },
  });
  return { ...created, key };
}

/** Returns `undefined` if a user or key has the name, or had it before. */
export async function insertIfNew<Row extends { readonly id: string }>(
  tx: Tx,
  entity: new () => Row,
  row: QueryDeepPartialEntity<Row>,
): Promise<Row | undefined> {
  const id = newId();
  const insert = tx
    .createQueryBuilder()
    .insert()
    .into(entity)
    .values({ ...row, id })
    .orIgnore();
  const inserted = await insert.returning(['id']).execute();
  if ((inserted.raw as object[]).length === 0) return undefined;
  return await tx.getRepository(entity).findOneByOrFail({ id } as FindOptionsWhere<Row>);
}

/** Returns `undefined` if the user was deleted, or if a value in `before` has changed. */
export async function changeUser(
  tx: Tx,
  user: Partial<Pick<UserEntity, 'id' | 'username'>>,
  change: Parameters<Repository<UserEntity>['update']>[1],
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
