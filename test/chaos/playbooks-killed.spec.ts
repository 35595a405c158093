import { setTimeout as sleep } from 'node:timers/promises';
import { ChaosSite } from '../support/chaos/chaos-site.js';
import { FULL, say, spread } from '../support/chaos/figures.js';
import { judgePlaybooks, PLAYBOOK_KINDS, PlaybookStorm } from '../support/chaos/playbook-storm.js';
import { eventually } from '../support/jobs/eventually.js';

const RUNS = FULL ? 100 : 6;
const KILLS = FULL ? 40 : 2;
const AT_ONCE = FULL ? 6 : 2;
const LEASE_MS = 1_500;

describe('playbook runs with an approval in the middle, while replicas are killed with SIGKILL', () => {
  let site: ChaosSite;

  beforeAll(async () => {
    const settings = { ACTION_LEASE_MS: String(LEASE_MS), ACTION_WAIT_MS: '500' };
    site = await ChaosSite.open(PLAYBOOK_KINDS, { settings });
  });
  afterAll(() => site?.close());

  const openRuns = async (): Promise<number> => {
    const { rows } = await site.db.query<{ n: number }>(
      `select count(*)::int as n from playbook_runs where completed_at is null`,
    );
    return rows[0]!.n;
  };

  it(
    'end as they would have without, each step once',
    async () => {
      const started = performance.now();
      const storm = new PlaybookStorm(site, await site.makeKey('manager'));
      await storm.save();
      const approving = storm.approveAll();
      let kills = 0;
      // As long as the kills go on, so do new runs; there are at least so many of both.
      const clients = Array.from({ length: AT_ONCE }, async () => {
        while (storm.started < RUNS || kills < KILLS) {
          await storm.start();
          await sleep(Math.random() * 1_500);
        }
      });
      const openAtKill: number[] = [];
      while (kills < KILLS) {
        await eventually(openRuns, (open) => open > 0);
        await sleep(Math.random() * 400);
        openAtKill.push(await openRuns());
        await site.places[kills % 2]!.kill();
        await site.restart(kills % 2);
        kills += 1;
      }
      await Promise.all(clients);
      await eventually(openRuns, (open) => open === 0);
      storm.end();
      await approving;

      const { runs, wrong, unknown, effects, ms } = await judgePlaybooks(site);
      say(`${KILLS} kills, ${runs} runs, ${storm.approvals} approvals answered`);
      say(`  runs open when a replica was killed: ${openAtKill.join(' ')}`);
      say(`  from start to end: ${spread(ms)}`);
      say(`  ${unknown} of ${runs} steps that may not be repeated had a replica die in their call`);
      say(`  took ${Math.round((performance.now() - started) / 1_000)} s`);
      expect(runs).toBe(storm.started);
      expect(Object.entries(wrong).filter(([, rows]) => rows !== 0)).toEqual([]);
      expect(effects).toEqual([]);
    },
    FULL ? 1_200_000 : 180_000,
  );
});
