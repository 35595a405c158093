import { Logger } from '@nestjs/common';
import { acceptHead } from '../../src/audit/chain/audit-witness.js';
import { AuditResealing } from '../../src/audit/chain/audit-resealing.js';
import { AuditHarness, newKey, type Replica } from './audit-harness.js';
import { useStarted } from '../support/use-started.js';

/** Two pages and a part of a third. */
const ROWS = 1_203;

describe('resealing the audit trail', () => {
  const harness = useStarted(() => AuditHarness.open());
  let old: string;
  let next: string;

  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(async () => {
    await harness.clear();
    [old, next] = [newKey(), newKey()];
    const replica = harness.replica([old]);
    await record(replica, ROWS);
    await replica.sealAll();
  });

  const record = async (replica: Replica, count: number): Promise<void> => {
    const entry = { actor: 'alice', action: 'incident.created' } as const;
    const entries = Array.from({ length: count }, (_, n) => ({
      ...entry,
      subject: { type: 'incident', id: `i-${n}` },
    }));
    await harness.transactions.run((tx) => replica.log.record(tx, ...entries));
  };
  const reseal = (replica: Replica) =>
    new AuditResealing(harness.database.dataSource, replica.keys).run();
  const idAt = async (seq: number): Promise<string> => {
    const [row] = await harness.rows<{ audit_id: string }>(
      `select audit_id from audit_seals where seq = ${seq}`,
    );
    return row!.audit_id;
  };

  it('keeps an accepted trail accepted after the key of the acceptance is gone', async () => {
    const writer = harness.replica([old]);
    const putBack = await harness.keepState();
    await record(writer, 1);
    await writer.sealAll();
    await putBack();
    await writer.sealAll();
    await acceptHead(harness.database.dataSource, writer.keys, 'a backup');
    await writer.sealAll();
    await reseal(harness.replica([next, old]));
    const alone = harness.replica([next]);
    await alone.sealAll();
    expect(alone.witness.acceptedAt).toBeGreaterThan(0);
    expect(await alone.verify()).toMatchObject({ valid: true });
  });

  it('verifies everything with the newest key alone, after each rotation', async () => {
    const rotated = harness.replica([next, old]);
    // Written under the old key, and not sealed yet.
    await record(harness.replica([old]), 2);
    await record(rotated, 5);
    expect(await reseal(rotated)).toBe(ROWS + 2);
    const alone = harness.replica([next]);
    expect(await alone.verify()).toEqual({ valid: true, checked: ROWS + 7, unsealed: 0 });
    expect(await rotated.verify()).toMatchObject({ valid: true });
    expect(await harness.replica([old]).verify()).toMatchObject({ valid: false });

    await record(alone, 400);
    await alone.sealAll();
    expect(await alone.verify()).toEqual({ valid: true, checked: ROWS + 407, unsealed: 0 });
    const third = newKey();
    expect(await reseal(harness.replica([third, next]))).toBe(ROWS + 407);
    expect(await harness.replica([third]).verify()).toEqual({
      valid: true,
      checked: ROWS + 407,
      unsealed: 0,
    });
  });

  it('gives the same result when it is repeated, and continues after an interruption', async () => {
    const rotated = harness.replica([next, old]);
    const first = await reseal(rotated);
    await harness.rows('delete from audit_attestations where first_seq > 500');
    expect(await harness.replica([next]).verify()).toMatchObject({ valid: false, checked: 500 });
    const before = await harness.rows('select xmin::text from audit_attestations');
    expect(await reseal(rotated)).toBe(first);
    expect(await harness.replica([next]).verify()).toMatchObject({ valid: true });
    // What was done already is not written again.
    expect(
      await harness.rows('select xmin::text from audit_attestations where first_seq = 1'),
    ).toEqual(before);
  });

  it.each([
    ['an edited row', (id: string) => `update audit_log set actor = 'mallory' where id = '${id}'`],
    ['a removed row', (id: string) => `delete from audit_log where id = '${id}'`],
    [
      'an edited MAC',
      (id: string) =>
        `update audit_log set mac = decode(repeat('00', 32), 'hex') where id = '${id}'`,
    ],
    [
      'an edited seal',
      (id: string) =>
        `update audit_seals set hash = decode(repeat('00', 32), 'hex') where audit_id = '${id}'`,
    ],
    [
      'another key id',
      (id: string) => `update audit_seals set key_id = 'deadbeef' where audit_id = '${id}'`,
    ],
  ])('finds %s with the newest key alone, and does not attest it', async (_, change) => {
    const id = await idAt(700);
    const rotated = harness.replica([next, old]);
    await reseal(rotated);
    await harness.tamper(change(id));
    const found = { valid: false, checked: 699, first_invalid_id: id };
    expect(await harness.replica([next]).verify()).toMatchObject(found);
    await harness.rows('delete from audit_attestations');
    await expect(reseal(rotated)).rejects.toThrow(
      /^(The audit trail was altered at|SECRETS_KEY does not contain the key deadbeef)/,
    );
    expect(await rotated.verify()).toMatchObject(found);
  });

  it('finds swapped attestations, and needs the old key for missing attestations', async () => {
    const rotated = harness.replica([next, old]);
    await reseal(rotated);
    await harness.rows(`update audit_attestations a set macs = b.macs from audit_attestations b
      where a.first_seq in (1, 501) and b.first_seq in (1, 501) and a.first_seq <> b.first_seq`);
    expect(await harness.replica([next]).verify()).toMatchObject({ valid: false, checked: 0 });
    await harness.rows('delete from audit_attestations');
    expect(await rotated.verify()).toMatchObject({ valid: true, checked: ROWS });
    expect(await harness.replica([next]).verify()).toMatchObject({ valid: false, checked: 0 });
  });
});
