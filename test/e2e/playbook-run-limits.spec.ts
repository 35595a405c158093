import { Work } from '../../src/platform/work/work.js';
import { eventually } from '../support/jobs/eventually.js';
import { samplesWith, scrape } from '../support/metrics.js';
import { PlaybookWorld, type ShownRun, step } from '../support/playbooks/playbook-world.js';
import { useStarted } from '../support/use-started.js';

interface Run extends ShownRun {
  readonly starts_at?: string;
  readonly incident_id: string;
}

const LIMIT = 3;
const HOUR_MS = 3_600_000;

describe('the hourly limit of automatic playbook runs', () => {
  const world = useStarted(() => PlaybookWorld.start({ PLAYBOOK_RUNS_PER_HOUR: String(LIMIT) }, 2));

  afterEach(async () => {
    await world.actions.database.query(`update playbooks set deleted_at = now()`);
  });

  const forType = (incident_type: string) =>
    world.playbook([step('look', 'lookup_ip')], {
      auto_run: true,
      triggers: { incident_types: [incident_type] },
    });
  const triaged = (incident_type: string, severity = 'high') =>
    world.triaged({ incident_type, severity });
  const list = async (playbook: string): Promise<Run[]> =>
    (await world.list(playbook, '?per_page=100')).body.data as Run[];
  const runs = (playbook: string, count: number) =>
    eventually(
      () => list(playbook),
      (all) =>
        all.length === count && all.filter(({ completed_at }) => completed_at).length >= LIMIT,
    );
  const lastOfTimeline = async (incident: string) =>
    (await world.timeline(incident)).at(-1)!.summary;
  /** Moves the times of all runs back by the interval. */
  const later = async (interval: string) => {
    await world.actions.database.query(
      `update playbook_runs set started_at = started_at - $1::interval,
         starts_at = starts_at - $1::interval`,
      [interval],
    );
    await world.actions.database.query(
      `update work set due_at = due_at - $1::interval where kind = 'playbook-run' and not ready`,
      [interval],
    );
    for (const { nest } of world.actions.replicas) nest.get(Work).wake();
  };

  it('delays further runs, in their order, without losing a run', async () => {
    const playbook = await forType('malware');
    await Promise.all(Array.from({ length: 8 }, () => triaged('malware')));
    const all = await runs(playbook, 8);
    const waiting = all.filter(({ starts_at }) => starts_at);
    expect(waiting).toHaveLength(5);
    for (const { starts_at, started_at, status, steps_completed } of waiting) {
      expect({ status, steps_completed }).toEqual({ status: 'running', steps_completed: 0 });
      expect(Date.parse(starts_at!) - Date.parse(started_at)).toBeGreaterThan(HOUR_MS - 60_000);
    }
    const hours = waiting.map(({ starts_at }) => (Date.parse(starts_at!) - Date.now()) / HOUR_MS);
    expect(hours.map(Math.ceil).toSorted()).toEqual([1, 1, 1, 2, 2]);

    const open = samplesWith(await scrape(world.actions.app), 'playbook_runs');
    expect(open).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ labels: { status: 'rate_limited' }, value: 5 }),
        expect.objectContaining({ labels: { status: 'running' }, value: 0 }),
      ]),
    );
    const { items } = await world.read('/api/attention?kind=playbook_runs_rate_limited');
    expect(items).toMatchObject([{ name: playbook, role: 'analyst' }]);
    expect(items[0].reason).toMatch(
      /^5 automatic runs wait because of PLAYBOOK_RUNS_PER_HOUR, 0 of them for critical incidents\. The last run starts at /,
    );
    const summary = await lastOfTimeline(waiting[0]!.incident_id);
    expect(summary).toMatch(/^Waits to run the playbook .*PLAYBOOK_RUNS_PER_HOUR/);
    expect(summary).toContain(`The run starts at ${waiting[0]!.starts_at}, or later`);

    for (const completed of [6, 8]) {
      await later('1 hour');
      await eventually(
        async () => (await list(playbook)).filter(({ status }) => status === 'completed').length,
        (count) => count === completed,
      );
    }
  });

  it('orders waiting runs by severity, then by age', async () => {
    const playbook = await forType('ransomware');
    // Starts the runs one after another, so that no two times are equal.
    for (let n = 1; n <= LIMIT; n += 1) {
      await triaged('ransomware');
      await eventually(
        () => list(playbook),
        (all) => all.length === n,
      );
    }
    const ids: Record<string, string> = {};
    for (const [name, severity] of [
      ['low', 'low'],
      ['high', 'high'],
      ['later high', 'high'],
      ['critical', 'critical'],
      ['medium', 'medium'],
    ] as const) {
      ids[name] = await triaged('ransomware', severity);
      await eventually(
        () => list(playbook),
        (all) => all.some(({ incident_id }) => incident_id === ids[name]),
      );
    }
    const order = async () => {
      const waiting = (await list(playbook)).filter(({ starts_at }) => starts_at);
      const byTurn = waiting.toSorted((one, other) => (one.starts_at! < other.starts_at! ? -1 : 1));
      return byTurn.map(({ incident_id }) =>
        Object.keys(ids).find((name) => ids[name] === incident_id),
      );
    };
    expect(await order()).toEqual(['critical', 'high', 'later high', 'medium', 'low']);
    const own = (await list(playbook)).find(({ incident_id }) => incident_id === ids['critical'])!;
    expect(await lastOfTimeline(ids['critical']!)).toContain(
      `The run starts at ${own.starts_at}, or later`,
    );
  });

  it('starts runs in the order of severity if several triages end together', async () => {
    const playbook = await forType('intrusion');
    const setPause = (until: string) =>
      world.actions.database.query(
        `update work_lanes set paused_until = ${until} where lane = 'event.playbook-auto-runs'`,
      );
    await setPause(`now() + interval '1 hour'`);
    const severities = ['low', 'high', 'low', 'critical', 'low', 'medium'];
    const incidents = new Map<string, string>();
    for (const severity of severities) {
      incidents.set(await triaged('intrusion', severity), severity);
    }
    await setPause('null');
    const all = await runs(playbook, severities.length);
    const later = all.filter(({ starts_at }) => starts_at);
    expect(later.map(({ incident_id }) => incidents.get(incident_id))).toEqual([
      'low',
      'low',
      'low',
    ]);
  });

  it('does not delay other playbooks or runs that a person starts', async () => {
    const [busy, other] = [await forType('phishing'), await forType('data_exfiltration')];
    await Promise.all(Array.from({ length: 4 }, () => triaged('phishing')));
    await runs(busy, 4);
    await triaged('data_exfiltration');
    const [run] = await eventually(
      () => list(other),
      (all) => all.length === 1,
    );
    await world.until(other, run!.run_id, 'completed');
    const byHand = (await world.run(busy, { incident_id: await world.incident() })).body.data;
    await world.until(busy, byHand.run_id, 'completed');
  });

  it('cancels a waiting run at its turn if the incident is resolved', async () => {
    const playbook = await forType('malware');
    const ids = [];
    for (let n = 0; n < LIMIT + 1; n += 1) ids.push(await triaged('malware'));
    const all = await runs(playbook, LIMIT + 1);
    const late = all.find(({ starts_at }) => starts_at)!;
    const body = { status: 'resolved', resolution: 'Done by hand.' };
    const path = `/api/incidents/${late.incident_id}`;
    expect((await world.clients.analyst.put(path, body)).status).toBe(200);
    await later('1 hour');
    expect(await world.until(playbook, late.run_id, 'cancelled')).toMatchObject({
      error: 'Its incident was resolved before it began.',
      steps: [{ name: 'look', status: 'pending' }],
    });
  });

  it('gives the turn of a run that was cancelled before its start to the next run', async () => {
    const playbook = await forType('spam');
    await Promise.all(Array.from({ length: LIMIT * 2 }, () => triaged('spam')));
    const waiting = (await runs(playbook, LIMIT * 2)).filter(({ starts_at }) => starts_at);
    expect(waiting).toHaveLength(LIMIT);
    for (const { run_id } of waiting) {
      const path = `/api/playbooks/${playbook}/runs/${run_id}/cancel`;
      expect((await world.clients.admin.post(path)).status).toBe(200);
    }
    await triaged('spam');
    const next = (await runs(playbook, LIMIT * 2 + 1)).find(
      ({ starts_at, completed_at }) => starts_at && !completed_at,
    );
    expect(Math.ceil((Date.parse(next!.starts_at!) - Date.now()) / HOUR_MS)).toBe(1);
  });

  it('keeps waiting runs out of the count of work that the kill switch holds', async () => {
    const playbook = await forType('bec');
    await Promise.all(Array.from({ length: LIMIT + 1 }, () => triaged('bec')));
    await runs(playbook, LIMIT + 1);
    // Waits, because runs of earlier tests may still be due or wait for their action.
    await eventually(
      () =>
        world.actions.database.query(
          `select from playbook_runs where completed_at is null and coalesce(starts_at, now()) <= now()`,
        ),
      (due) => due.length === 0,
    );
    const { manager } = world.clients;
    const body = { reason: 'a drill' };
    await manager.post('/api/kill-switch/activate', body);
    const { held } = (await manager.get('/api/kill-switch')).body.data;
    await manager.post('/api/kill-switch/deactivate', { ...body, held: 'discard' });
    expect(held.playbook_runs).toBe(0);
    const statuses = (await list(playbook)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([...Array(LIMIT).fill('completed'), 'running']);
  });
});
