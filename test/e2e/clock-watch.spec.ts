import { DataSource } from 'typeorm';
import { followDatabaseTime } from '../../src/platform/database/data-source.js';
import { timeOfId } from '../../src/platform/ids.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { registerSource, signed } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const HOUR = 3_600_000;

describe('the clock of a machine', () => {
  // Must run before the app ends.
  afterAll(async () => {
    setMachineClock(0);
    await compare();
  });
  const app = useStarted(() => startTestApp());
  const compare = () => followDatabaseTime(app.nest.get(DataSource));

  /** Waits until health and metrics show this offset. Both cache their values. */
  async function shown(seconds: number) {
    const viewer = await as(app, 'viewer');
    return await eventually(
      async () => {
        const health = await viewer.get('/api/health/detailed');
        const metrics = await viewer.get('/api/metrics');
        const ready = await viewer.get('/ready');
        const { database } = health.body.components;
        const gauge = Number(/^clock_offset_seconds (.*)$/m.exec(metrics.text)?.[1]);
        return { database, gauge, overall: health.body.status, ready: ready.status };
      },
      ({ database, gauge }) =>
        [gauge, database.clock_offset_seconds].every((one) => Math.abs(one - seconds) < 0.5),
    );
  }

  it('is reported by health and metrics while it is wrong', async () => {
    expect((await shown(0)).database.status).toBe('healthy');

    setMachineClock(-HOUR);
    await compare();
    const wrong = await shown(-3600);
    expect(wrong).toMatchObject({ overall: 'degraded', ready: 200 });
    const message =
      'The clock of this machine is 3600 s behind the clock of the database. Times are taken from the database. Correct the clock.';
    expect(wrong.database).toMatchObject({ status: 'degraded', message });

    setMachineClock(0);
    await compare();
    const mended = await shown(0);
    expect(mended.database.status).toBe('healthy');
    expect(mended.database).not.toHaveProperty('message');
  });

  it('does not count as wrong because of a few seconds', async () => {
    setMachineClock(5_000);
    await compare();
    expect((await shown(5)).database.status).toBe('healthy');
  });
});

describe('a machine whose clock is wrong by an hour', () => {
  const MINUTE = 60_000;
  /** Columns with times in the future. */
  const DEADLINES = new Set([
    'actions.expires_at',
    'idempotency_keys.owned_until',
    'sessions.ends_at',
    'sessions.expires_at',
    'work.due_at',
  ]);

  let world: ActionWorld;

  async function startAhead(aheadMs: number): Promise<void> {
    setMachineClock(aheadMs);
    world = await ActionWorld.start();
  }

  afterEach(async () => {
    setMachineClock(0);
    // All tests of the process share one clock, so each test must reset it.
    await compare();
    await world.close();
  });

  const compare = () => followDatabaseTime(world.app.nest.get(DataSource));

  /**
   * Returns the columns whose newest time differs from the database clock by more than a minute, with the difference in
   * ms.
   */
  async function wrongColumns(): Promise<Record<string, number>> {
    const columns = await world.database.query<{ table: string; column: string }[]>(
      `select table_name as table, column_name as column from information_schema.columns
       where table_schema = 'public' and data_type like 'timestamp%'`,
    );
    const wrong: Record<string, number> = {};
    for (const { table, column } of columns) {
      const [row] = await world.database.query<{ ahead: number | null }[]>(
        `select (extract(epoch from max("${column}") - clock_timestamp()) * 1000)::float8 as ahead from "${table}"`,
      );
      const ahead = row!.ahead;
      if (ahead === null || DEADLINES.has(`${table}.${column}`)) continue;
      if (Math.abs(ahead) > MINUTE) wrong[`${table}.${column}`] = Math.round(ahead);
    }
    return wrong;
  }

  async function doSomething(): Promise<string> {
    const incidentId = await world.incident();
    await world.approved('isolate_host');
    return incidentId;
  }

  it.each([HOUR, -HOUR])(
    'uses the time of the database for records and signatures if its clock is %d ms ahead',
    async (ms) => {
      await startAhead(ms);
      const id = await doSomething();
      expect(await wrongColumns()).toEqual({});
      expect(Math.abs(Math.round((timeOfId(id) + ms - Date.now()) / HOUR))).toBe(0);
      await registerSource(world.clients.admin);
      const send = async (offset: number): Promise<number> => {
        const body = JSON.stringify({
          event_type: 'malware',
          source: 'siem',
          data: { alert_id: `alert ${offset}`, severity: 'low', details: {} },
        });
        const headers = {
          'content-type': 'application/json',
          ...signed({ body, source: 'siem', offset }),
        };
        return (await world.app.post('/api/webhooks/siem', body, headers)).status;
      };
      // The test signs with the machine's clock.
      expect(await send(-ms / 1000)).toBe(200);
      expect(await send(0)).toBe(401);
    },
  );

  it('continues with the right time after the clock is set, even before the next comparison', async () => {
    await startAhead(0);
    setMachineClock(HOUR);
    await doSomething();
    setMachineClock(-HOUR);
    await doSomething();
    expect(await wrongColumns()).toEqual({});
  });
});

const Real = globalThis.Date;

/**
 * Sets the clock of the service ahead by this offset. The clock of the database does not change. 0 restores the clock.
 */
function setMachineClock(aheadMs: number): void {
  globalThis.Date = aheadMs === 0 ? Real : dateAhead(aheadMs);
}

function dateAhead(ms: number): DateConstructor {
  return new Proxy(Real, {
    construct: (target, given: [], asked) =>
      Reflect.construct(target, given.length === 0 ? [Real.now() + ms] : given, asked) as Date,
    get: (target, name) => {
      if (name === 'now') return () => Real.now() + ms;
      return Reflect.get(target, name) as unknown;
    },
  });
}
