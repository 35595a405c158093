import { IncidentEndings } from '../../src/incidents/incidents.service.js';
import { ActionWorld, PARAMETERS } from '../support/actions/action-world.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { makeKey } from '../support/principals.js';

interface Waiting {
  readonly answer: Promise<Answer>;
}

describe('what is asked for while its incident is being deleted', () => {
  let world: ActionWorld;
  let senior: ApiClient;
  /** The deletion waits for it, with its locks held and its own work on actions done. */
  let gate: { readonly reached: () => void; readonly opened: Promise<void> } | undefined;

  beforeAll(async () => {
    world = await ActionWorld.start({}, 2);
    senior = (await makeKey(world.replicas[1]!, 'senior')).client;
    world.app.nest.get(IncidentEndings).register({
      onDeleted: async () => {
        const here = gate;
        here?.reached();
        await here?.opened;
      },
    });
  });
  afterAll(() => world?.close());

  /** Asks on the other replica, and returns once the request waits for a lock; fails when it was answered all the same. */
  async function asking(method: string, path: string, body: object): Promise<Waiting> {
    let answered = false;
    const asked = senior.request(method, path, { body }).finally(() => (answered = true));
    await eventually(
      () =>
        world.database.query<object[]>(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      (waiting) => answered || waiting.length > 0,
    );
    expect(answered).toBe(false);
    return { answer: asked };
  }

  /** The answer to what comes while the deletion is under way. */
  async function during(incidentId: string, method: string, path: string, body: object) {
    const reached = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    gate = { reached: reached.resolve, opened: opened.promise };
    const deletion = world.clients.admin.request('DELETE', `/api/incidents/${incidentId}`);
    await reached.promise;
    gate = undefined;
    const waiting = await asking(method, path, body).finally(() => opened.resolve());
    expect((await deletion).status).toBe(200);
    return await waiting.answer;
  }
  const actionsOf = (incidentId: string) =>
    world.database.query<{ status: string }[]>(
      'select status from actions where incident_id = $1',
      [incidentId],
    );

  it.each(['block_sender', 'isolate_host'] as const)(
    'is refused when it is a new %s',
    async (action) => {
      const incidentId = await world.incident();
      const calls = world.calls.length;
      const path = `/api/incidents/${incidentId}/actions`;
      const body = { action, parameters: PARAMETERS[action] };
      const answer = await during(incidentId, 'POST', path, body);
      expect([answer.status, answer.body.error.message]).toEqual([404, 'Incident not found.']);
      expect(await actionsOf(incidentId)).toEqual([]);
      expect(world.calls).toHaveLength(calls);
    },
  );

  it('is refused when it is an approval', async () => {
    const incidentId = await world.incident();
    const calls = world.calls.length;
    const id = (await world.execute('isolate_host', { incidentId })).body.data.action_id as string;
    const answer = await during(incidentId, 'POST', `/api/actions/${id}/approve`, {});
    expect([answer.status, answer.body.error.code]).toEqual([409, 'invalid_state']);
    expect(await actionsOf(incidentId)).toEqual([{ status: 'rejected' }]);
    expect(world.calls).toHaveLength(calls);
  });

  it('becomes a direct action when it is a rollback', async () => {
    const incidentId = await world.incident();
    const id = (await world.execute('block_sender', { incidentId })).body.data.action_id as string;
    const body = { reason: 'a mistake' };
    const answer = await during(incidentId, 'POST', `/api/actions/${id}/rollback`, body);
    expect(answer.status).toBe(200);
    expect(await actionsOf(incidentId)).toEqual([{ status: 'completed' }]);
  });

  it('is refused when it is a change of the incident', async () => {
    const incidentId = await world.incident();
    const path = `/api/incidents/${incidentId}`;
    const answer = await during(incidentId, 'PUT', path, { severity: 'high' });
    expect(answer.status).toBe(404);
  });

  it.each([
    ['approved', 'isolate_host', 'approve', {}],
    ['rejected', 'isolate_host', 'reject', { reason: 'no' }],
    ['rolled back', 'block_sender', 'rollback', { reason: 'no' }],
  ] as const)(
    'waits until nobody holds the incident when the action is to be %s',
    async (_, type, verb, body) => {
      const incidentId = await world.incident();
      const id = (await world.execute(type, { incidentId })).body.data.action_id as string;
      const holder = world.database.createQueryRunner();
      await holder.startTransaction();
      try {
        await holder.query('select 1 from incidents where id = $1 for no key update', [incidentId]);
        const waiting = await asking('POST', `/api/actions/${id}/${verb}`, body);
        await holder.rollbackTransaction();
        expect((await waiting.answer).status).toBe(200);
      } finally {
        if (holder.isTransactionActive) await holder.rollbackTransaction();
        await holder.release();
      }
    },
  );
});
