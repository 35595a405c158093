import { createHash } from 'node:crypto';
import { AuditHarness, newKey, type Replica } from './audit-harness.js';
import { useStarted } from '../support/use-started.js';

const ROWS = 6;
const FORGED = '00000000-0000-7000-8000-000000000001';

/** A trail of six sealed rows, whose ids are `ids[0]` to `ids[5]`. */
describe('the verification of the audit trail', () => {
  const harness = useStarted(() => AuditHarness.open());
  let replica: Replica;
  let key: string;
  let ids: string[];

  beforeEach(async () => {
    await harness.clear();
    key = newKey();
    replica = harness.replica([key]);
    for (let row = 0; row < ROWS; row += 1) await harness.record(replica);
    await replica.sealAll();
    const seals = await harness.rows<{ audit_id: string }>(
      'select audit_id from audit_seals order by seq',
    );
    ids = seals.map(({ audit_id }) => audit_id);
  });

  /** Runs the statements with `$3` replaced by the id of the third row. */
  const tamper = (statements: readonly string[]) =>
    harness.tamper(
      ...statements.map((text) => text.replace(/\$(\d)/g, (_, n) => `'${ids[Number(n) - 1]}'`)),
    );

  it('accepts an unchanged trail, sealed or unsealed, and an empty trail', async () => {
    expect(await replica.verify()).toEqual({ valid: true, checked: ROWS, unsealed: 0 });
    await harness.record(replica);
    expect(await replica.verify()).toEqual({ valid: true, checked: ROWS, unsealed: 1 });
    await harness.clear();
    const stranger = harness.replica([key]);
    expect(await stranger.verify()).toEqual({ valid: true, checked: 0, unsealed: 0 });
  });

  const removed = 'delete from audit_log where id = $4';
  it.each<readonly [string, number, number, readonly string[]]>([
    ...[
      `actor = 'mallory'`,
      `action = 'incident.deleted'`,
      `subject_type = 'user'`,
      `subject_id = 'i-2'`,
      `at = at + interval '1 millisecond'`,
      `details = '{"severity":"low"}'`,
      `details = '{"severity": "high"}'`,
      `mac = decode(repeat('00', 32), 'hex')`,
      `key_id = 'deadbeef'`,
    ].map((change) => [change, 2, 3, [`update audit_log set ${change} where id = $3`]] as const),
    ['a removed row', 3, 4, [removed]],
    [
      'a row removed together with its seal',
      3,
      5,
      [removed, 'delete from audit_seals where audit_id = $4'],
    ],
    [
      'a removal hidden by new numbers',
      3,
      5,
      [
        removed,
        'delete from audit_seals where audit_id = $4',
        'update audit_seals set seq = -seq where seq > 4',
        'update audit_seals set seq = -seq - 1 where seq < 0',
        'update audit_chain set seq = seq - 1',
      ],
    ],
    [
      'two swapped seals',
      2,
      4,
      [
        'update audit_seals set seq = -3 where seq = 3',
        'update audit_seals set seq = 3 where seq = 4',
        'update audit_seals set seq = 4 where seq = -3',
      ],
    ],
    [
      'two swapped rows',
      2,
      3,
      [
        `update audit_log set id = '${FORGED}' where id = $3`,
        'update audit_log set id = $3 where id = $4',
        `update audit_log set id = $4 where id = '${FORGED}'`,
      ],
    ],
  ])('finds %s', async (_, checked, invalid, statements) => {
    await tamper(statements);
    const found = { valid: false, checked, first_invalid_id: ids[invalid - 1] };
    expect(await replica.verify()).toMatchObject(found);
  });

  it('finds an edited row that is not sealed yet', async () => {
    const id = await harness.record(replica);
    await harness.tamper(`update audit_log set actor = 'mallory' where id = '${id}'`);
    const found = { valid: false, checked: ROWS, unsealed: 1, first_invalid_id: id };
    expect(await replica.verify()).toEqual(found);
  });

  it('finds a row inserted without the key, sealed or not', async () => {
    await tamper([
      `insert into audit_log select '${FORGED}', at, 'mallory', action, subject_type, subject_id, details,
         pg_current_xact_id(), key_id, mac from audit_log where id = $1`,
    ]);
    const found = { valid: false, checked: ROWS, first_invalid_id: FORGED };
    expect(await replica.verify()).toEqual({ ...found, unsealed: 1 });
    await replica.sealAll();
    expect(await replica.verify()).toEqual({ ...found, unsealed: 0 });
  });

  it('finds a row without a seal if the sealer has already passed the row', async () => {
    const late = await harness.record(replica);
    await harness.tamper(`update audit_log set xid = '3' where id = '${late}'`);
    await harness.record(replica);
    await replica.sealAll();
    const found = { valid: false, checked: ROWS + 1, unsealed: 1, first_invalid_id: late };
    expect(await replica.verify()).toEqual(found);
  });

  it('finds a chain rebuilt without the key or with another key', async () => {
    await tamper([`update audit_log set actor = 'mallory' where id = $2`]);
    let hash = '';
    for (const [at, id] of ids.entries()) {
      hash = createHash('sha256')
        .update(`${hash}${at + 1}${id}`)
        .digest('hex');
      await harness.tamper(`update audit_seals set hash = '\\x${hash}' where seq = ${at + 1}`);
    }
    await harness.tamper(`update audit_chain set hash = '\\x${hash}'`);
    const found = { valid: false, checked: 0, first_invalid_id: ids[0] };
    expect(await replica.verify()).toMatchObject(found);
    await harness.tamper('truncate audit_chain, audit_seals');
    await harness.replica([newKey()]).sealAll();
    expect(await replica.verify()).toMatchObject(found);
  });

  describe('with a chain whose end was removed', () => {
    const cut = [
      'delete from audit_log where id = (select audit_id from audit_seals where seq = 6)',
      'delete from audit_seals where seq = 6',
    ];
    const setBack =
      'update audit_chain set seq = 5, hash = (select hash from audit_seals where seq = 5)';

    it.each([
      ['the head', [], 'its last seals were removed'],
      ['the MAC of a head that was set back', [setBack], 'its head was changed'],
      ['the missing head', ['delete from audit_chain'], ''],
    ])('finds the removal by %s, and the sealer does not continue', async (_, more, refusal) => {
      await harness.tamper(...cut, ...more);
      const found = { valid: false, head_rewound: true, checked: 5 };
      expect(await replica.verify()).toMatchObject({ ...found, unsealed: 0 });
      if (refusal === '') return;
      await harness.record(replica);
      await expect(harness.replica([key]).trail.sealPage()).rejects.toThrow(refusal);
      expect(await replica.verify()).toMatchObject({ valid: false, unsealed: 1 });
    });

    it('finds the removal of seals even if their rows remain', async () => {
      await harness.tamper(cut[1]!);
      const found = { valid: false, checked: 5, unsealed: 1, first_invalid_id: ids[5] };
      expect(await replica.verify()).toMatchObject({ ...found, head_rewound: true });
    });
  });

  it.each([
    [
      'seals added behind the head',
      `insert into audit_seals select 7, '${FORGED}', hash, key_id from audit_seals where seq = 6`,
      'seals were added',
    ],
    [
      'a head whose progress hides rows from the sealer',
      `update audit_chain set sealed_to = '900000:900000:'`,
      'its head was changed',
    ],
  ])('finds %s, and the sealer does not continue', async (_, statement, refusal) => {
    await harness.tamper(statement);
    expect(await replica.verify()).toMatchObject({ valid: false, checked: ROWS });
    await expect(replica.trail.sealPage()).rejects.toThrow(refusal);
  });

  it('reads rows and seals of configured keys only', async () => {
    const next = newKey();
    const rotated = harness.replica([next, key]);
    await harness.record(rotated);
    await harness.record(replica);
    await rotated.sealAll();
    await harness.record(replica);
    expect(await rotated.verify()).toEqual({ valid: true, checked: ROWS + 2, unsealed: 1 });
    const stranger = await harness.replica([next]).verify();
    expect(stranger).toMatchObject({ valid: false, first_invalid_id: ids[0] });
  });
});
