import { ActionWorld } from '../support/actions/action-world.js';
import { eventually } from '../support/jobs/eventually.js';
import { DefenderServer } from '../support/vendors/defender-server.js';

describe('a connector of the type microsoft_defender', () => {
  let world: ActionWorld;
  let defender: DefenderServer;
  let host: string;

  beforeAll(async () => {
    defender = await new DefenderServer().start();
    host = defender.addMachine('laptop-7.example.com');
    world = await ActionWorld.start({ ACTION_LEASE_MS: '2000' });
    const { config } = defender;
    const body = { name: 'defender', type: 'microsoft_defender', priority: 1, config };
    const made = await world.clients.admin.request('POST', '/api/connectors', { body });
    expect(made.status).toBe(201);
    expect(made.text).not.toContain(config.client_secret);
  });
  afterEach(() => {
    expect(defender.problems).toEqual([]);
    defender.forget();
  });
  afterAll(async () => {
    await world?.close();
    await defender.stop();
  });

  const ended = (id: string) =>
    eventually(
      () => world.get(id),
      ({ status }) => status !== 'pending',
    );
  /** As soon as the vendor has it. */
  const settle = async (actions: number, status: string) => {
    await eventually(
      async () => defender.actions.length,
      (made) => made === actions,
    );
    defender.settle(status);
  };

  it('isolates a host on an incident, is done when the vendor says so, and takes that back', async () => {
    const incidentId = await world.incident();
    const parameters = { host_id: 'laptop-7', reason: 'a test' };
    const requested = await world.execute('isolate_host', { incidentId, parameters });
    const id: string = requested.body.data.action_id;
    const path = `/api/actions/${id}`;
    const approved = await world.clients.senior.request('POST', `${path}/approve`, { body: {} });
    expect([approved.status, approved.body.data.status]).toEqual([202, 'pending']);
    await settle(1, 'Succeeded');
    expect(await ended(id)).toMatchObject({
      status: 'completed',
      result: { success: true, data: { machine_id: host, status: 'Succeeded' } },
    });
    expect(defender.actions[0]!.requestorComment).toBe(`Incident triage ${id}: a test`);

    const body = { reason: 'a false alarm' };
    const rollback = await world.clients.senior.request('POST', `${path}/rollback`, { body });
    expect([rollback.status, rollback.body.data.status]).toEqual([202, 'pending']);
    await settle(2, 'Succeeded');
    const back = rollback.body.data.rollback_action_id as string;
    expect(await ended(back)).toMatchObject({ status: 'completed' });
    expect(defender.actions.map(({ type }) => type)).toEqual(['Unisolate', 'Isolate']);
  });

  it('fails when the vendor says so in the end', async () => {
    const { body } = await world.execute('scan_host', { parameters: { host_id: host } });
    expect(body.data.status).toBe('pending');
    await settle(3, 'TimeOut');
    expect(await ended(body.data.action_id)).toMatchObject({
      status: 'failed',
      result: { code: 'refused' },
    });
  });
});
