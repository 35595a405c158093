import { AUDIT_PARAMETERS, insertAuditRows } from '../../src/audit/audit-log.js';
import { Clock } from '../../src/platform/clock.js';
import { AuditHarness, newKey, type Replica, someEntry } from './audit-harness.js';
import { useStarted } from '../support/use-started.js';

class SetClock extends Clock {
  time = Date.parse('2026-03-01T00:00:00.000Z');
  override now(): Date {
    return new Date(this.time);
  }
}

describe('the audit trail', () => {
  const harness = useStarted(() => AuditHarness.open());
  let replica: Replica;
  const clock = new SetClock();
  const start = clock.time;
  const at = (time: number) => new Date(time).toISOString();

  beforeAll(() => {
    replica = harness.replica([newKey()]);
  });

  describe('with a record', () => {
    const actors = async (): Promise<string[]> =>
      (await harness.rows<{ actor: string }>('select actor from audit_log order by id')).map(
        ({ actor }) => actor,
      );

    it('writes the record in the transaction of the change', async () => {
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

    it('writes several records in one statement, and needs no statement without records', async () => {
      await harness.transactions.run(async (tx) => {
        await replica.log.record(tx);
        const entries = ['many-1', 'many-2'].map((actor) => someEntry({ actor }));
        await replica.log.record(tx, ...entries);
      });
      expect(await actors()).toEqual(expect.arrayContaining(['many-1', 'many-2']));
    });

    it('can write the record in the statement of the change', async () => {
      await harness.rows('create table changed (name text)');
      const many = {
        name: 'many',
        text: `with recorded as (${insertAuditRows(2)}) insert into changed select unnest($1::text[])`,
      };
      const entries = ['beside-1', 'beside-2'].map((actor) => someEntry({ actor }));
      const values = replica.log.valuesOfAll(entries);
      expect(values).toHaveLength(AUDIT_PARAMETERS);
      await harness.statements.rows(many, [['y', 'z'], ...values]);
      expect(await actors()).toEqual(expect.arrayContaining(['beside-1', 'beside-2']));
      expect(await harness.rows('select name from changed order by 1')).toHaveLength(2);
    });

    it('stores any input of an attacker, and stays valid', async () => {
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
        await replica.log.record(tx, entry, entry);
      });
      expect(
        (await actors()).filter((actor) => actor === 'a\ufffdb\ufffdc"\\\'\u2028😀'),
      ).toHaveLength(3);
      await replica.sealAll();
      expect(await replica.verify()).toMatchObject({ valid: true, unsealed: 0 });
    });
  });

  describe('with append-only tables', () => {
    beforeAll(async () => {
      await harness.clear();
      replica = harness.replica([newKey()]);
      await harness.record(replica);
      await replica.sealAll();
    });

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
    ])('rejects even for the owner: %s', async (statement, message) => {
      await harness.asOwner(async (owner) => {
        await expect(owner.query(statement)).rejects.toThrow(message);
      });
      await harness.expectEverythingSealedOnce(1);
    });

    it('allows only one head of the chain', async () => {
      await harness.asOwner(async (owner) => {
        await expect(
          owner.query(`insert into audit_chain (only_row, seq, hash, cluster, key_id, mac)
                       select false, seq, hash, cluster, key_id, mac from audit_chain`),
        ).rejects.toThrow('ck_audit_chain_only_row');
      });
    });
  });

  describe('with a list of entries', () => {
    beforeAll(async () => {
      await harness.clear();
      replica = harness.replica([newKey()], { clock });
      const actions = ['incident.created', 'incident.updated', 'auth.login_failed'] as const;
      for (let row = 0; row < 9; row += 1) {
        clock.time = start + row * 1000;
        const type = row % 3 === 2 ? 'user' : 'incident';
        await harness.record(replica, {
          actor: row < 6 ? 'alice' : 'key:siem',
          action: actions[row % 3]!,
          subject: { type, id: row === 4 ? 'one-alone' : `${type}:${row % 2}` },
          details: { row },
        });
        if (row === 6) await replica.sealAll();
      }
    });

    const list = async (query: Partial<Parameters<Replica['service']['list']>[0]> = {}) => {
      const usual = { page: 1, per_page: 50, sort: '-created_at' } as const;
      const { items, total } = await replica.service.list({ ...usual, ...query });
      return { rows: items.map(({ details }) => details['row']), total, items };
    };

    it('lists the newest entry first, and counts sealed and unsealed entries', async () => {
      expect(await list()).toMatchObject({ rows: [8, 7, 6, 5, 4, 3, 2, 1, 0], total: 9 });
      expect(await list({ sort: 'at', per_page: 2 })).toMatchObject({
        rows: [0, 1],
        total: 9,
      });
    });

    it('shows a complete entry, with its hash once it is sealed', async () => {
      const { items } = await list();
      expect(items[8]).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        at: new Date(start),
        actor: 'alice',
        action: 'incident.created',
        subject: { type: 'incident', id: 'incident:0' },
        details: { row: 0 },
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(items[0]?.hash).toBeNull();
    });

    it('pages without overlap, and is empty past the end', async () => {
      expect(await list({ page: 2, per_page: 4 })).toMatchObject({ rows: [4, 3, 2, 1], total: 9 });
      expect(await list({ page: 4, per_page: 4 })).toMatchObject({ rows: [], total: 9 });
    });

    it.each([
      [{ actor: 'key:siem' }, [8, 7, 6]],
      [{ action: 'incident.updated' as const }, [7, 4, 1]],
      [{ subject: 'user' }, [8, 5, 2]],
      [{ subject: 'incident:incident:1' }, [7, 3, 1]],
      [{ subject: 'user:incident:1' }, []],
      [{ subject: 'one-alone' }, [4]],
      [{ from: at(start + 6000) }, [8, 7, 6]],
      [{ from: at(start + 6001) }, [8, 7]],
      [{ to: at(start + 1000) }, [1, 0]],
      [{ to: at(start + 999) }, [0]],
      [{ to: at(-1) }, []],
      [{ actor: 'alice', action: 'incident.created' as const, from: at(start + 1) }, [3]],
      [{ actor: 'nobody' }, []],
    ])('lists only the entries that match %j', async (filter, rows) => {
      expect(await list(filter)).toMatchObject({ rows, total: rows.length });
    });

    it('finds an id without regard to upper and lower case', async () => {
      const id = '0193F2B6-7C1E-7A0B-9F4E-2F0A7B6C5D4E';
      await harness.record(replica, { subject: { type: 'incident', id }, details: { row: 'id' } });
      for (const subject of [
        id,
        id.toLowerCase(),
        `incident:${id}`,
        `incident:${id.toLowerCase()}`,
      ]) {
        expect(await list({ subject })).toMatchObject({ rows: ['id'], total: 1 });
      }
    });

    it('shows a page and a total of the same moment while entries are added', async () => {
      let isWriting = true;
      const writing = (async () => {
        for (let row = 0; row < 100; row += 1) await harness.record(replica, { actor: 'bob' });
        isWriting = false;
      })();
      while (isWriting) {
        for (const filter of [{}, { actor: 'bob' }]) {
          const { items, total } = await list({ per_page: 1_000, ...filter });
          expect(items).toHaveLength(total);
        }
      }
      await writing;
    });

    it.each(['actor', 'action'])(
      'reads only matching entries for a filter by %s',
      async (column) => {
        await harness.asOwner(async (owner) => {
          // With sequential scans, PostgreSQL would read a small table completely.
          await owner.query('set enable_seqscan = off');
          for (const select of ['count(*)', 'id']) {
            const order = select === 'id' ? 'order by id desc limit 10' : '';
            const { rows } = await owner.query(
              `explain select ${select} from audit_log where ${column} = 'x' ${order}`,
            );
            const plan = rows.map((row) => Object.values(row as object)).join('\n');
            expect(plan).toMatch(`ix_audit_log_${column}`);
          }
        });
      },
    );
  });
});
