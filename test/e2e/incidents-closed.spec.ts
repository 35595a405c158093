import { PARAMETERS } from '../support/actions/action-world.js';
import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';

describe('closing an incident', () => {
  let world: PlaybookWorld;
  let playbook: string;
  let incident: string;
  let run: string;

  beforeAll(async () => {
    world = await PlaybookWorld.start();
    const isolate = step('isolate', 'isolate_host', {
      parameters: { host_id: 'laptop-9' },
      approval_level: 'manager',
    });
    playbook = await world.playbook([isolate]);
  });
  afterAll(() => world?.close());

  beforeEach(async () => {
    incident = await world.incident();
    const asked = await request('POST', `/api/incidents/${incident}/actions`, {
      action: 'isolate_host',
      parameters: PARAMETERS.isolate_host,
    });
    expect(asked.body.data.status).toBe('pending_approval');
    run = (await world.run(playbook, { incident_id: incident })).body.data.run_id;
    await world.until(playbook, run, 'waiting_approval');
  });

  const request = (method: string, path: string, body?: object) =>
    world.clients.analyst.request(method, path, { body });
  const put = (body: object) => request('PUT', `/api/incidents/${incident}`, body);
  const actions = async () =>
    (await request('GET', `/api/actions?incident_id=${incident}`)).body.data;

  it('leaves waiting actions, and reports their number', async () => {
    const { body } = await put({ status: 'resolved' });
    expect(body.data).toMatchObject({ status: 'resolved', pending_actions: 2 });
    expect(body.data).not.toHaveProperty('withdrawn');
    for (const { status } of await actions()) expect(status).toBe('pending_approval');
    expect((await world.get(playbook, run)).status).toBe('waiting_approval');
    expect((await put({ title: 'Another one' })).body.data).not.toHaveProperty('pending_actions');
  });

  it('lets an analyst withdraw actions that need a manager', async () => {
    const levels = (await actions()).map(
      (action: { approval_level: string }) => action.approval_level,
    );
    expect(levels).toContain('manager');
    const { status, body } = await put({ status: 'resolved', pending: 'withdraw' });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ withdrawn: { actions: 2, runs: 1 } });
    expect(body.data).not.toHaveProperty('pending_actions');
    const { resolved_by: closer, incident_number: number } = body.data;
    for (const action of await actions()) {
      expect(action).toMatchObject({ status: 'rejected', rejected_by: closer });
      expect(action.rejection_reason).toBe(`${closer} closed ${number}.`);
    }
    const { status: ended, error } = await world.get(playbook, run);
    expect([ended, error]).toEqual(['cancelled', `${closer} closed ${number}.`]);
    const timeline = await request('GET', `/api/incidents/${incident}/timeline`);
    const events = timeline.body.data.map(({ event }: { event: string }) => event);
    expect(events.filter((event: string) => event === 'action_rejected')).toHaveLength(2);
    expect(events).toContain('playbook_cancelled');
  });

  it('is required for withdrawing', async () => {
    const refused = await put({ pending: 'withdraw', severity: 'low' });
    expect(refused.status).toBe(422);
    expect(refused.body.error.details.errors).toMatchObject([{ field: 'status' }]);
  });
});
