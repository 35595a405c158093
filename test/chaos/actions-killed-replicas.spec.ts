import { FAILPOINT } from '../../src/actions/execution/failpoints.js';
import type { ChaosSite } from '../support/chaos/chaos-site.js';
import { judge } from '../support/chaos/executor-judge.js';
import { executorStorm, openExecutorSite } from '../support/chaos/executor-storm.js';
import { FULL, say, spread } from '../support/chaos/figures.js';

const EACH = FULL ? 13 : 1;
const BATCH = FULL ? 4 : 6;

describe('an action while replicas are killed, or stopped and woken late, at each place of their work', () => {
  let site: ChaosSite;

  beforeAll(async () => {
    site = await openExecutorSite();
  });
  afterAll(() => site?.close());

  it(
    'is done once or not at all, and ends as the vendor counted it',
    async () => {
      const started = Date.now();
      const storm = await executorStorm(site, EACH, BATCH);
      const { faults, endings } = await judge(site, storm);
      const counted = (at: typeof storm.kills) => at.map((one) => JSON.stringify(one)).join(' ');
      say(`Kills by failpoint at each place: ${counted(storm.kills)}, ${storm.missed} missed`);
      say(`Stops in the same way: ${counted(storm.stops)}; ${storm.late} runs woke up too late`);
      say(`${storm.submitted.length} actions: ${JSON.stringify(endings, null, 2)}`);
      say(`Claims settled after the lease: ${spread(storm.stuck.claims)}`);
      say(`Actions without a claim begun: ${spread(storm.stuck.turns)}`);
      say(`Took ${Math.round((Date.now() - started) / 1_000)} s`);
      expect(faults).toEqual([]);
      for (const strikes of [...storm.kills, ...storm.stops]) {
        for (const point of Object.values(FAILPOINT)) expect(strikes[point]).toBe(EACH);
      }
      expect(storm.late).toBeGreaterThan(0);
    },
    FULL ? 3_000_000 : 480_000,
  );
});
