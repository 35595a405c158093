import { WaitingApprovals } from '../../src/actions/approvals/waiting-approvals.js';
import { IncidentsService } from '../../src/incidents/incidents.service.js';
import { newId } from '../../src/platform/ids.js';
import { ActionWorld, PARAMETERS } from '../support/actions/action-world.js';
import { requestedEarlier } from '../support/actions/held-change.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { samplesWith, scrape } from '../support/metrics.js';
import { as, makeKey } from '../support/principals.js';
import { useStarted } from '../support/use-started.js';

const world = useStarted(() => ActionWorld.start({}, 2));

afterEach(() => world.vendor.forget());

const ROUNDS = 2;
const AT_ONCE = 50;

describe('approvals', () => {
  const wait = async (incidentId?: string): Promise<string> => {
    const answer = await world.execute('isolate_host', incidentId ? { incidentId } : {});
    expect(answer.body.data.status).toBe('pending_approval');
    return answer.body.data.action_id;
  };
  const approve = (client: ApiClient, id: string, body: unknown = {}): Promise<Answer> =>
    client.post(`/api/actions/${id}/approve`, body);
  const reject = (client: ApiClient, id: string, body: unknown = { reason: 'no' }) =>
    client.post(`/api/actions/${id}/reject`, body);
  const codeOf = ({ status, body }: Answer) => [status, body.error?.code];

  it('runs an approved action with the approved parameters', async () => {
    const id = await wait();
    const answer = await approve(world.clients.senior, id, { comment: 'Confirmed.' });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      id,
      status: 'completed',
      approved_by: world.names.senior,
      approved_at: expect.any(String),
      result: expect.objectContaining({ success: true }),
    });
    expect(world.vendor.effectsOf(id)).toBe(1);
    expect(await world.get(id)).toMatchObject({
      status: 'completed',
      parameters: PARAMETERS.isolate_host,
      approval_level: 'senior',
      requested_by: world.names.analyst,
      approved_by: world.names.senior,
      comment: 'Confirmed.',
      executed_by: world.names.senior,
    });
  });

  it('accepts an approval without a body', async () => {
    const id = await wait();
    const answer = await world.clients.manager.post(`/api/actions/${id}/approve`);
    expect(answer.body.data.status).toBe('completed');
  });

  it('does not run a rejected action', async () => {
    const id = await wait();
    const answer = await reject(world.clients.senior, id, { reason: 'A domain controller.' });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      id,
      status: 'rejected',
      rejected_by: world.names.senior,
      rejected_at: expect.any(String),
      rejection_reason: 'A domain controller.',
    });
    expect(world.calls).toHaveLength(0);
    expect(codeOf(await approve(world.clients.manager, id))).toEqual([409, 'invalid_state']);
    const audit = await world.clients.admin.get(`/api/audit?subject=action:${id}&sort=at`);
    expect(audit.body.data.map(({ action }: { action: string }) => action)).toEqual([
      'action.requested',
      'action.rejected',
    ]);
  });

  it.each([
    ['viewer', 'none'],
    ['analyst', 'analyst'],
  ] as const)('rejects approval and rejection by a %s with the level %s', async (role, level) => {
    const id = await wait();
    for (const decide of [approve, reject]) {
      const answer = await decide(
        world.clients[role],
        id,
        decide === reject ? { reason: 'x' } : {},
      );
      expect(codeOf(answer)).toEqual([403, 'insufficient_approval_level']);
      expect(answer.body.error).toMatchObject({ required_level: 'senior', your_level: level });
    }
    expect((await world.get(id)).status).toBe('pending_approval');
    const audit = await world.clients.admin.get('/api/audit?action=auth.level_refused');
    expect(audit.body.data[0]).toMatchObject({ actor: world.names[role] });
  });

  it('returns errors in the order of the checks', async () => {
    const { viewer, analyst, senior } = world.clients;
    const id = await wait();
    expect((await world.app.post(`/api/actions/${id}/approve`)).status).toBe(401);
    for (const wrong of [{ comment: 7 }, { x: 1 }, { comment: null }]) {
      expect((await approve(viewer, id, wrong)).status).toBe(422);
      expect((await approve(viewer, `act-${newId()}`, wrong)).status).toBe(422);
    }
    for (const wrong of [{}, { reason: '' }, { reason: 7 }, { reason: 'x', y: 1 }]) {
      expect((await reject(viewer, id, wrong)).status).toBe(422);
    }
    expect((await analyst.post(`/api/actions/${id}/approve?x=1`)).status).toBe(422);
    for (const missing of [`act-${newId()}`, 'act-1', 'x', newId()]) {
      expect(codeOf(await approve(viewer, missing))).toEqual([404, 'not_found']);
      expect(codeOf(await reject(viewer, missing))).toEqual([404, 'not_found']);
    }
    await world.turnOn();
    try {
      expect((await approve(analyst, id)).status).toBe(403);
      expect(codeOf(await approve(senior, id))).toEqual([409, 'kill_switch_active']);
      expect((await world.get(id)).status).toBe('pending_approval');
      const other = (await reject(senior, id)).status;
      expect(other).toBe(200);
      expect(codeOf(await approve(senior, id))).toEqual([409, 'invalid_state']);
      expect((await approve(analyst, id)).status).toBe(403);
    } finally {
      await world.turnOff();
    }
    expect(world.calls).toHaveLength(0);
  });

  it(`accepts one of ${AT_ONCE} simultaneous decisions, with at most one effect`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await wait();
      const [one, other] = world.replicas.map(({ url }) => url);
      expect(one).not.toBe(other);
      const clients = [world.clients.senior, await elsewhere('senior'), await elsewhere('manager')];
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, at) => {
          const client = clients[at % clients.length]!;
          return at % 2 === round % 2 ? approve(client, id) : reject(client, id);
        }),
      );
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      const lost = answers.filter(({ status }) => status !== 200).map(codeOf);
      expect(new Set(lost.map(String))).toEqual(new Set(['409,invalid_state']));
      const { status } = won[0]!.body.data;
      expect(await world.get(id)).toMatchObject({ status });
      expect(world.vendor.effectsOf(id)).toBe(status === 'completed' ? 1 : 0);
    }
  });

  it('records in the audit trail who lowered the severity of a critical incident', async () => {
    const incidentId = await world.incident({ severity: 'critical' });
    const { analyst, admin } = world.clients;
    const body = { severity: 'low' };
    expect((await analyst.put(`/api/incidents/${incidentId}`, body)).status).toBe(200);
    const path = `/api/audit?action=incident.severity_lowered&subject=incident:${incidentId}`;
    const [lowered] = (await admin.get(path)).body.data;
    expect(lowered.actor).toBe(world.names.analyst);
  });

  it('shows the number, the age and the waiting time of actions that wait for approval in the metrics', async () => {
    await requestedEarlier(world.database.manager, await wait(), '90 minutes');
    const { text } = await world.app.get('/metrics');
    expect(text).toMatch(/^approvals_pending [1-9]/m);
    expect(text).toMatch(/^approval_wait_seconds_count [1-9]/m);
    // Repeats the scrape, because scrapes within a second share one read of the database.
    const [oldest] = await eventually(
      async () => samplesWith(await scrape(world.app), 'approvals_oldest_seconds'),
      ([sample]) => sample!.value >= 90 * 60,
    );
    expect(oldest!.value).toBeLessThan(24 * 60 * 60);
  });

  it('rejects actions without a decision only after the deadline', async () => {
    const [late, early] = [await wait(), await wait()];
    await requestedEarlier(world.database.manager, late, '1440 minutes');
    await requestedEarlier(world.database.manager, early, '1439 minutes');
    await world.app.nest.get(WaitingApprovals).expire();
    expect((await world.get(early)).status).toBe('pending_approval');
    expect(await world.get(late)).toMatchObject({
      status: 'rejected',
      rejected_by: 'system',
      rejection_reason: 'Nobody approved or rejected the action within 1440 min.',
    });
  });

  async function elsewhere(role: 'senior' | 'manager'): Promise<ApiClient> {
    return (await makeKey(world.replicas[1]!, role)).client;
  }
});

