import { ActionWorld } from '../support/actions/action-world.js';
import { eventually } from '../support/jobs/eventually.js';
import { FalconServer } from '../support/vendors/falcon-server.js';

let world: ActionWorld;

beforeAll(async () => {
  world = await ActionWorld.start();
});
afterAll(() => world?.close());

const ended = (id: string) =>
  eventually(
    () => world.get(id),
    ({ status }) => status !== 'pending',
  );

describe('a connector of the type crowdstrike_falcon', () => {
  let falcon: FalconServer;
  let host: string;

  beforeAll(async () => {
    falcon = await new FalconServer().start();
    host = falcon.addHost('LAPTOP-7');
    const config = {
      base_url: falcon.url,
      client_id: 'falcon-client',
      client_secret: 'falcon-secret-1',
    };
    const body = { name: 'falcon', type: 'crowdstrike_falcon', priority: 1, config };
    const made = await world.clients.admin.request('POST', '/api/connectors', { body });
    expect(made.status).toBe(201);
    expect(made.text).not.toContain('falcon-secret-1');
  });
  afterEach(() => {
    expect(falcon.problems).toEqual([]);
    falcon.forget();
  });
  afterAll(async () => {
    await falcon.stop();
  });

  const isolate = async (): Promise<string> => {
    const incidentId = await world.incident();
    const parameters = { host_id: 'laptop-7', reason: 'a test' };
    const requested = await world.execute('isolate_host', { incidentId, parameters });
    const id: string = requested.body.data.action_id;
    const approval = { body: {} };
    const path = `/api/actions/${id}/approve`;
    const approved = await world.clients.senior.request('POST', path, approval);
    expect([approved.status, approved.body.data.status]).toEqual([202, 'pending']);
    return id;
  };

  it('contains a host on an incident, is done when the host is contained, and takes that back', async () => {
    const id = await isolate();
    await eventually(
      async () => falcon.hosts.get(host)!.status,
      (status) => status === 'containment_pending',
    );
    falcon.settle('contained');
    expect(await ended(id)).toMatchObject({
      status: 'completed',
      result: { success: true, data: { device_id: host, status: 'contained' } },
    });
    const path = `/api/actions/${id}/rollback`;
    const body = { reason: 'a false alarm' };
    const rollback = await world.clients.senior.request('POST', path, { body });
    expect([rollback.status, rollback.body.data.status]).toEqual([202, 'pending']);
    await eventually(
      async () => falcon.hosts.get(host)!.status,
      (status) => status === 'lift_containment_pending',
    );
    falcon.settle('normal');
    const back = rollback.body.data.rollback_action_id as string;
    expect(await ended(back)).toMatchObject({ status: 'completed' });
    const actions = falcon.lines.filter((line) => line.includes('devices-actions'));
    expect(actions.map((line) => line.split('=')[1])).toEqual(['contain', 'lift_containment']);
  });

  it('fails when the containment is taken back at the vendor', async () => {
    const id = await isolate();
    await eventually(
      async () => falcon.lines.filter((line) => line.endsWith('devices/v2')).length,
      (asked) => asked > 1,
    );
    falcon.settle('normal');
    expect(await ended(id)).toMatchObject({ status: 'failed', result: { code: 'refused' } });
  });
});
