import { eventually } from '../support/jobs/eventually.js';
import { MOST_PER_CONNECTOR } from '../../src/actions/execution/connector-places.js';
import { RunQueue } from '../../src/playbooks/runs/run-queue.js';
import { PlaybookWorld, type ShownRun, step } from '../support/playbooks/playbook-world.js';

const SLOW_MS = 1_500;
const SLOW_RUNS = 5 * MOST_PER_CONNECTOR;

/** As many more of a run that is due, with ids of their own. */
const DUE = `
  insert into playbook_runs (id, playbook_id, playbook_version, playbook_name, status, requested_by, variables, steps_total,
                             due_at, started_at)
  select gen_random_uuid(), playbook_id, playbook_version, playbook_name, 'running', requested_by, variables, steps_total,
         now(), now()
    from playbook_runs, generate_series(1, $2) where id = $1`;

describe('a vendor that takes its time', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start();
    const config = {
      base_url: world.actions.vendor.url,
      actions: { block_sender: { path: '/block_sender', body: { id: '{{ action.id }}' } } },
    };
    const quick = { name: 'quick', type: 'http', priority: 1, config };
    await world.clients.admin.request('POST', '/api/connectors', { body: quick });
  });
  afterAll(() => world?.close());

  it('holds up no run whose steps go to another one, and is asked no more at once than it has places', async () => {
    const { database, vendor, app } = world.actions;
    const slow = await world.playbook([step('look', 'lookup_ip')]);
    const parameters = { sender: 'a@example.net' };
    const quick = await world.playbook([
      step('block', 'block_sender', { parameters }),
      step('again', 'block_sender', { parameters }),
    ]);
    const first = async (playbook: string) => (await world.run(playbook)).body.data as ShownRun;
    const [slowRun, quickRun] = [await first(slow), await first(quick)];
    vendor.forget();
    vendor.plan = ({ path }) => ({
      behaviour: 'apply',
      afterMs: path === '/lookup_ip' ? SLOW_MS : 0,
    });

    await database.query(DUE, [slowRun.run_id, SLOW_RUNS]);
    app.nest.get(RunQueue).wake();
    await eventually(
      async () => vendor.requests.filter(({ path }) => path === '/lookup_ip').length,
      (calls) => calls > 0,
    );
    await database.query(DUE, [quickRun.run_id, 1]);
    app.nest.get(RunQueue).wake();
    const completed = async (playbook: string): Promise<number> =>
      (await world.list(playbook, '?status=completed')).body.meta.total;
    await eventually(
      () => completed(quick),
      (n) => n === 2,
    );
    expect(await completed(slow)).toBeLessThan(1 + SLOW_RUNS / 2);

    await eventually(
      () => completed(slow),
      (n) => n === 1 + SLOW_RUNS,
    );
    const begun = vendor.requests.filter(({ path }) => path === '/lookup_ip').map(({ at }) => at);
    expect(begun).toHaveLength(SLOW_RUNS);
    const atOnce = begun.map(
      (at) => begun.filter((other) => other <= at && other > at - SLOW_MS * 0.9).length,
    );
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(MOST_PER_CONNECTOR);
  });
});
