import { AuditHarness, newKey } from './audit-harness.js';

describe('the tables of the audit trail', () => {
  let harness: AuditHarness;

  beforeAll(async () => {
    harness = await AuditHarness.open();
    const replica = harness.replica([newKey()]);
    await harness.record(replica);
    await replica.sealAll();
  });
  afterAll(() => harness.database.close());

  it.each([
    [`update audit_log set actor = 'mallory'`, 'audit_log is append-only: UPDATE'],
    [`update audit_log set actor = 'mallory' where false`, 'audit_log is append-only: UPDATE'],
    ['delete from audit_log', 'audit_log is append-only: DELETE'],
    ['truncate audit_log', 'audit_log is append-only: TRUNCATE'],
    ['truncate audit_log cascade', 'audit_log is append-only: TRUNCATE'],
    [
      `insert into audit_log select * from audit_log on conflict (id) do update set actor = 'mallory'`,
      'audit_log is append-only: UPDATE',
    ],
    [`update audit_seals set hash = '\\x00'`, 'audit_seals is append-only: UPDATE'],
    ['delete from audit_seals', 'audit_seals is append-only: DELETE'],
    ['truncate audit_seals', 'audit_seals is append-only: TRUNCATE'],
    ['delete from audit_chain', 'audit_chain is append-only: DELETE'],
    ['truncate audit_chain', 'audit_chain is append-only: TRUNCATE'],
  ])('refuse even for their owner: %s', async (statement, message) => {
    await harness.asOwner(async (owner) => {
      await expect(owner.query(statement)).rejects.toThrow(message);
    });
    await harness.expectEverythingSealedOnce(1);
  });

  it('allow no second head', async () => {
    await harness.asOwner(async (owner) => {
      await expect(
        owner.query(`insert into audit_chain (only_row, seq, hash, cluster, key_id, mac)
                     select false, seq, hash, cluster, key_id, mac from audit_chain`),
      ).rejects.toThrow('ck_audit_chain_only_row');
    });
  });
});
