import { ClockWatch } from '../../src/health/clock-watch.js';
import { timeOfId } from '../../src/platform/ids.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { setMachineClock } from '../support/machine-clock.js';
import { registerSource, signed } from '../support/webhook-sender.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;
/** What ends later, as it should. */
const DEADLINES = new Set([
  'actions.expires_at',
  'actions.lease_until',
  'idempotency_keys.owned_until',
  'sessions.ends_at',
  'sessions.expires_at',
]);

describe('the clock of a machine that is an hour wrong', () => {
  let world: ActionWorld;

  async function startAhead(aheadMs: number): Promise<void> {
    setMachineClock(aheadMs);
    world = await ActionWorld.start();
  }

  afterEach(async () => {
    setMachineClock(0);
    // There is one time for the process: the next test begins with a clock that is right.
    await look();
    await world.close();
  });

  const look = () => world.app.nest.get(ClockWatch).look();

  /** The columns whose newest time is further than a minute from the clock of the database, with how far in ms. */
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

  it.each([HOUR, -HOUR])('writes the time of the database when it is %d ms ahead', async (ms) => {
    await startAhead(ms);
    const id = await doSomething();
    expect(await wrongColumns()).toEqual({});
    expect(Math.abs(timeOfId(id) + ms - Date.now())).toBeLessThan(MINUTE);
  });

  it('accepts a signature of a sender whose clock is right, and refuses it an hour later', async () => {
    await startAhead(HOUR);
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
      return (await world.app.request('POST', '/api/webhooks/siem', { body, headers })).status;
    };
    // The test signs by the clock of the machine.
    expect(await send(-HOUR / 1000)).toBe(200);
    expect(await send(0)).toBe(401);
  });

  it('continues with the right time after the clock is set, before the next comparison', async () => {
    await startAhead(0);
    setMachineClock(HOUR);
    await doSomething();
    setMachineClock(-HOUR);
    await doSomething();
    expect(await wrongColumns()).toEqual({});
  });
});
