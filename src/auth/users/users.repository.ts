import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import type { Role } from '../../platform/access/roles.js';
import type { Tx } from '../../platform/database/transactions.js';
import { KnownNetworkEntity } from '../sessions/session.entity.js';
import {
  type LoginUser,
  type NewUser,
  type User,
  type UserChange,
  UserEntity,
} from './user.entity.js';

@Injectable()
export class UsersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns `undefined` if the name is or was in use. */
  async insertIfNew(tx: Tx, user: NewUser): Promise<User | undefined> {
    const result = await tx
      .createQueryBuilder()
      .insert()
      .into(UserEntity)
      .values(user)
      .orIgnore()
      .returning(['id'])
      .execute();
    if ((result.raw as unknown[]).length === 0) return undefined;
    return await tx.getRepository(UserEntity).findOneByOrFail({ id: user.id });
  }

  async countEnabled(): Promise<number> {
    const where = { enabled: true, deleted_at: IsNull() };
    return await this.dataSource.getRepository(UserEntity).countBy(where);
  }

  async namesWithMadeUpPassword(): Promise<string[]> {
    const users = await this.dataSource.getRepository(UserEntity).find({
      select: { id: true, username: true },
      where: { password_made_up: true, enabled: true, deleted_at: IsNull() },
    });
    return users.map(({ username }) => username);
  }

  /** Runs the same statement for existing and unknown users, so that its duration reveals nothing. */
  async findForLogin(username: string, network: string): Promise<LoginUser | undefined> {
    const { entities, raw } = await this.dataSource
      .getRepository(UserEntity)
      .createQueryBuilder('account')
      .addSelect('account.password_hash')
      .leftJoin(
        KnownNetworkEntity,
        'network',
        'network.user_id = account.id and network.network = :network',
        { network },
      )
      .addSelect('network.network is not null', 'known')
      .where('account.username = :username', { username })
      .getRawAndEntities<{ known: boolean }>();
    return entities[0] && { ...entities[0], known: raw[0]!.known };
  }

  /**
   * Records the login and locks the user until the transaction ends. Returns `undefined` if the user was disabled or
   * deleted, or the password was changed, since the password check.
   */
  async recordLogin(
    tx: Tx,
    { id, password_hash }: Pick<LoginUser, 'id' | 'password_hash'>,
  ): Promise<Role | undefined> {
    if (password_hash === null) return undefined;
    const result = await tx
      .createQueryBuilder()
      .update(UserEntity)
      .set({ last_login_at: () => 'now()' })
      .where({ id, enabled: true, deleted_at: IsNull(), password_hash })
      .returning(['role'])
      .execute();
    return (result.raw as Pick<UserEntity, 'role'>[])[0]?.role;
  }

  /**
   * Locks the user and all enabled admins in the order of ids. If two concurrent changes would each remove the other
   * admin, the second change waits and sees the first.
   */
  async lockWithEnabledAdmins(
    tx: Tx,
    id: string,
  ): Promise<{ user: User | undefined; otherAdmins: number }> {
    const users = await tx.getRepository(UserEntity).find({
      where: [
        { id, deleted_at: IsNull() },
        { role: 'admin', enabled: true, deleted_at: IsNull() },
      ],
      order: { id: 'ASC' },
      lock: { mode: 'pessimistic_write' },
    });
    const user = users.find((one) => one.id === id);
    return { user, otherAdmins: users.length - (user ? 1 : 0) };
  }

  /** Waits for a transaction that deletes or disables the user, and blocks later such transactions. */
  async lockAgainstDeletion(tx: Tx, id: string): Promise<void> {
    await tx.getRepository(UserEntity).findOne({
      select: { id: true },
      where: { id },
      lock: { mode: 'for_key_share' },
    });
  }

  /** Returns `undefined` if the user was deleted or no longer has the values of `before`. */
  async update(
    tx: Tx,
    user: Partial<Pick<UserEntity, 'id' | 'username'>>,
    change: UserChange,
    before: UserChange = {},
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
}
