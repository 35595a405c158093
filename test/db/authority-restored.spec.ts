import {
  carryAccessOverRestore,
  isWithoutAdmin,
  noteAccessBeforeRestore,
} from '../../src/cli/access-across-restore.js';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';

describe('access across a restore', () => {
  const { query, transactions } = useTestDatabase();

  const user = async (username: string, role: string): Promise<string> => {
    const id = newId();
    await query(`insert into users (id, username, role, password_hash) values ($1, $2, $3, 'x')`, [
      id,
      username,
      role,
    ]);
    return id;
  };
  const key = async (prefix: string): Promise<string> => {
    const id = newId();
    await query(
      `insert into api_keys (id, name, role, prefix, secret_hash, created_by)
       values ($1, $2, 'viewer', $2, sha256('x'), 'test')`,
      [id, prefix],
    );
    return id;
  };
  /** What was changed since the backup is taken back between the two steps, as a restore does. */
  const restoreAfter = (sinceBackup: readonly string[], backup: readonly string[]) =>
    transactions.run(async (tx) => {
      for (const statement of sinceBackup) await tx.query(statement);
      await noteAccessBeforeRestore(tx);
      for (const statement of backup) await tx.query(statement);
      return { ...(await carryAccessOverRestore(tx)), withoutAdmin: await isWithoutAdmin(tx) };
    });

  beforeEach(() => query('truncate api_keys, users cascade'));

  it('stays revoked for revoked keys, disabled users and deleted users only', async () => {
    const [revoked, kept] = [await key('revoked1'), await key('kept0001')];
    await user('root', 'admin');
    await user('disabled', 'senior');
    await user('deleted', 'analyst');
    const across = await restoreAfter(
      [
        `update api_keys set revoked_at = '2026-01-02' where id = '${revoked}'`,
        `update users set enabled = false where username = 'disabled'`,
        `update users set deleted_at = '2026-01-03', password_hash = null where username = 'deleted'`,
      ],
      [
        `update api_keys set revoked_at = null`,
        `update users set enabled = true, deleted_at = null, password_hash = 'x'`,
      ],
    );
    expect(across).toMatchObject({
      api_keys_kept_revoked: 1,
      users_kept_disabled: 1,
      users_kept_deleted: 1,
      roles_kept_lowered: 0,
      passwords_kept_changed: 0,
      withoutAdmin: false,
    });
    expect(await query('select id from api_keys where revoked_at is null')).toEqual([{ id: kept }]);
    expect(
      await query(
        `select username, enabled, deleted_at is not null as deleted, password_hash from users order by username`,
      ),
    ).toEqual([
      { username: 'deleted', enabled: true, deleted: true, password_hash: null },
      { username: 'disabled', enabled: false, deleted: false, password_hash: 'x' },
      { username: 'root', enabled: true, deleted: false, password_hash: 'x' },
    ]);
  });

  it('keeps the lower role and the later password of each user', async () => {
    await user('lowered', 'senior');
    await user('raised', 'viewer');
    await user('changed', 'analyst');
    await user('older', 'analyst');
    await query(`update users set updated_at = '2026-01-02'`);
    const across = await restoreAfter(
      [
        `update users set role = 'viewer', updated_at = now() where username = 'lowered'`,
        `update users set role = 'manager', updated_at = now() where username = 'raised'`,
        `update users set password_hash = 'new', updated_at = now() where username = 'changed'`,
        `update users set password_hash = 'older', updated_at = '2026-01-01' where username = 'older'`,
      ],
      [
        `update users set role = 'senior' where username = 'lowered'`,
        `update users set role = 'viewer' where username = 'raised'`,
        `update users set password_hash = 'stolen', password_made_up = true`,
        `update users set updated_at = '2026-01-02'`,
      ],
    );
    expect(across).toMatchObject({ roles_kept_lowered: 1, passwords_kept_changed: 3 });
    expect(
      await query('select username, role, password_hash, password_made_up from users order by 1'),
    ).toEqual([
      { username: 'changed', role: 'analyst', password_hash: 'new', password_made_up: false },
      { username: 'lowered', role: 'viewer', password_hash: 'x', password_made_up: false },
      { username: 'older', role: 'analyst', password_hash: 'stolen', password_made_up: true },
      { username: 'raised', role: 'viewer', password_hash: 'x', password_made_up: false },
    ]);
  });

  it.each([
    ['became an analyst', `role = 'analyst'`, `role = 'admin'`, { roles_kept_lowered: 1 }],
    ['was disabled', 'enabled = false', 'enabled = true', { users_kept_disabled: 1 }],
  ])(
    'reports that no admin is left if the only admin of the backup %s later',
    async (_, later, before, changed) => {
      await user('root', 'admin');
      const across = await restoreAfter(
        [`update users set ${later}`],
        [`update users set ${before}`],
      );
      expect(across).toMatchObject({ ...changed, withoutAdmin: true });
    },
  );
});
