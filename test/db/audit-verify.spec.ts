import { createHash } from 'node:crypto';
import { AuditHarness, newKey, type Replica, someEntry } from './audit-harness.js';

const ROWS = 6;

describe('the verification of the audit trail', () => {
  let harness: AuditHarness;
  let replica: Replica;
  let key: string;
  let ids: string[];

  beforeEach(async () => {
    harness = await AuditHarness.open();
    key = newKey();
    replica = harness.replica([key]);
    for (let row = 0; row < ROWS; row += 1) await harness.record(replica);
    await replica.sealAll();
    const seals = await harness.rows<{ audit_id: string }>(
      'select audit_id from audit_seals order by seq',
    );
    ids = seals.map(({ audit_id }) => audit_id);
  });
  afterEach(() => harness.database.close());

  it('accepts an untouched trail', async () => {
    expect(await replica.verify()).toEqual({ valid: true, checked: ROWS, unsealed: 0 });
    await harness.record(replica);
    expect(await replica.verify()).toEqual({ valid: true, checked: ROWS, unsealed: 1 });
  });

  it('accepts an empty trail', async () => {
    const empty = await AuditHarness.open();
    expect(await empty.replica([key]).verify()).toEqual({ valid: true, checked: 0, unsealed: 0 });
    await empty.database.close();
  });

  it.each([
    [`actor = 'mallory'`],
    [`action = 'incident.deleted'`],
    [`subject_type = 'user'`],
    [`subject_id = 'i-2'`],
    [`at = at + interval '1 millisecond'`],
    [`details = '{"severity":"low"}'`],
    [`details = '{"severity": "high"}'`],
    [`mac = decode(repeat('00', 32), 'hex')`],
    [`key_id = 'deadbeef'`],
  ])('finds a row with an edited column: %s', async (assignment) => {
    await harness.tamper(`update audit_log set ${assignment} where id = '${ids[2]}'`);
    expect(await replica.verify()).toEqual({
      valid: false,
      checked: 2,
      unsealed: 0,
      first_invalid_id: ids[2],
    });
  });

  it('finds an edited row that is not sealed yet', async () => {
    const id = await harness.record(replica);
    await harness.tamper(`update audit_log set actor = 'mallory' where id = '${id}'`);
    expect(await replica.verify()).toEqual({
      valid: false,
      checked: ROWS,
      unsealed: 1,
      first_invalid_id: id,
    });
  });

  it('finds a removed row by its seal', async () => {
    await harness.tamper(`delete from audit_log where id = '${ids[3]}'`);
    expect(await replica.verify()).toEqual({
      valid: false,
      checked: 3,
      unsealed: 0,
      first_invalid_id: ids[3],
    });
  });

  it('finds a row removed together with its seal', async () => {
    await harness.tamper(
      `delete from audit_log where id = '${ids[3]}'`,
      `delete from audit_seals where audit_id = '${ids[3]}'`,
    );
    expect(await replica.verify()).toMatchObject({
      valid: false,
      checked: 3,
      first_invalid_id: ids[4],
    });
  });

  it('finds a removal that was hidden by renumbering', async () => {
    await harness.tamper(
      `delete from audit_log where id = '${ids[3]}'`,
      `delete from audit_seals where audit_id = '${ids[3]}'`,
      'update audit_seals set seq = -seq where seq > 4',
      'update audit_seals set seq = -seq - 1 where seq < 0',
      'update audit_chain set seq = seq - 1',
    );
    expect(await replica.verify()).toMatchObject({
      valid: false,
      checked: 3,
      first_invalid_id: ids[4],
    });
  });

  it('finds a row inserted without the key, sealed or not', async () => {
    const forged = '00000000-0000-7000-8000-000000000001';
    await harness.tamper(
      `insert into audit_log select '${forged}', at, 'mallory', action, subject_type, subject_id, details,
         pg_current_xact_id(), key_id, mac from audit_log where id = '${ids[0]}'`,
    );
    const found = { valid: false, checked: ROWS, first_invalid_id: forged };
    expect(await replica.verify()).toEqual({ ...found, unsealed: 1 });
    await replica.sealAll();
    expect(await replica.verify()).toEqual({ ...found, unsealed: 0 });
  });

  it('finds a row without a seal behind the point that the sealer has passed', async () => {
    const late = await harness.record(replica);
    await harness.tamper(`update audit_log set xid = '3' where id = '${late}'`);
    await harness.record(replica);
    await replica.sealAll();
    expect(await replica.verify()).toEqual({
      valid: false,
      checked: ROWS + 1,
      unsealed: 1,
      first_invalid_id: late,
    });
  });

  it('finds two swapped seals', async () => {
    await harness.tamper(
      `update audit_seals set seq = -3 where seq = 3`,
      `update audit_seals set seq = 3 where seq = 4`,
      `update audit_seals set seq = 4 where seq = -3`,
    );
    expect(await replica.verify()).toMatchObject({
      valid: false,
      checked: 2,
      first_invalid_id: ids[3],
    });
  });

  it('finds two swapped rows', async () => {
    await harness.tamper(
      `update audit_log set id = '${ids[2]!.replace(/^./, 'f')}' where id = '${ids[2]}'`,
      `update audit_log set id = '${ids[2]}' where id = '${ids[3]}'`,
      `update audit_log set id = '${ids[3]}' where id = '${ids[2]!.replace(/^./, 'f')}'`,
    );
    expect(await replica.verify()).toMatchObject({
      valid: false,
      checked: 2,
      first_invalid_id: ids[2],
    });
  });

  it('finds a chain rebuilt without the key, even with the right lengths and links', async () => {
    await harness.tamper(`update audit_log set actor = 'mallory' where id = '${ids[1]}'`);
    const seals = await harness.rows<{ seq: string; audit_id: string }>(
      'select seq, audit_id from audit_seals order by seq',
    );
    let hash = '';
    for (const { seq, audit_id } of seals) {
      hash = createHash('sha256').update(`${hash}${seq}${audit_id}`).digest('hex');
      await harness.tamper(`update audit_seals set hash = '\\x${hash}' where seq = ${seq}`);
    }
    await harness.tamper(`update audit_chain set hash = '\\x${hash}'`);
    expect(await replica.verify()).toMatchObject({
      valid: false,
      checked: 0,
      first_invalid_id: ids[0],
    });
  });

  it('finds a chain rebuilt with another key', async () => {
    await harness.tamper('truncate audit_chain, audit_seals');
    await harness.replica([newKey()]).sealAll();
    expect(await replica.verify()).toMatchObject({
      valid: false,
      checked: 0,
      first_invalid_id: ids[0],
    });
  });

  describe('a shortened chain', () => {
    const cut = [
      'delete from audit_log where id = (select audit_id from audit_seals where seq = 6)',
      'delete from audit_seals where seq = 6',
    ];
    const CUT = { valid: false, head_rewound: true, missing: 1 };
    const headBack = `update audit_chain set seq = 5, hash = (select hash from audit_seals where seq = 5)`;

    it('is found by the head', async () => {
      await harness.tamper(...cut);
      expect(await replica.verify()).toEqual({ ...CUT, checked: 5, unsealed: 0 });
      await expect(replica.sealer.sealPage()).rejects.toThrow('its last seals were removed');
    });

    it('is found by the MAC of a head that was set back', async () => {
      await harness.tamper(...cut, headBack);
      expect(await replica.verify()).toEqual({ ...CUT, checked: 5, unsealed: 0 });
    });

    it('is found by the missing head', async () => {
      await harness.tamper(...cut, 'delete from audit_chain');
      expect(await replica.verify()).toEqual({ ...CUT, checked: 5, unsealed: 0 });
    });

    it('is not continued, because that would sign the tampering', async () => {
      await harness.tamper(...cut, headBack);
      await harness.record(replica);
      await expect(harness.replica([key]).sealer.sealPage()).rejects.toThrow(
        'its head was changed',
      );
      expect(await replica.verify()).toMatchObject({ valid: false, unsealed: 1 });
    });

    it('is found if its rows remain', async () => {
      await harness.tamper(cut[1]!);
      expect(await replica.verify()).toEqual({
        valid: false,
        head_rewound: true,
        checked: 5,
        unsealed: 1,
        first_invalid_id: ids[5],
      });
    });
  });

  it('finds seals added behind the head', async () => {
    await harness.tamper(
      `insert into audit_seals select 7, '${ids[0]!.replace(/^./, 'f')}', hash, key_id from audit_seals where seq = 6`,
    );
    expect(await replica.verify()).toMatchObject({ valid: false, checked: ROWS });
    await expect(replica.sealer.sealPage()).rejects.toThrow('seals were added');
  });

  it('finds a head whose progress was set forward to hide rows from the sealer', async () => {
    await harness.tamper(`update audit_chain set sealed_to = '900000:900000:'`);
    expect(await replica.verify()).toMatchObject({ valid: false, checked: ROWS });
    await expect(replica.sealer.sealPage()).rejects.toThrow('its head was changed');
  });

  it('reads rows and seals of configured keys only', async () => {
    const next = newKey();
    const rotated = harness.replica([next, key]);
    await harness.record(rotated);
    await harness.record(replica);
    await rotated.sealAll();
    await harness.record(replica, someEntry());
    expect(await rotated.verify()).toEqual({ valid: true, checked: ROWS + 2, unsealed: 1 });
    const [used] = await harness.rows(
      'select count(distinct key_id)::int as keys from audit_seals',
    );
    expect(used).toEqual({ keys: 2 });
    expect(await harness.replica([next]).verify()).toMatchObject({
      valid: false,
      first_invalid_id: ids[0],
    });
  });
});
