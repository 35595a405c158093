import { carryAccessOverRestore, noteAccessBeforeRestore } from '../../src/cli/service-backup.js';
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
  /** Simulates a restore. The changes made after the backup are discarded between the two steps. */
  const restoreAfter = (sinceBackup: readonly string[], backup: readonly string[]) =>
    transactions.run(async (tx) => {
      for (const statement of sinceBackup) await tx.query(statement);
      await noteAccessBeforeRestore(tx);
      for (const statement of backup) await tx.query(statement);
      return await carryAccessOverRestore(tx);
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
    expect(across).toEqual({
      api_keys_kept_revoked: 1,
      users_kept_disabled: 1,
      users_kept_deleted: 1,
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
});
