import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { newId } from '../../src/platform/ids.js';
import { ApprovalExpiry } from '../../src/approvals/approvals.service.js';
import { ActionWorld, PARAMETERS } from '../support/actions/action-world.js';
import { requestedEarlier } from '../support/actions/held-change.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { samplesWith, scrape } from '../support/metrics.js';

const ROUNDS = 5;
const AT_ONCE = 50;

describe('approvals', () => {
  let world: ActionWorld;

  beforeAll(async () => {
    world = await ActionWorld.start({}, 2);
  });
  afterEach(() => world.vendor.forget());
  afterAll(() => world?.close());

  const wait = async (incidentId?: string): Promise<string> => {
    const answer = await world.execute('isolate_host', incidentId ? { incidentId } : {});
    expect(answer.body.data.status).toBe('pending_approval');
    return answer.body.data.action_id;
  };
  const approve = (client: ApiClient, id: string, body: unknown = {}): Promise<Answer> =>
    client.request('POST', `/api/actions/${id}/approve`, { body });
  const reject = (client: ApiClient, id: string, body: unknown = { reason: 'no' }) =>
    client.request('POST', `/api/actions/${id}/reject`, { body });
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
    const answer = await world.clients.manager.request('POST', `/api/actions/${id}/approve`);
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
  });

  it.each([
    ['viewer', 'none'],
    ['analyst', 'analyst'],
  ] as const)('refuses a %s, whose level is %s, both decisions', async (role, level) => {
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
    const audit = await world.clients.admin.request('GET', '/api/audit?action=auth.level_refused');
    expect(audit.body.data[0]).toMatchObject({ actor: world.names[role] });
  });

  it('answers errors in the order of the checks', async () => {
    const { viewer, analyst, senior } = world.clients;
    const id = await wait();
    expect((await world.app.request('POST', `/api/actions/${id}/approve`)).status).toBe(401);
    for (const wrong of [{ comment: 7 }, { x: 1 }, { comment: null }]) {
      expect((await approve(viewer, id, wrong)).status).toBe(422);
      expect((await approve(viewer, `act-${newId()}`, wrong)).status).toBe(422);
    }
    for (const wrong of [{}, { reason: '' }, { reason: 7 }, { reason: 'x', y: 1 }]) {
      expect((await reject(viewer, id, wrong)).status).toBe(422);
    }
    expect((await analyst.request('POST', `/api/actions/${id}/approve?x=1`)).status).toBe(422);
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

  it(`lets one of ${AT_ONCE} decisions that come at once win, with one effect at most`, async () => {
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

  it('repeats the answer to an approval for its Idempotency-Key', async () => {
    const id = await wait();
    const headers = { 'idempotency-key': newId() };
    const send = () =>
      world.clients.senior.request('POST', `/api/actions/${id}/approve`, { body: {}, headers });
    const first = await send();
    const second = await send();
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(world.vendor.effectsOf(id)).toBe(1);
  });

  it('rejects waiting actions when their incident is deleted', async () => {
    const incidentId = await world.incident();
    const id = await wait(incidentId);
    await world.clients.admin.request('DELETE', `/api/incidents/${incidentId}`);
    const shown = await world.get(id);
    expect(shown).toMatchObject({ status: 'rejected', rejected_by: 'system' });
    expect(shown).not.toHaveProperty('incident');
    expect(codeOf(await approve(world.clients.senior, id))).toEqual([409, 'invalid_state']);
  });

  it('takes place before or after a racing deletion of the incident', async () => {
    for (let round = 0; round < 8; round += 1) {
      const incidentId = await world.incident();
      const id = await wait(incidentId);
      const [deleted, approved] = await Promise.all([
        world.clients.admin.request('DELETE', `/api/incidents/${incidentId}`),
        approve(world.clients.senior, id),
      ]);
      expect(deleted.status).toBe(200);
      const { status } = await world.get(id);
      expect(['completed', 'rejected']).toContain(status);
      expect([200, 409]).toContain(approved.status);
      expect(world.vendor.effectsOf(id)).toBe(status === 'completed' ? 1 : 0);
    }
  });

  it('counts waiting actions and measures the time until the decision', async () => {
    await wait();
    const { text } = await world.app.request('GET', '/metrics');
    expect(text).toMatch(/^approvals_pending [1-9]/m);
    expect(text).toMatch(/^approval_wait_seconds_count [1-9]/m);
  });

  it('reports how long the oldest action has waited', async () => {
    await requestedEarlier(world.database.manager, await wait(), '90 minutes');
    await wait();
    // Scrapes within a second share one look.
    await sleep(1_100);
    const [oldest] = samplesWith(await scrape(world.app), 'approvals_oldest_seconds');
    expect(oldest!.value).toBeGreaterThanOrEqual(90 * 60);
    expect(oldest!.value).toBeLessThan(100 * 60);
  });

  it('rejects actions that nobody decided on in time, and no others', async () => {
    const [late, early] = [await wait(), await wait()];
    await requestedEarlier(world.database.manager, late, '1440 minutes');
    await requestedEarlier(world.database.manager, early, '1439 minutes');
    await world.app.nest.get(ApprovalExpiry).expire();
    expect((await world.get(early)).status).toBe('pending_approval');
    expect(await world.get(late)).toMatchObject({
      status: 'rejected',
      rejected_by: 'system',
      rejection_reason: 'Nobody decided on it within 1440 minutes.',
    });
  });

  it('is recorded in the audit trail', async () => {
    const id = await wait();
    await reject(world.clients.senior, id);
    const rows = await world.app.nest
      .get(DataSource)
      .query<{ action: string }[]>(
        `select action from audit_log where subject_id = $1 order by id`,
        [id],
      );
    expect(rows.map(({ action }) => action)).toEqual(['action.requested', 'action.rejected']);
  });

  async function elsewhere(role: 'senior' | 'manager'): Promise<ApiClient> {
    const { makeKey } = await import('../support/principals.js');
    return (await makeKey(world.replicas[1]!, role)).client;
  }
});

describe('approvals with four eyes', () => {
  let world: ActionWorld;

  beforeAll(async () => {
    world = await ActionWorld.start({
      APPROVAL_FOUR_EYES: 'true',
      APPROVAL_LEVELS: '{"block_sender":"manager","isolate_host":"none"}',
      APPROVAL_RAISE_ON_CRITICAL: 'true',
      PROTECTED_TARGETS: '{"hosts":["dc-*"],"domains":["example.com"]}',
    });
  });
  afterAll(() => world?.close());

  it("refuses to approve one's own request, and lets it be rejected", async () => {
    const { senior, manager } = world.clients;
    const request = async (client: ApiClient) =>
      (await world.execute('revoke_sessions', { client })).body.data.action_id as string;
    const own = await request(senior);
    const refused = await senior.request('POST', `/api/actions/${own}/approve`, { body: {} });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    expect((await world.get(own)).status).toBe('pending_approval');
    const path = '/api/audit?action=auth.own_request_refused';
    const audit = await world.clients.admin.request('GET', path);
    expect(audit.body.data).toMatchObject([
      {
        actor: world.names.senior,
        subject: { type: 'route', id: 'POST /api/actions/:id/approve' },
      },
    ]);
    const other = await manager.request('POST', `/api/actions/${own}/approve`, { body: {} });
    expect(other.body.data.status).toBe('completed');
    const rejected = await senior.request('POST', `/api/actions/${await request(senior)}/reject`, {
      body: { reason: 'a mistake' },
    });
    expect(rejected.status).toBe(200);
  });

  it.each([
    ['block_sender', { sender: 'a@b.c' }, 'medium', 'manager'],
    ['isolate_host', { host_id: 'laptop-7' }, 'critical', undefined],
    ['isolate_host', { host_id: 'DC-1' }, 'low', 'manager'],
    ['revoke_sessions', { user: 'mallory' }, 'critical', 'senior'],
    ['revoke_sessions', { user: 'mallory' }, 'high', 'analyst'],
    ['unblock_sender', { sender: 'ceo@example.com' }, 'low', 'manager'],
  ] as const)(
    'gives %s %j on a %s incident the level %s',
    async (type, parameters, severity, level) => {
      const incidentId = await world.incident({ severity });
      const { body } = await world.execute(type, { incidentId, parameters });
      expect(body.data.approval_level).toBe(level);
      expect(body.data.status).toBe(level ? 'pending_approval' : 'completed');
    },
  );

  it('shows the levels of the site, not those of the catalogue', async () => {
    const { body } = await world.clients.viewer.request('GET', '/api/actions/types');
    const shown = Object.fromEntries(
      body.data.map((type: { name: string; default_approval_level?: string }) => [
        type.name,
        type.default_approval_level,
      ]),
    );
    expect(shown).toMatchObject({
      block_sender: 'manager',
      isolate_host: undefined,
      unisolate_host: 'senior',
    });
  });
});
