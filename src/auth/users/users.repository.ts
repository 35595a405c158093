import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import { Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { NewUser, UserChange, User, UserSort } from './user.js';

const COLUMNS = `id, username, role, enabled, created_at, updated_at, last_login_at`;

const ORDERS: Readonly<Record<UserSort, string>> = {
  created_at: 'created_at, id',
  '-created_at': 'created_at desc, id desc',
  username: 'username',
  '-username': 'username desc',
  name: 'username',
  '-name': 'username desc',
};

const INSERT = `insert into users (id, username, role, enabled, password_hash, password_made_up)
  values ($1, $2, $3, $4, $5, $6)`;

@Injectable()
export class UsersRepository {
  constructor(private readonly statements: Statements) {}

  async insert(tx: Tx, row: NewUser): Promise<User> {
    const statement = { name: 'users_insert', text: `${INSERT} returning ${COLUMNS}` };
    return (await this.statements.rowsIn<User>(tx, statement, valuesOf(row)))[0]!;
  }

  /** False when the name was ever used. */
  async insertIfNew(tx: Tx, row: NewUser): Promise<boolean> {
    const text = `${INSERT} on conflict (username) do nothing returning id`;
    const statement = { name: 'users_insert_if_new', text };
    return (await this.statements.rowsIn(tx, statement, valuesOf(row))).length > 0;
  }

  async hasAny(tx: Tx): Promise<boolean> {
    const statement = { name: 'users_any', text: `select 1 from users limit 1` };
    return (await this.statements.rowsIn(tx, statement)).length > 0;
  }

  /** Whether the name belongs, or ever belonged, to someone. */
  async isNameTaken(tx: Tx, username: string): Promise<boolean> {
    const statement = { name: 'users_was_used', text: `select 1 from users where username = $1` };
    return (await this.statements.rowsIn(tx, statement, [username])).length > 0;
  }

  async findIdByName(tx: Tx, username: string): Promise<string | undefined> {
    const text = `select id from users where username = $1 and deleted_at is null`;
    const statement = { name: 'users_id_of', text };
    return (await this.statements.rowsIn<{ id: string }>(tx, statement, [username]))[0]?.id;
  }

  /** Who could log in with a password that the first start made up: the one user that it made, or nobody. */
  async namesWithMadeUpPassword(): Promise<string[]> {
    const text = `select username from users where password_made_up and enabled and deleted_at is null`;
    const statement = { name: 'users_made_up_password', text };
    return (await this.statements.rows<{ username: string }>(statement)).map((row) => row.username);
  }

  async list(request: PageRequest, sort: UserSort): Promise<Page<User>> {
    const page = {
      name: `users_list_${sort}`,
      text: `select ${COLUMNS} from users where deleted_at is null order by ${ORDERS[sort]} limit $1 offset $2`,
    };
    const count = {
      name: 'users_count',
      text: `select count(*)::int as total from users where deleted_at is null`,
    };
    const [items, [counted]] = await Promise.all([
      this.statements.rows<User>(page, [request.per_page, (request.page - 1) * request.per_page]),
      this.statements.rows<{ total: number }>(count),
    ]);
    return { items, total: counted!.total };
  }

  async findById(id: string): Promise<User | undefined> {
    const text = `select ${COLUMNS} from users where id = $1 and deleted_at is null`;
    return (await this.statements.rows<User>({ name: 'users_find', text }, [id]))[0];
  }

  /**
   * Locks the user together with all enabled admins, in one order for everyone: of two changes that would each leave
   * the other's admin as the last one, the second sees what the first did.
   */
  async lockWithEnabledAdmins(
    tx: Tx,
    id: string,
  ): Promise<{ user: User | undefined; otherAdmins: number }> {
    const rows = await this.statements.rowsIn<User>(
      tx,
      {
        name: 'users_lock_with_admins',
        text: `select ${COLUMNS} from users
          where deleted_at is null and (id = $1 or (role = 'admin' and enabled)) order by id for update`,
      },
      [id],
    );
    const user = rows.find((row) => row.id === id);
    return { user, otherAdmins: rows.length - (user ? 1 : 0) };
  }

  async update(tx: Tx, id: string, change: UserChange): Promise<User> {
    const statement = {
      name: 'users_update',
      text: `update users set role = coalesce($2, role), enabled = coalesce($3, enabled),
          password_hash = coalesce($4, password_hash), password_made_up = password_made_up and $4::text is null,
          updated_at = now()
        where id = $1 and deleted_at is null returning ${COLUMNS}`,
    };
    const { role = null, enabled = null, passwordHash = null } = change;
    const rows = await this.statements.rowsIn<User>(tx, statement, [
      id,
      role,
      enabled,
      passwordHash,
    ]);
    return rows[0]!;
  }

  /** The row stays, for its name. */
  async markDeleted(tx: Tx, id: string): Promise<void> {
    const text = `update users set deleted_at = now(), updated_at = now(), enabled = false, password_hash = null where id = $1`;
    await this.statements.rowsIn(tx, { name: 'users_mark_deleted', text }, [id]);
  }
}

function valuesOf(row: NewUser): unknown[] {
  return [
    row.id,
    row.username,
    row.role,
    row.enabled,
    row.passwordHash,
    row.passwordMadeUp ?? false,
  ];
}
