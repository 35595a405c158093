import { Logger } from '@nestjs/common';
import type { AuditRow } from '../../src/audit/audit-entry.js';
import { nextSeal, type SealedPoint } from '../../src/audit/chain/audit-chain.js';
import { acceptHead } from '../../src/audit/chain/audit-witness.js';
import { AuditHarness, newKey, type Replica } from './audit-harness.js';
import { useStarted } from '../support/use-started.js';

/** Two full pages, and a part of a third page. */
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
  const reseal = (secretsKey: readonly string[]) => harness.reseal(secretsKey);
  const idAt = async (seq: number): Promise<string> => {
    const [row] = await harness.rows<{ audit_id: string }>(
      `select audit_id from audit_seals where seq = ${seq}`,
    );
    return row!.audit_id;
  };

  it('keeps a trail accepted after the removal of the key that signed its acceptance', async () => {
    const writer = harness.replica([old]);
    const putBack = await harness.keepState();
    await record(writer, 1);
    await writer.sealAll();
    await putBack();
    await writer.sealAll();
    await acceptHead(harness.database.dataSource, writer.keys, 'a backup');
    await writer.sealAll();
    await reseal([next, old]);
    const alone = harness.replica([next]);
    await alone.sealAll();
    expect(alone.witness.acceptedAt).toBeGreaterThan(0);
    expect(await alone.verify()).toMatchObject({ valid: true });
  });

  it('verifies the whole trail with the newest key alone, after each rotation', async () => {
    // Adds a row of the old key that is not sealed yet.
    await record(harness.replica([old]), 2);
    await record(harness.replica([next, old]), 5);
    expect(await reseal([next, old])).toBe(ROWS + 7);
    const alone = harness.replica([next]);
    const all = { valid: true, checked: ROWS + 7, unsealed: 0 };
    for (const one of [alone, harness.replica([next, old])])
      expect(await one.verify()).toEqual(all);
    expect(await harness.replica([old]).verify()).toMatchObject({ valid: false });

    await record(alone, 400);
    await alone.sealAll();
    const third = newKey();
    expect(await reseal([third, next])).toBe(ROWS + 407);
    expect(await reseal([third, next])).toBe(ROWS + 407);
    expect(await harness.replica([third]).verify()).toEqual({ ...all, checked: ROWS + 407 });
  });

  it('rejects entries that a retired key signs after its retirement', async () => {
    await reseal([next, old]);
    const thief = harness.replica([old]);
    const alone = harness.replica([next]);
    const id = await harness.record(thief);
    const found = { valid: false, checked: ROWS, first_invalid_id: id };
    expect(await alone.verify()).toMatchObject({ ...found, unsealed: 1 });
    await alone.sealAll();
    expect(await alone.verify()).toMatchObject({ ...found, unsealed: 0 });
  });

  it('rejects seals that a retired key creates after its retirement', async () => {
    await reseal([next, old]);
    const alone = harness.replica([next]);
    const id = await harness.record(alone);
    await alone.sealAll();
    const [last] = await harness.rows<SealedPoint>(
      `select seq, hash from audit_seals where seq = ${ROWS}`,
    );
    const [row] = await harness.rows<AuditRow>(`select * from audit_log where id = '${id}'`);
    const named = harness.replica([old]).keys.ring.first;
    const { hash } = nextSeal(named.key, { ...last!, seq: BigInt(ROWS) }, row!);
    const forged = `hash = decode('${hash.toString('hex')}', 'hex'), key_id = '${named.id}'`;
    await harness.tamper(`update audit_seals set ${forged} where audit_id = '${id}'`);
    expect(await alone.verify()).toMatchObject({
      valid: false,
      checked: ROWS,
      first_invalid_id: id,
    });
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
  ])('finds %s with the newest key alone, and then refuses to reseal', async (_, change) => {
    const id = await idAt(700);
    await reseal([next, old]);
    await harness.tamper(change(id));
    const found = { valid: false, checked: 699, first_invalid_id: id };
    expect(await harness.replica([next]).verify()).toMatchObject(found);
    await expect(reseal([next, old])).rejects.toThrow(`The audit trail was altered at ${id}`);
  });

  it('needs the old key if the encrypted copy of this key was removed or altered', async () => {
    await reseal([next, old]);
    const invalid = { valid: false, checked: 0 };
    await harness.rows(
      `update audit_retired_keys set sealed = overlay(sealed placing 'xxxx' from 30)`,
    );
    expect(await harness.replica([next]).verify()).toMatchObject(invalid);
    await harness.rows('delete from audit_retired_keys');
    expect(await harness.replica([next]).verify()).toMatchObject(invalid);
    const rotated = harness.replica([next, old]);
    expect(await rotated.verify()).toMatchObject({ valid: true, checked: ROWS });
  });
});
