import { PlaybookWorld, statuses, step } from '../support/playbooks/playbook-world.js';
import { useStarted } from '../support/use-started.js';

const world = useStarted(() => PlaybookWorld.start({ ACTION_REPEAT_MINUTES: '60' }));

let targets = 0;
const isolate = (host: string, more = {}) =>
  step('isolate', 'isolate_host', { parameters: { host_id: host }, ...more });

describe('a playbook step whose action was requested before', () => {
  afterEach(() => {
    world.actions.vendor.forget();
    world.actions.vendor.plan = undefined;
  });

  const aHost = () => `ws-${(targets += 1)}`;
  const request = async (host_id: string, incidentId?: string): Promise<string> => {
    const parameters = { host_id };
    const answer = await world.actions.execute('isolate_host', { incidentId, parameters });
    return answer.body.data.action_id as string;
  };
  const paths = () => world.actions.calls.map(({ path }) => path);

  it('uses the result of the completed action', async () => {
    const host = aHost();
    const incident_id = await world.incident();
    const first = await request(host, incident_id);
    await world.approve(first);
    const playbook = await world.playbook([
      isolate(host),
      step('block', 'block_sender', { condition: 'steps.isolate.result.success' }),
    ]);
    const run = await world.ran(playbook, { incident_id });
    expect(run.status).toBe('completed');
    expect(run.steps[0]).toMatchObject({ status: 'completed', action_id: first });
    expect(paths()).toEqual(['/isolate_host', '/block_sender']);
  });

  it('requests its own action if the step needs a higher approval level than the earlier action had', async () => {
    const sender = { sender: `gate-${(targets += 1)}@example.net` };
    const direct = await world.actions.execute('block_sender', { parameters: sender });
    expect(direct.body.data.status).toBe('completed');
    const gated = (level: 'analyst' | 'manager') =>
      world.playbook([
        step('block', 'block_sender', { parameters: sender, approval_level: level }),
      ]);
    // This run can use the earlier action, because its requester is an analyst.
    expect(await world.ran(await gated('analyst'))).toMatchObject({
      status: 'completed',
      steps: [{ action_id: direct.body.data.action_id }],
    });
    const high = await world.ran(await gated('manager'));
    expect(high).toMatchObject({
      status: 'waiting_approval',
      steps: [{ approval_level: 'manager' }],
    });
    expect(high.steps[0]!.action_id).not.toBe(direct.body.data.action_id);
  });

  it('requests its own action if the earlier action had a momentary effect and ended before the incident began', async () => {
    const user = `mallory-${(targets += 1)}`;
    const revoke = await world.playbook([
      step('revoke', 'revoke_sessions', { parameters: { user } }),
    ]);
    const revoked = async (incident_id: string): Promise<string> => {
      const { run_id } = await world.ran(revoke, { incident_id });
      return (await world.untilEnded(revoke, run_id)).steps[0]!.action_id!;
    };
    const early = await world.incident();
    const first = await revoked(early);
    const late = await world.incident();
    expect(await revoked(early)).toBe(first);
    expect(await revoked(late)).not.toBe(first);
  });

  it('waits for the earlier action, and continues after its approval', async () => {
    const host = aHost();
    const other = await world.incident();
    const first = await request(host, other);
    const playbook = await world.playbook([isolate(host)]);
    const incident_id = await world.incident();
    const run = await world.ran(playbook, { incident_id });
    expect(run.status).toBe('waiting_approval');
    const { incident_number } = await world.read(`/api/incidents/${other}`);
    expect(run.steps[0]).toMatchObject({
      status: 'waiting_approval',
      action_id: first,
      shared_action: {
        action_id: first,
        incident_number,
        requested_by: world.actions.names.analyst,
      },
    });
    expect((await world.timeline(incident_id)).at(-1)).toMatchObject({
      event: 'playbook_step_shared',
      summary: expect.stringMatching(
        /^Step isolate of .* uses the existing action isolate_host \(act-\S+\), which .* requested for INC-\S+\. The action waits for approval\.$/,
      ),
      subject: { type: 'action', id: first },
    });
    await world.approve(first);
    const ended = await world.until(playbook, run.run_id, 'completed');
    expect(statuses(ended)).toEqual(['completed']);
    expect(paths()).toEqual(['/isolate_host']);
  });

  it('is listed under attention as undone if the shared action is rolled back for another incident', async () => {
    const host = aHost();
    const first = await request(host, await world.incident());
    await world.approve(first);
    const playbook = await world.playbook([isolate(host)]);
    const incident_id = await world.incident();
    expect((await world.ran(playbook, { incident_id })).status).toBe('completed');
    const rollback = await world.clients.manager.post(`/api/actions/${first}/rollback`, {
      reason: 'The host is clean.',
    });
    expect(rollback.body.data.status).toBe('completed');
    const undone = async () => (await world.read('/api/attention?kind=playbook_step_undone')).items;
    expect(await undone()).toMatchObject([
      { name: `${playbook}: isolate`, incident: { id: incident_id }, role: 'analyst' },
    ]);
    await request(host, incident_id);
    expect(await undone()).toEqual([]);
  });

  it('requests its own action if the earlier action is rejected for another incident', async () => {
    const host = aHost();
    const first = await request(host);
    const playbook = await world.playbook([isolate(host)]);
    const { run_id } = await world.ran(playbook, { incident_id: await world.incident() });
    await world.reject(first);
    const run = await world.until(playbook, run_id, ({ steps }) => steps[0]!.action_id !== first);
    expect(run.steps[0]).toMatchObject({ status: 'waiting_approval' });
    await world.approve(run.steps[0]!.action_id!);
    expect((await world.until(playbook, run_id, 'completed')).steps[0]!.status).toBe('completed');
  });

  it('fails if the earlier action is rejected for the same incident', async () => {
    const host = aHost();
    const incident_id = await world.incident();
    const first = await request(host, incident_id);
    const playbook = await world.playbook([isolate(host)]);
    const { run_id } = await world.ran(playbook, { incident_id });
    await world.reject(first);
    const [failed] = (await world.until(playbook, run_id, 'failed')).steps;
    expect(failed).toMatchObject({ action_id: first, error: expect.stringContaining('No need.') });
  });

  it('does not reject the action of another requester if its run is cancelled', async () => {
    const host = aHost();
    const first = await request(host);
    const playbook = await world.playbook([isolate(host)]);
    const { run_id } = await world.ran(playbook);
    expect((await world.cancel(playbook, run_id)).body.data.status).toBe('cancelled');
    expect((await world.actions.get(first)).status).toBe('pending_approval');
  });
});

describe('a playbook run whose connector only computes results', () => {
  let targets = 0;

  beforeAll(async () => {
    const { admin } = world.clients;
    for (const { id } of (await admin.get('/api/connectors')).body.data) {
      await admin.delete(`/api/connectors/${id}`);
    }
    const config = { fail: ['scan_host'] };
    await admin.post('/api/connectors', { name: 'sandbox', type: 'sandbox', config });
  });

  const anAddress = () => ({ parameters: { ip: `203.0.113.${(targets += 1)}` } });
  const aSender = () => ({ parameters: { sender: `s-${(targets += 1)}@example.net` } });
  it('runs, skips and fails its steps like a run that calls a vendor', async () => {
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
  });

  it('repeats its own action, and shares actions of concurrent runs', async () => {
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
