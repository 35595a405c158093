import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { acceptHead } from '../../src/audit/chain/audit-witness.js';
import { HEAD_ACCEPTED } from '../../src/audit/audit-entry.js';
import { AuditHarness, newKey, type Replica } from './audit-harness.js';
import { useStarted } from '../support/use-started.js';

const VALID = { valid: true, unsealed: 0 };

describe('the witness of the audit trail outside its database', () => {
  const key = newKey();
  const harness = useStarted(() => AuditHarness.open());
  let replica: Replica;
  let home: string;
  let anchorFile: string;

  // Most tests here provoke errors in the log of the service.
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(async () => {
    await harness.clear();
    home = mkdtempSync(join(tmpdir(), 'its-anchor-'));
    anchorFile = join(home, 'folder', 'anchor.json');
    replica = harness.replica([key], { anchorFile });
    await write(3);
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  async function write(rows: number, writer = replica): Promise<void> {
    for (let row = 0; row < rows; row += 1) await harness.record(writer);
    await writer.sealAll();
  }

  /** Returns a replica after the next start of the service, which has read the anchor file. */
  async function restarted(keys = [key]): Promise<Replica> {
    const next = harness.replica(keys, { anchorFile });
    await next.witness.load();
    return next;
  }

  const accept = () => acceptHead(harness.database.dataSource, replica.keys, 'a backup');

  describe('a trail rolled back to a genuine earlier state', () => {
    let putBack: () => Promise<void>;

    beforeEach(async () => {
      putBack = await harness.keepState();
      await write(2);
      await replica.witness.save();
      await putBack();
    });

    it('is found by a process that has seen the later state', async () => {
      expect(await replica.verify()).toMatchObject({
        valid: false,
        checked: 3,
        head_rewound: true,
      });
      await replica.sealAll();
      expect(replica.witness.rewound).toBe(true);
    });

    it('is found by the next start, which reads the anchor file', async () => {
      expect(await (await restarted()).verify()).toMatchObject({
        valid: false,
        head_rewound: true,
      });
      expect(await harness.replica([key]).verify()).toEqual({ ...VALID, checked: 3 });
    });

    it('is found after new entries have passed the head in the anchor file', async () => {
      const stranger = harness.replica([key]);
      await write(5, stranger);
      await replica.sealAll();
      await replica.witness.save();
      expect(await (await restarted()).verify()).toMatchObject({
        valid: false,
        checked: 8,
        head_rewound: true,
      });
      expect(await stranger.verify()).toEqual({ ...VALID, checked: 8 });
    });

    it('is found even if the trail is empty', async () => {
      await harness.tamper('truncate audit_log, audit_seals, audit_chain');
      expect(await (await restarted()).verify()).toEqual({
        valid: false,
        checked: 0,
        unsealed: 0,
        head_rewound: true,
      });
    });

    it('is valid again for all processes after it was accepted with the key', async () => {
      await replica.sealAll();
      await accept();
      for (const one of [replica, await restarted()]) {
        await one.sealAll();
        await one.witness.save();
        expect(one.witness.rewound).toBe(false);
        expect(await one.verify()).toEqual({ ...VALID, checked: 4 });
      }
      const [record] = await harness.rows(
        `select actor, action, details from audit_log where action = '${HEAD_ACCEPTED}'`,
      );
      expect(record).toEqual({
        actor: 'system',
        action: HEAD_ACCEPTED,
        details: { reason: 'a backup' },
      });
      await write(1);
      expect(await (await restarted()).verify()).toEqual({ ...VALID, checked: 5 });
    });

    it('stays invalid if the acceptance is signed with another key', async () => {
      await acceptHead(harness.database.dataSource, harness.replica([newKey()]).keys, 'forged');
      await replica.sealAll();
      expect(replica.witness.rewound).toBe(true);
      expect(await replica.verify()).toMatchObject({ valid: false });
    });
  });

  it('finds a trail that was rolled back to a state after an acceptance', async () => {
    await accept();
    await replica.sealAll();
    const putBack = await harness.keepState();
    await write(1);
    await replica.witness.save();
    await putBack();
    expect(await replica.verify()).toMatchObject({ valid: false, head_rewound: true });
    expect(await (await restarted()).verify()).toMatchObject({ valid: false, head_rewound: true });
  });

  describe('the anchor file', () => {
    it('is readable only for its owner, is replaced as a whole and contains the head', async () => {
      await replica.witness.save();
      const first = statSync(anchorFile);
      expect(first.mode & 0o777).toBe(0o600);
      await replica.witness.save();
      expect(statSync(anchorFile).ino).toBe(first.ino);
      await write(1);
      await replica.witness.save();
      expect(statSync(anchorFile).ino).not.toBe(first.ino);
      expect(JSON.parse(readFileSync(anchorFile, 'utf8'))).toMatchObject({ seq: '4' });
    });

    it.each([
      ['damaged', (text: string) => text.slice(0, 40)],
      ['changed', (text: string) => text.replace('"seq": "3"', '"seq": "2"')],
      ['empty', () => ''],
    ])('is reported and kept for inspection if it is %s', async (_, change) => {
      await replica.witness.save();
      const spoilt = change(readFileSync(anchorFile, 'utf8'));
      writeFileSync(anchorFile, spoilt);
      const next = await restarted();
      await next.sealAll();
      await next.witness.save();
      expect(next.witness.fault).toContain(anchorFile);
      expect(readFileSync(anchorFile, 'utf8')).toBe(spoilt);
      expect(await next.verify()).toEqual({ ...VALID, checked: 3 });
      rmSync(anchorFile);
      await next.witness.save();
      expect(next.witness.fault).toBeUndefined();
    });

    it('is rejected by a process without its key, and accepted by a process that has its key as an old key', async () => {
      await replica.witness.save();
      const stranger = await restarted([newKey()]);
      await stranger.witness.save();
      expect(stranger.witness.fault).toContain('SECRETS_KEY');
      const rotated = await restarted([newKey(), key]);
      await rotated.witness.save();
      expect(rotated.witness.fault).toBeUndefined();
      expect(rotated.witness.head.seq).toBe(3n);
    });

    it('is not replaced by a process with another key until the trail is accepted with that key', async () => {
      await replica.witness.save();
      const oldFile = readFileSync(anchorFile, 'utf8');
      await harness.clear();
      const next = newKey();
      const other = await restarted([next]);
      await other.witness.save();
      expect(readFileSync(anchorFile, 'utf8')).toBe(oldFile);

      await acceptHead(harness.database.dataSource, other.keys, 'the key is lost');
      const after = await restarted([next]);
      await after.sealAll();
      await after.witness.save();
      expect(after.witness.fault).toBeUndefined();
      expect(JSON.parse(readFileSync(anchorFile, 'utf8'))).toMatchObject({ seq: '1' });
      await harness.clear();
      expect(await (await restarted([next])).verify()).toMatchObject({ head_rewound: true });
    });

    it('is signed with the new key by a key rotation, and still reveals a trail that was rolled back', async () => {
      const putBack = await harness.keepState();
      await write(2);
      await replica.witness.save();
      const next = newKey();
      await harness.reseal([next, key], anchorFile);
      await putBack();
      const alone = await restarted([next]);
      expect(alone.witness.head.seq).toBe(5n);
      expect(await alone.verify()).toMatchObject({ valid: false, head_rewound: true });
      await alone.witness.save();
      expect(alone.witness.fault).toBeUndefined();
    });

    it('prevents a key rotation if the trail was rolled back', async () => {
      const putBack = await harness.keepState();
      await write(2);
      await replica.witness.save();
      await putBack();
      const rotation = harness.reseal([newKey(), key], anchorFile);
      await expect(rotation).rejects.toThrow('The audit trail was altered: see');
    });

    it('is neither created nor trusted by a rotation if it is missing or damaged', async () => {
      await harness.reseal([key], anchorFile);
      expect(existsSync(anchorFile)).toBe(false);
      await replica.witness.save();
      writeFileSync(anchorFile, 'spoilt');
      await harness.reseal([key], anchorFile);
      expect(readFileSync(anchorFile, 'utf8')).toBe('spoilt');
    });

    it('is reported if it cannot be written, and the service continues', async () => {
      writeFileSync(join(home, 'folder'), 'a file where the folder should be');
      await replica.witness.save();
      expect(replica.witness.fault).toContain(anchorFile);
      await write(1);
      rmSync(join(home, 'folder'));
      await replica.witness.save();
      expect(replica.witness.fault).toBeUndefined();
    });

    it('is updated by the process with the newest head, and never rolled back', async () => {
      const other = harness.replica([key], { anchorFile });
      await other.sealAll();
      await write(2);
      await replica.witness.save();
      await other.witness.save();
      expect(other.witness.head.seq).toBe(5n);
      expect(JSON.parse(readFileSync(anchorFile, 'utf8'))).toMatchObject({ seq: '5' });
    });
  });
});
