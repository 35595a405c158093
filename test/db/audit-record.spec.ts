import { AUDIT_PARAMETERS, insertAuditRow, insertAuditRows } from '../../src/audit/audit-log.js';
import { AuditHarness, newKey, type Replica, someEntry } from './audit-harness.js';

describe('a record in the audit trail', () => {
  let harness: AuditHarness;
  let replica: Replica;

  beforeAll(async () => {
    harness = await AuditHarness.open();
    replica = harness.replica([newKey()]);
  });
  afterAll(() => harness.database.close());

  const actors = async (): Promise<string[]> =>
    (await harness.rows<{ actor: string }>('select actor from audit_log order by id')).map(
      ({ actor }) => actor,
    );

  it('is part of the transaction of the change', async () => {
    await harness.transactions.run((tx) =>
      replica.log.record(tx, someEntry({ actor: 'committed' })),
    );
    const failing = harness.transactions.run(async (tx) => {
      await replica.log.record(tx, someEntry({ actor: 'rolled-back' }));
      throw new Error('the change failed');
    });
    await expect(failing).rejects.toThrow('the change failed');
    expect(await actors()).toEqual(['committed']);
  });

  it('is written with others in one statement, and without records there is no statement', async () => {
    await harness.transactions.run(async (tx) => {
      await replica.log.recordAll(tx, []);
      await replica.log.recordAll(
        tx,
        ['many-1', 'many-2'].map((actor) => someEntry({ actor })),
      );
    });
    expect(await actors()).toEqual(expect.arrayContaining(['many-1', 'many-2']));
  });

  it('is written in the statement of a change, alone or with others', async () => {
    await harness.rows('create table changed (name text)');
    const one = {
      name: 'one',
      text: `with recorded as (${insertAuditRow(2)}) insert into changed values ($1)`,
    };
    const many = {
      name: 'many',
      text: `with recorded as (${insertAuditRows(2)}) insert into changed select unnest($1::text[])`,
    };
    const values = replica.log.valuesOf(someEntry({ actor: 'beside-one' }));
    expect(values).toHaveLength(AUDIT_PARAMETERS);
    await harness.statements.rows(one, ['x', ...values]);
    const entries = ['beside-many-1', 'beside-many-2'].map((actor) => someEntry({ actor }));
    await harness.statements.rows(many, [['y', 'z'], ...replica.log.valuesOfAll(entries)]);
    expect(await actors()).toEqual(
      expect.arrayContaining(['beside-one', 'beside-many-1', 'beside-many-2']),
    );
    expect(await harness.rows('select name from changed order by 1')).toHaveLength(3);
  });

  it('stores any input of an attacker, and is valid afterwards', async () => {
    const nasty = 'a\0b\ud800c"\\\'\u2028😀';
    const entry = someEntry({
      actor: nasty,
      subject: { type: 'user', id: nasty.repeat(500) },
      details: {
        [nasty]: nasty,
        ['__proto__']: { nasty },
        when: new Date(0),
        big: 10n,
        none: undefined,
      },
    });
    await harness.transactions.run(async (tx) => {
      await replica.log.record(tx, entry);
      await replica.log.recordAll(tx, [entry, entry]);
    });
    expect(
      (await actors()).filter((actor) => actor === 'a\ufffdb\ufffdc"\\\'\u2028😀'),
    ).toHaveLength(3);
    await replica.sealAll();
    expect(await replica.verify()).toMatchObject({ valid: true, unsealed: 0 });
  });
});
