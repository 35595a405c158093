import { ClockWatch } from '../../src/health/clock-watch.js';
import { eventually } from '../support/jobs/eventually.js';
import { setMachineClock } from '../support/machine-clock.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const HOUR = 3_600_000;

describe('the clock of a machine', () => {
  const lines: { readonly context?: string; readonly msg: string }[] = [];
  let app: TestApp;
  let watch: ClockWatch;

  beforeAll(async () => {
    const log = { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[0]) };
    app = await startTestApp({ settings: { LOG_LEVEL: 'info' }, log });
    watch = app.nest.get(ClockWatch);
  });
  afterAll(async () => {
    setMachineClock(0);
    await watch.look();
    await app.close();
  });

  /** Once both show this offset, as each remembers what it found for a moment. */
  async function shown(seconds: number) {
    const viewer = await as(app, 'viewer');
    return await eventually(
      async () => {
        const health = await viewer.request('GET', '/api/health/detailed');
        const metrics = await viewer.request('GET', '/api/metrics');
        const ready = await viewer.request('GET', '/ready');
        const { database } = health.body.components;
        const gauge = Number(/^clock_offset_seconds (.*)$/m.exec(metrics.text)?.[1]);
        return { database, gauge, overall: health.body.status, ready: ready.status };
      },
      ({ database, gauge }) =>
        [gauge, database.clock_offset_seconds].every((one) => Math.abs(one - seconds) < 0.5),
    );
  }
  const told = () => lines.filter(({ context }) => context === 'Clock').map(({ msg }) => msg);

  it('is reported by health and metrics while it is wrong, and once by the log', async () => {
    const well = await shown(0);
    expect(well.database.status).toBe('healthy');
    expect(told()).toEqual([]);

    setMachineClock(-HOUR);
    await watch.look();
    await watch.look();
    const wrong = await shown(-3600);
    expect(wrong).toMatchObject({ overall: 'degraded', ready: 200 });
    const message =
      'The clock of this machine is 3600 s behind the clock of the database. Times are taken from the database. Correct the clock.';
    expect(wrong.database).toMatchObject({ status: 'degraded', message });
    expect(told()).toEqual([message]);

    setMachineClock(0);
    await watch.look();
    const mended = await shown(0);
    expect(mended.database.status).toBe('healthy');
    expect(mended.database).not.toHaveProperty('message');
    expect(told().slice(1)).toEqual(['The clock of this machine agrees with the database again.']);
  });

  it('is not degraded by a few seconds, but the log reports them', async () => {
    const before = told().length;
    setMachineClock(5_000);
    await watch.look();
    expect((await shown(5)).database.status).toBe('healthy');
    expect(told().slice(before)).toEqual([expect.stringContaining('5 s ahead of')]);
  });
});