describe('a request while its incident is being deleted', () => {
  const senior = useStarted(() => as(world.app, 'senior'));
  /** If set, the deletion waits at this gate. It then holds its locks and has ended the actions. */
  let gate: { readonly reached: () => void; readonly opened: Promise<void> } | undefined;

  beforeAll(async () => {
    world.app.nest.get(IncidentsService).registerEnding({
      end: async () => {
        const here = gate;
        here?.reached();
        await here?.opened;
        return 0;
      },
    });
  });

  /** Returns the response to a request on the other replica. The request waits for a lock until the deletion ends. */
  async function during(incidentId: string, method: string, path: string, body: object) {
    const reached = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    gate = { reached: reached.resolve, opened: opened.promise };
    const deletion = world.clients.admin.delete(`/api/incidents/${incidentId}`);
    await reached.promise;
    gate = undefined;
    let answered = false;
    const answer = senior.request(method, path, { body }).finally(() => (answered = true));
    const sql = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    try {
      await eventually(
        () => world.database.query<object[]>(sql),
        (waiting) => answered || waiting.length > 0,
      );
      expect(answered).toBe(false);
    } finally {
      opened.resolve();
    }
    expect((await deletion).status).toBe(200);
    return await answer;
  }
  const actionsOf = (incidentId: string) =>
    world.database.query<{ status: string }[]>(
      'select status from actions where incident_id = $1',
      [incidentId],
    );

  it.each(['block_sender', 'isolate_host'] as const)(
    'is rejected if it creates a %s',
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

  it('is rejected if it is an approval', async () => {
    const incidentId = await world.incident();
    const calls = world.calls.length;
    const id = (await world.execute('isolate_host', { incidentId })).body.data.action_id as string;
    const answer = await during(incidentId, 'POST', `/api/actions/${id}/approve`, {});
    expect([answer.status, answer.body.error.code]).toEqual([409, 'invalid_state']);
    expect(await actionsOf(incidentId)).toEqual([{ status: 'rejected' }]);
    expect(world.calls).toHaveLength(calls);
  });

  it('is executed without the incident if it is a rollback', async () => {
    const incidentId = await world.incident();
    const id = (await world.execute('block_sender', { incidentId })).body.data.action_id as string;
    const body = { reason: 'a mistake' };
    const answer = await during(incidentId, 'POST', `/api/actions/${id}/rollback`, body);
    expect(answer.status).toBe(200);
    expect(await actionsOf(incidentId)).toEqual([{ status: 'completed' }]);
  });

  it('is rejected if it changes the incident', async () => {
    const incidentId = await world.incident();
    const path = `/api/incidents/${incidentId}`;
    expect((await during(incidentId, 'PUT', path, { severity: 'high' })).status).toBe(404);
  });
});
