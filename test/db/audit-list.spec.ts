import { subjectFilter } from '../../src/audit/audit.service.js';
import { Clock } from '../../src/platform/clock.js';
import { AuditHarness, newKey, type Replica } from './audit-harness.js';

class SetClock extends Clock {
  time = Date.parse('2026-03-01T00:00:00.000Z');
  override now(): Date {
    return new Date(this.time);
  }
}

describe('the list of the audit trail', () => {
  let harness: AuditHarness;
  let replica: Replica;
  const clock = new SetClock();
  const start = clock.time;

  beforeAll(async () => {
    harness = await AuditHarness.open();
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
  afterAll(() => harness.database.close());

  const list = async (query: Partial<Parameters<Replica['service']['list']>[0]> = {}) => {
    const { items, total } = await replica.service.list({ page: 1, per_page: 50, ...query });
    return { rows: items.map(({ details }) => details['row']), total, items };
  };

  it('begins with the newest, and counts sealed and unsealed entries', async () => {
    expect(await list()).toMatchObject({ rows: [8, 7, 6, 5, 4, 3, 2, 1, 0], total: 9 });
    expect(await list({ ascending: true, per_page: 2 })).toMatchObject({ rows: [0, 1], total: 9 });
  });

  it('shows a complete entry, with its hash once it is sealed', async () => {
    const { items } = await list();
    expect(items[8]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: new Date(start),
      actor: 'alice',
      action: 'incident.created',
      subject: { type: 'incident', id: 'incident:0' },
      details: { row: 0 },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(items[0]?.hash).toBeUndefined();
  });

  it('pages without overlap, and is empty past the end', async () => {
    expect(await list({ page: 2, per_page: 4 })).toMatchObject({ rows: [4, 3, 2, 1], total: 9 });
    expect(await list({ page: 4, per_page: 4 })).toMatchObject({ rows: [], total: 9 });
  });

  it.each([
    [{ actor: 'key:siem' }, [8, 7, 6]],
    [{ action: 'incident.updated' }, [7, 4, 1]],
    [{ subject: subjectFilter('user') }, [8, 5, 2]],
    [{ subject: subjectFilter('incident:incident:1') }, [7, 3, 1]],
    [{ subject: subjectFilter('user:incident:1') }, []],
    [{ subject: subjectFilter('one-alone') }, [4]],
    [{ from: new Date(start + 6000) }, [8, 7, 6]],
    [{ from: new Date(start + 6001) }, [8, 7]],
    [{ to: new Date(start + 1000) }, [1, 0]],
    [{ to: new Date(start + 999) }, [0]],
    [{ to: new Date(-1) }, []],
    [{ actor: 'alice', action: 'incident.created', from: new Date(start + 1) }, [3]],
    [{ actor: 'nobody' }, []],
  ])('lists only the entries that match %j', async (filter, rows) => {
    expect(await list(filter)).toMatchObject({ rows, total: rows.length });
  });
});
