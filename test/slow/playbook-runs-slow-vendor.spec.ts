import { eventually } from '../support/jobs/eventually.js';
import { MOST_PER_CONNECTOR } from '../../src/actions/execution/action-work.js';
import { Work } from '../../src/platform/work/work.js';
import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';
import { useStarted } from '../support/use-started.js';

/** Copies a run with new ids and adds work for the copies. */
const DUE = `
  with copies as (
    insert into playbook_runs (id, playbook_id, playbook_version, playbook_name, status, requested_by, variables, steps_total,
                               started_at)
    select gen_random_uuid(), playbook_id, playbook_version, playbook_name, 'running', requested_by, variables, steps_total,
           now()
      from playbook_runs, generate_series(1, $2) where id = $1
    returning id)
  insert into work (kind, ref, lane, urgency, ready, due_at)
  select 'playbook-run', id, 'playbook-run', 2, true, now() from copies`;

describe('a vendor that does not answer', () => {
  const world = useStarted(() => PlaybookWorld.start());

  beforeAll(async () => {
    const config = {
      base_url: world.actions.vendor.url,
      actions: { block_sender: { path: '/block_sender', body: { id: '{{ action.id }}' } } },
    };
    const quick = { name: 'quick', type: 'http', priority: 1, config };
    await world.clients.admin.post('/api/connectors', quick);
  });

  it('does not delay runs of other connectors, and gets at most 8 concurrent calls', async () => {
    const { database, vendor, app } = world.actions;
    const slow = await world.playbook([step('look', 'lookup_ip')]);
    const parameters = { sender: 'a@example.net' };
    const quick = await world.playbook([
      step('block', 'block_sender', { parameters }),
      step('again', 'block_sender', { parameters }),
    ]);
    const first = async (playbook: string) => await world.ran(playbook);
    const [slowRun, quickRun] = [await first(slow), await first(quick)];
    vendor.forget();
    vendor.plan = ({ path }) => ({
      behaviour: path === '/lookup_ip' ? 'hang' : 'apply',
      afterMs: 0,
    });
    const lookUps = () => vendor.requests.filter(({ path }) => path === '/lookup_ip').length;

    await database.query(DUE, [slowRun.run_id, 5 * MOST_PER_CONNECTOR]);
    app.nest.get(Work).wake();
    await eventually(lookUps, (calls) => calls === MOST_PER_CONNECTOR);
    await database.query(DUE, [quickRun.run_id, 1]);
    app.nest.get(Work).wake();
    await eventually(
      async () => (await world.list(quick, '?status=completed')).body.meta.total,
      (n) => n === 2,
    );
    expect(lookUps()).toBe(MOST_PER_CONNECTOR);
    // This ends the calls in progress, so that all waiting runs continue.
    await vendor.stop();
    await eventually(
      async () => (await world.list(slow, '?status=failed')).body.meta.total,
      (n) => n === 5 * MOST_PER_CONNECTOR,
    );
  });
});
