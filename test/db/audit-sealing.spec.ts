import { setTimeout as sleep } from 'node:timers/promises';
import {
  AuditChainRepository,
  BEYOND_SNAPSHOT,
  PAGE_ROWS,
} from '../../src/audit/chain/audit-chain.repository.js';
import { insertAuditRows } from '../../src/audit/audit-log.js';
import { signHead } from '../../src/audit/chain/audit-chain.js';
import { AuditHarness, newKey, type Replica, someEntry } from './audit-harness.js';
import { useStarted } from '../support/use-started.js';

const key = newKey();

describe('the sealing of the audit trail', () => {
  const harness = useStarted(() => AuditHarness.open());
  let replica: Replica;

  beforeEach(async () => {
    await harness.clear();
    replica = harness.replica([key]);
  });

  const backlog = async (rows: number): Promise<void> => {
    const entries = Array.from({ length: rows }, () => someEntry());
    await harness.transactions.run((tx) => replica.log.record(tx, ...entries));
  };

  it('finds every committed row once, while writers commit late or not at all and two sealers compete', async () => {
    let committed = 0;
    let writing = true;
    const writer = async (number: number): Promise<void> => {
      for (let round = 0; round < 25; round += 1) {
        const outcome = harness.transactions.run(async (tx) => {
          await replica.log.record(tx, someEntry({ actor: `writer-${number}` }));
          await sleep(Math.random() < 0.1 ? 150 : Math.random() * 4);
          if (Math.random() < 0.2) throw new Error('rolled back');
          await replica.log.record(tx, someEntry(), someEntry());
        });
        await outcome.then(() => (committed += 3)).catch(() => undefined);
      }
    };
    const rival = harness.replica([key]);
    const sealing = async ({ trail }: Replica): Promise<void> => {
      while (writing) {
        await trail.sealPage();
        await sleep(Math.random() * 5);
      }
    };
    const sealers = [replica, rival].map(sealing);
    await Promise.all(Array.from({ length: 12 }, (_, number) => writer(number)));
    writing = false;
    await Promise.all(sealers);
    const [before] = await harness.rows<{ seals: number }>(
      'select count(*)::int as seals from audit_seals',
    );
    expect(before!.seals).toBeGreaterThan(committed / 2);
    await replica.sealAll();
    await harness.expectEverythingSealedOnce(committed);
    expect(await rival.verify()).toEqual({ valid: true, checked: committed, unsealed: 0 });
  });

  it('finds the row of the first transaction that the last snapshot did not see', async () => {
    const id = await harness.record(replica);
    const [row] = await harness.rows<{ xid: string }>('select xid::text as xid from audit_log');
    // In a snapshot `xmin:xmax:running`, xmax is the first transaction that the snapshot does not see.
    const snapshotBefore = `${row!.xid}:${row!.xid}:`;
    const next = BigInt(row!.xid) + 1n;
    const snapshotAfter = `${next}:${next}:`;
    const pageAfter = async (sealedTo: string) =>
      await harness.transactions.run((tx) => replica.chain.unsealedPage(tx, sealedTo));
    expect(await pageAfter(snapshotBefore)).toMatchObject([{ id }]);
    expect(await pageAfter(snapshotAfter)).toEqual([]);
  });

  it('continues during an open transaction, and seals the row of that transaction after its commit', async () => {
    await harness.asOwner(async (slow) => {
      await slow.query('begin');
      await slow.query('select pg_current_xact_id()');
      const values = replica.log.valuesOfAll([someEntry({ actor: 'slow' })]);
      await slow.query(insertAuditRows(), values);
      for (let sealed = 1; sealed <= 3; sealed += 1) {
        await harness.record(replica);
        await replica.sealAll();
        await harness.expectEverythingSealedOnce(sealed);
      }
      await slow.query('commit');
    });
    expect(await replica.verify()).toMatchObject({ valid: true, unsealed: 1 });
    await replica.sealAll();
    await harness.expectEverythingSealedOnce(4);
    expect(await replica.verify()).toEqual({ valid: true, checked: 4, unsealed: 0 });
  });

  it('seals a long backlog in pages, which another replica may continue', async () => {
    await backlog(PAGE_ROWS + 10);
    await replica.sealAll();
    await backlog(2 * PAGE_ROWS + 10);
    expect(await replica.trail.sealPage()).toBe('more');
    await harness.record(replica);
    const other = harness.replica([key]);
    expect(await other.trail.sealPage()).toBe('more');
    expect(await replica.trail.sealPage()).toBe('done');
    await other.sealAll();
    await harness.expectEverythingSealedOnce(3 * PAGE_ROWS + 21);
    expect(await other.verify()).toMatchObject({ valid: true, checked: 3 * PAGE_ROWS + 21 });
  });

  it('rolls back if its connection ends after the write of the head and before the write of the seals', async () => {
    class Dying extends AuditChainRepository {
      override insertSeals: AuditChainRepository['insertSeals'] = async (tx) => {
        const [me] = await tx.query<{ pid: number }[]>('select pg_backend_pid() as pid');
        await harness.asOwner((owner) => owner.query('select pg_terminate_backend($1)', [me!.pid]));
        await tx.query('select 1');
      };
    }
    await backlog(5);
    const dying = harness.replica([key], { chain: new Dying() });
    await expect(dying.trail.sealPage()).rejects.toThrow();
    expect(await replica.verify()).toEqual({ valid: true, checked: 0, unsealed: 5 });
    await replica.sealAll();
    await harness.expectEverythingSealedOnce(5);
  });

  it('lets one sealer work at a time, without waiting', async () => {
    await harness.record(replica);
    await replica.sealAll();
    await harness.record(replica);
    await harness.transactions.run(async (tx) => {
      expect(await replica.chain.lockHead(tx)).toBe(true);
      expect(await replica.trail.sealPage()).toBe('elsewhere');
    });
    expect(await replica.trail.sealPage()).toBe('done');
  });

  it('reports how many rows are unsealed and the age of the oldest', async () => {
    const late = Date.now() - 90_000;
    const past = harness.replica([key], { clock: { now: () => new Date(late) } });
    const { manager } = harness.database.dataSource;
    await harness.record(past);
    await harness.record(replica);
    const { unsealed, oldest_unsealed_seconds: age } = await replica.chain.backlog(manager);
    expect(unsealed).toBe(2);
    expect(age).toBeGreaterThanOrEqual(90);
    await replica.sealAll();
    const nothing = { unsealed: 0, oldest_unsealed_seconds: 0 };
    expect(await replica.chain.backlog(manager)).toEqual(nothing);
  });

  it('writes nothing if there is nothing to seal', async () => {
    await replica.sealAll();
    expect(await harness.rows('select from audit_chain')).toHaveLength(0);
    await harness.record(replica);
    await replica.sealAll();
    const head = 'select xmin::text, seq::text from audit_chain';
    const before = await harness.rows(head);
    await replica.sealAll();
    expect(await harness.rows(head)).toEqual(before);
  });

  it.each([
    ['a cluster of another identity', 'another', 0n],
    ['a cluster that counts transactions from the start again', undefined, 1_000_000_000n],
  ])('continues after a restore into %s', async (_, cluster, shift) => {
    await backlog(5);
    await replica.sealAll();
    await backlog(3);
    await restoredWith(cluster, shift);
    await harness.record(replica);
    expect(await replica.verify()).toEqual({ valid: true, checked: 5, unsealed: 4 });
    const restarted = harness.replica([key]);
    await restarted.sealAll();
    await harness.expectEverythingSealedOnce(9);
    await harness.record(restarted);
    await restarted.sealAll();
    await harness.expectEverythingSealedOnce(10);
    expect(await restarted.verify()).toEqual({ valid: true, checked: 10, unsealed: 0 });
  });

  it('notices a restore even if the new cluster has reached the old transaction ids', async () => {
    await backlog(3);
    await replica.sealAll();
    await restoredWith('another', 20n);
    for (let row = 0; row < 30; row += 1) await harness.record(replica);
    const restarted = harness.replica([key]);
    await restarted.sealAll();
    await harness.expectEverythingSealedOnce(33);
    expect(await restarted.verify()).toMatchObject({ valid: true, checked: 33 });
  });

  it('reads the rows of a backup only once, even if their transaction ids are in the future', async () => {
    await backlog(3);
    await replica.sealAll();
    await restoredWith('another', 1_000_000_000n);
    await replica.sealAll();
    const { manager } = harness.database.dataSource;
    const { head } = await replica.chain.readEnd(manager);
    const read = `select id from audit_log a where ${BEYOND_SNAPSHOT}`;
    expect(await manager.query(read, [head!.sealed_to])).toEqual([]);
    const id = await harness.record(replica);
    expect(await manager.query(read, [head!.sealed_to])).toEqual([{ id }]);
  });

  /** Changes the tables as if a dump had been restored into another cluster, with the old ids and snapshots. */
  async function restoredWith(cluster: string | undefined, shift: bigint): Promise<void> {
    const { head } = await replica.chain.readEnd(harness.database.dataSource.manager);
    const shifted = head!.sealed_to!.replace(/\d+/g, (xid) => String(BigInt(xid) + shift));
    const old = { ...head!, cluster: cluster ?? head!.cluster, sealed_to: shifted };
    const { mac } = signHead(replica.keys.ring.first, head!, old);
    await harness.tamper(
      `update audit_log set xid = (xid::text::bigint + ${shift})::text::xid8`,
      `update audit_chain set cluster = '${old.cluster}', sealed_to = '${shifted}', mac = '\\x${mac.toString('hex')}'`,
    );
  }
});
