import { PlaybookWorld, statuses, step } from '../support/playbooks/playbook-world.js';

let targets = 0;

describe('a playbook run whose connector only computes results', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start({ ACTION_REPEAT_MINUTES: '60' });
    const { admin } = world.clients;
    for (const { id } of (await admin.request('GET', '/api/connectors')).body.data) {
      await admin.request('DELETE', `/api/connectors/${id}`);
    }
    const config = { fail: ['scan_host'] };
    await admin.request('POST', '/api/connectors', {
      body: { name: 'sandbox', type: 'sandbox', config },
    });
  });
  afterAll(() => world?.close());

  const anAddress = () => ({ parameters: { ip: `203.0.113.${(targets += 1)}` } });
  const aSender = () => ({ parameters: { sender: `s-${(targets += 1)}@example.net` } });
  const transactionsOf = async (runId: string): Promise<number> => {
    const [row] = await world.actions.database.query<{ n: number }[]>(
      `select count(distinct xmin::text)::integer as n from (
         select xmin from playbook_runs where id = $1
          union all select xmin from playbook_run_steps where run_id = $1
          union all select xmin from actions where playbook_run_id = $1) as rows`,
      [runId],
    );
    return row!.n;
  };

  it('makes its steps and its end in one transaction', async () => {
    const playbook = await world.playbook([
      step('look', 'lookup_ip', anAddress()),
      step('never', 'block_ip', { condition: '!steps.look.result.success' }),
      step('fails', 'scan_host', { on_error: 'continue' }),
      step('block', 'block_sender', {
        ...aSender(),
        condition: 'steps.look.result.simulated && !steps.fails.result.success',
      }),
    ]);
    const { run_id } = (await world.run(playbook)).body.data;
    const ended = await world.until(playbook, run_id, 'completed');
    expect(statuses(ended)).toEqual(['completed', 'skipped', 'failed', 'completed']);
    expect(ended).toMatchObject({ steps_completed: 3, steps_failed: 1 });
    expect(ended.steps[2]!.error).toMatch(/fails as configured/);
    const ids = ended.steps.map(({ action_id }) => action_id);
    expect(new Set(ids).size).toBe(4);
    expect(await transactionsOf(run_id)).toBe(1);
  });

  it('ends at a step that fails, and begins none after it', async () => {
    const playbook = await world.playbook([
      step('look', 'lookup_ip', anAddress()),
      step('fails', 'scan_host'),
      step('block', 'block_sender', aSender()),
    ]);
    const { run_id } = (await world.run(playbook)).body.data;
    const ended = await world.until(playbook, run_id, 'failed');
    expect(statuses(ended)).toEqual(['completed', 'failed', 'pending']);
  });

  it('waits for the approval of a step, and begins none after it', async () => {
    const playbook = await world.playbook([
      step('look', 'lookup_ip', anAddress()),
      step('isolate', 'isolate_host'),
      step('block', 'block_sender', aSender()),
    ]);
    const { run_id } = (await world.run(playbook)).body.data;
    const waiting = await world.until(playbook, run_id, 'waiting_approval');
    expect(statuses(waiting)).toEqual(['completed', 'waiting_approval', 'pending']);
    expect(waiting.steps[2]!.action_id).toBeUndefined();
    await world.approve(waiting.steps[1]!.action_id!);
    const ended = await world.until(playbook, run_id, 'completed');
    expect(statuses(ended)).toEqual(['completed', 'completed', 'completed']);
  });

  it('shares an equal action that waits for approval, and begins no step after it', async () => {
    const host = { host_id: `ws-${(targets += 1)}` };
    const first = await world.actions.execute('isolate_host', { parameters: host });
    const { action_id } = first.body.data;
    const playbook = await world.playbook([
      step('look', 'lookup_ip', anAddress()),
      step('isolate', 'isolate_host', { parameters: host }),
      step('block', 'block_sender', aSender()),
    ]);
    const { run_id } = (await world.run(playbook)).body.data;
    const waiting = await world.until(playbook, run_id, 'waiting_approval');
    expect(waiting.steps[1]).toMatchObject({ status: 'waiting_approval', action_id });
    expect(statuses(waiting)[2]).toBe('pending');
    await world.approve(action_id);
    expect(statuses(await world.until(playbook, run_id, 'completed'))[2]).toBe('completed');
  });

  it('repeats an action of its own, and shares what runs at the same moment do', async () => {
    const sender = aSender();
    const playbook = await world.playbook([
      step('block', 'block_sender', sender),
      step('again', 'block_sender', sender),
    ]);
    const begun = await Promise.all(Array.from({ length: 4 }, () => world.run(playbook)));
    const ended = await Promise.all(
      begun.map(({ body }) => world.until(playbook, body.data.run_id, 'completed')),
    );
    const sharing = ended.filter(({ steps }) => steps.some((one) => 'shared_action' in one));
    const [{ n }] = await world.actions.database.query(
      `select count(*)::integer as n from actions where parameters ->> 'sender' = $1`,
      [sender.parameters.sender],
    );
    expect(sharing).toHaveLength(3);
    expect(n).toBe(2);
  });
});
