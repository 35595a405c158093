import { IncidentDeletion } from '../../src/incidents/incident-deletion.js';
import { ActionWorld, PARAMETERS } from '../support/actions/action-world.js';
import { eventually } from '../support/jobs/eventually.js';

describe('What is asked for while its incident is being deleted', () => {
  let world: ActionWorld;
  /** The deletion waits for it, with its locks held and its own work on actions done. */
  let gate: { readonly reached: () => void; readonly opened: Promise<void> } | undefined;

  beforeAll(async () => {
    world = await ActionWorld.start({}, 2);
    world.app.nest.get(IncidentDeletion).register(async () => {
      gate?.reached();
      await gate?.opened;
    });
  });
  afterAll(() => world?.close());

  /** The answer to what comes, on the other replica, while the deletion is under way. */
  async function during(incidentId: string, method: string, path: string, body: object) {
    const reached = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    gate = { reached: reached.resolve, opened: opened.promise };
    const deletion = world.clients.admin.request('DELETE', `/api/incidents/${incidentId}`);
    await reached.promise;
    const replica = world.replicas[1]!.client;
    let answered = false;
    const asked = replica
      .request(method, path, { body, headers: await authorization() })
      .finally(() => (answered = true));
    // Either it waits for the deletion, as it should, or it has been answered all the same.
    await eventually(
      () =>
        world.database.query<object[]>(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      (waiting) => answered || waiting.length > 0,
    );
    expect(answered).toBe(false);
    opened.resolve();
    gate = undefined;
    expect((await deletion).status).toBe(200);
    return await asked;
  }
  const authorization = async () => {
    const { makeKey } = await import('../support/principals.js');
    return { authorization: `Bearer ${(await makeKey(world.app, 'senior')).key}` };
  };
  const actionsOf = (incidentId: string) =>
    world.database.query<{ status: string }[]>(
      'select status from actions where incident_id = $1',
      [incidentId],
    );

  it.each(['block_sender', 'isolate_host'] as const)('is not accepted (%s)', async (action) => {
    const incidentId = await world.incident();
    const calls = world.calls.length;
    const path = `/api/incidents/${incidentId}/actions`;
    const body = { action, parameters: PARAMETERS[action] };
    const answer = await during(incidentId, 'POST', path, body);
    expect([answer.status, answer.body.error.message]).toEqual([404, 'Incident not found.']);
    expect(await actionsOf(incidentId)).toEqual([]);
    expect(world.calls).toHaveLength(calls);
  });

  it('is not approved', async () => {
    const incidentId = await world.incident();
    const calls = world.calls.length;
    const id = (await world.execute('isolate_host', { incidentId })).body.data.action_id as string;
    const answer = await during(incidentId, 'POST', `/api/actions/${id}/approve`, {});
    expect([answer.status, answer.body.error.code]).toEqual([409, 'invalid_state']);
    expect(await actionsOf(incidentId)).toEqual([{ status: 'rejected' }]);
    expect(world.calls).toHaveLength(calls);
  });

  it('is undone as a direct action', async () => {
    const incidentId = await world.incident();
    const id = (await world.execute('block_sender', { incidentId })).body.data.action_id as string;
    const body = { reason: 'a mistake' };
    const answer = await during(incidentId, 'POST', `/api/actions/${id}/rollback`, body);
    expect(answer.status).toBe(200);
    expect(await actionsOf(incidentId)).toEqual([{ status: 'completed' }]);
  });

  it('does not change it', async () => {
    const incidentId = await world.incident();
    const path = `/api/incidents/${incidentId}`;
    const answer = await during(incidentId, 'PUT', path, { severity: 'high' });
    expect(answer.status).toBe(404);
  });
});
