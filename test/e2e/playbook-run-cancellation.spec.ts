import { inSession, makeUser } from '../support/principals.js';
import type { RequiredLevel } from '../../src/actions/action.js';
import {
  PlaybookWorld,
  type ShownRun,
  statuses,
  step,
} from '../support/playbooks/playbook-world.js';
import { useStarted } from '../support/use-started.js';

describe('cancelling a playbook run', () => {
  const world = useStarted(() => PlaybookWorld.start({ ACTION_WAIT_MS: '300' }));

  afterEach(() => {
    world.actions.vendor.plan = undefined;
  });

  const waitingFor = async (approval_level: RequiredLevel): Promise<[string, ShownRun]> => {
    const playbook = await world.playbook([
      step('block', 'block_sender', { parameters: { sender: 'a@example.net' }, approval_level }),
    ]);
    // Whatever the level, the principal who started the run can cancel it.
    const client = world.clients.admin;
    return [playbook, (await world.run(playbook, {}, { client })).body.data as ShownRun];
  };

  it('is rejected and changes nothing if the caller cannot reject the waiting action', async () => {
    const [playbook, { run_id, steps }] = await waitingFor('manager');
    const { analyst, senior, manager } = world.clients;
    for (const [client, yours] of [
      [analyst, 'analyst'],
      [senior, 'senior'],
    ] as const) {
      const { status, body } = await world.cancel(playbook, run_id, client);
      expect([status, body.error.code]).toEqual([403, 'insufficient_approval_level']);
      expect(body.error).toMatchObject({ required_level: 'manager', your_level: yours });
    }
    const run = await world.get(playbook, run_id);
    expect([run.status, statuses(run)]).toEqual(['waiting_approval', ['waiting_approval']]);
    expect(run).not.toHaveProperty('error');
    expect((await world.actions.get(steps[0]!.action_id!)).status).toBe('pending_approval');

    const cancelled = await world.cancel(playbook, run_id, manager);
    expect(cancelled.body.data).toMatchObject({ status: 'cancelled' });
    expect(await world.actions.get(steps[0]!.action_id!)).toMatchObject({
      status: 'rejected',
      rejected_by: world.actions.names.manager,
    });
  });

  it('lets a key with a low level cancel only its own runs', async () => {
    const playbook = await world.playbook([
      step('block', 'block_ip', { approval_level: 'manager' }),
    ]);
    const { app } = world.actions;
    const admin = await inSession(app, await makeUser(app, 'admin'));
    const keyNamed = async (name: string) => {
      const { key } = (await admin.post('/api/api-keys', { name, role: 'analyst' })).body.data;
      return app.client.with({ authorization: `Bearer ${key}` });
    };
    const [soar, siem] = [await keyNamed('soar'), await keyNamed('siem')];
    const { run_id: run } = (await world.run(playbook, {}, { client: soar })).body.data as ShownRun;
    const refused = await world.cancel(playbook, run, siem);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_approval_level']);
    expect((await world.cancel(playbook, run, soar)).status).toBe(200);
  });

  it('is permitted to an analyst who has the level of the action, or if no action waits for approval', async () => {
    const [low, { run_id: waits }] = await waitingFor('analyst');
    expect((await world.cancel(low, waits, world.clients.analyst)).status).toBe(200);

    const end = Promise.withResolvers<void>();
    world.actions.vendor.plan = () => ({ behaviour: 'apply', afterMs: 0, until: end.promise });
    const playbook = await world.playbook([
      step('look', 'lookup_ip'),
      step('block', 'block_ip', { approval_level: 'manager' }),
    ]);
    const { run_id, status } = await world.ran(playbook);
    expect(status).toBe('running');
    expect((await world.cancel(playbook, run_id, world.clients.analyst)).status).toBe(200);
    end.resolve();
  });

  it('rejects an action that waits for a place of its connector', async () => {
    const { database } = world.actions;
    await database.query(`update work_lanes set places = 0 where kind = 'action'`);
    world.actions.vendor.forget();

    const playbook = await world.playbook([step('look', 'lookup_ip')], {
      auto_run: true,
      triggers: { incident_types: ['malware'] },
    });
    await world.triaged({ incident_type: 'malware' });
    const run = await world.startedRun(playbook);
    const { steps } = await world.until(playbook, run.run_id, ({ steps: [look] }) => {
      return look!.status === 'running';
    });
    const action = steps[0]!.action_id!;
    expect(await world.actions.get(action)).toMatchObject({ status: 'pending' });
    expect((await world.cancel(playbook, run.run_id, world.clients.analyst)).status).toBe(200);
    expect(await world.actions.get(action)).toMatchObject({
      status: 'rejected',
      rejected_by: world.actions.names.analyst,
    });
    await database.query(`update work_lanes set places = 8 where kind = 'action'`);
    expect((await world.actions.execute('lookup_ip')).status).toBe(200);
    expect(world.actions.calls).toHaveLength(1);
  });
});
