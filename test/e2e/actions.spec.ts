import { newId } from '../../src/platform/ids.js';
import { ActionWorld, PARAMETERS } from '../support/actions/action-world.js';
import { samplesWith, scrape } from '../support/metrics.js';
import { makeKey } from '../support/principals.js';

const ID = /^act-[0-9a-f-]{36}$/;

describe('actions', () => {
  let world: ActionWorld;

  beforeAll(async () => {
    world = await ActionWorld.start();
  });
  afterEach(() => world.vendor.forget());
  afterAll(() => world?.close());

  describe('execution', () => {
    it('runs at once what needs no approval, and answers with its result', async () => {
      const incidentId = await world.incident();
      const answer = await world.execute('quarantine_email', { incidentId });
      expect(answer.status).toBe(200);
      const { action_id, ...rest } = answer.body.data;
      expect(action_id).toMatch(ID);
      expect(rest).toMatchObject({ status: 'completed', result: { success: true } });
      expect(world.vendor.effectsOf(action_id)).toBe(1);
      const shown = await world.get(action_id);
      expect(shown).toMatchObject({
        id: action_id,
        incident_id: incidentId,
        action_type: 'quarantine_email',
        status: 'completed',
        parameters: PARAMETERS.quarantine_email,
        requested_by: world.names.analyst,
        executed_by: world.names.analyst,
        incident: { incident_type: 'phishing', severity: 'medium' },
      });
      expect(shown).not.toHaveProperty('approval_level');
    });

    it('runs a direct action, which has no incident', async () => {
      const answer = await world.execute('block_sender');
      expect(answer.status).toBe(200);
      const shown = await world.get(answer.body.data.action_id);
      expect(shown).not.toHaveProperty('incident_id');
      expect(shown).not.toHaveProperty('incident');
    });

    it('waits for approval where the policy asks for it, and says at which level', async () => {
      const answer = await world.execute('isolate_host', { incidentId: await world.incident() });
      expect(answer.status).toBe(202);
      expect(answer.body.data).toEqual({
        action_id: expect.stringMatching(ID),
        status: 'pending_approval',
        approval_level: 'senior',
        expires_at: expect.any(String),
        message: 'isolate_host needs approval at level senior or higher.',
      });
      expect(world.calls).toHaveLength(0);
    });

    it('answers 200 with a failed action when the vendor refuses it', async () => {
      world.vendor.behave('refuse');
      const answer = await world.execute('block_sender');
      expect(answer.status).toBe(200);
      expect(answer.body.data).toMatchObject({
        status: 'failed',
        result: { success: false, code: 'refused' },
      });
    });

    it('fails at once what no connector provides, before anyone is asked to approve it', async () => {
      const answer = await world.execute('disable_user', { parameters: { user: 'mallory' } });
      expect(answer.status).toBe(200);
      expect(answer.body.data).toMatchObject({
        status: 'failed',
        result: { success: false, code: 'no_connector' },
      });
    });

    it.each([
      ['refuse', 'block_sender', 'refused', 0],
      ['apply-then-drop', 'block_sender', 'outcome_unknown', 1],
      ['apply-then-500', 'block_sender', 'outcome_unknown', 1],
      ['error-500', 'block_sender', 'outcome_unknown', 0],
      ['truncated', 'block_sender', 'outcome_unknown', 1],
    ] as const)(
      'gives an action whose vendor does %s (%s) the failure code %s',
      async (behaviour, type, code, effects) => {
        world.vendor.behave(behaviour);
        const { body } = await world.execute(type);
        expect(body.data).toMatchObject({ status: 'failed', result: { success: false, code } });
        expect(world.vendor.effectsOf(body.data.action_id)).toBe(effects);
        const counted = { action_type: type, code };
        const [failures] = samplesWith(await scrape(world.app), 'action_failures_total', counted);
        expect(failures!.value).toBeGreaterThanOrEqual(1);
      },
    );

    it('has one effect for an Idempotency-Key, and answers the same again', async () => {
      const headers = { 'idempotency-key': newId() };
      const first = await world.execute('block_sender', { headers });
      const second = await world.execute('block_sender', { headers });
      expect(second.text).toBe(first.text);
      expect(second.status).toBe(200);
      expect(second.headers['idempotency-replayed']).toBe('true');
      expect(world.calls).toHaveLength(1);
    });

    it('has one effect for two requests with one key that come at once', async () => {
      world.vendor.answerAfter(100);
      const headers = { 'idempotency-key': newId() };
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => world.execute('block_sender', { headers })),
      );
      expect(world.calls).toHaveLength(1);
      for (const { status } of answers) expect([200, 409]).toContain(status);
      expect(answers.some(({ status }) => status === 200)).toBe(true);
    });

    it('is recorded in the timeline, in the audit trail and in the metrics', async () => {
      const incidentId = await world.incident();
      const { body } = await world.execute('quarantine_email', { incidentId });
      const { viewer, admin } = world.clients;
      const timeline = await viewer.request('GET', `/api/incidents/${incidentId}/timeline`);
      expect(timeline.body.data.map(({ event }: { event: string }) => event)).toEqual([
        'created',
        'action_requested',
        'action_completed',
      ]);
      const audit = await admin.request('GET', `/api/audit?subject=action:${body.data.action_id}`);
      expect(audit.body.data.map(({ action }: { action: string }) => action).sort()).toEqual([
        'action.completed',
        'action.requested',
      ]);
      const { text } = await world.app.request('GET', '/metrics');
      expect(text).toMatch(
        /actions_executed_total\{action_type="quarantine_email",status="completed"\} [1-9]/,
      );
    });
  });

  describe('the order of checks', () => {
    const execute = (client: 'viewer' | 'analyst', path: string, body: unknown) =>
      world.clients[client].request('POST', path, { body });

    it.each([
      ['an unknown type', { action: 'launch', parameters: {} }, 'action'],
      ['no type', { parameters: {} }, 'action'],
      ['no parameters', { action: 'block_sender' }, 'parameters.sender'],
      ['a missing one', { action: 'block_sender', parameters: {} }, 'parameters.sender'],
      [
        'an unknown one',
        { action: 'block_sender', parameters: { sender: 'a', evil: 1 } },
        'parameters.evil',
      ],
      ['a wrong type', { action: 'block_sender', parameters: { sender: 7 } }, 'parameters.sender'],
      ['no address', { action: 'lookup_ip', parameters: { ip: '10.0.0.0/8' } }, 'parameters.ip'],
      ['a list', { action: 'block_sender', parameters: [] }, 'parameters'],
      ['an unknown field', { action: 'block_sender', parameters: { sender: 'a' }, x: 1 }, 'x'],
    ])('refuses %s with 422, before the incident is looked for', async (_, body, field) => {
      for (const path of ['/api/actions/execute', `/api/incidents/${newId()}/actions`]) {
        const answer = await execute('analyst', path, body);
        expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
        expect(answer.body.error.details.errors[0].field).toBe(field);
      }
    });

    it('refuses a viewer first, then what is malformed, then a missing incident, then by the kill switch', async () => {
      const path = `/api/incidents/${newId()}/actions`;
      const body = { action: 'block_sender', parameters: PARAMETERS.block_sender };
      await world.turnOn();
      try {
        expect((await execute('viewer', path, {})).status).toBe(403);
        expect((await execute('analyst', path, {})).status).toBe(422);
        expect((await execute('analyst', path, body)).status).toBe(404);
        expect((await execute('analyst', '/api/incidents/x/actions', body)).status).toBe(404);
        const stopped = await execute('analyst', '/api/actions/execute', body);
        expect([stopped.status, stopped.body.error.code]).toEqual([409, 'kill_switch_active']);
        expect(stopped.body.error.details).toMatchObject({ reason: 'a test' });
        const incidentId = await world.incident();
        expect((await world.execute('block_sender', { incidentId })).status).toBe(409);
      } finally {
        await world.turnOff();
      }
      expect(world.calls).toHaveLength(0);
    });
  });

  describe('reading', () => {
    it.each([`act-${newId()}`, newId(), 'act-', 'act-1', 'nonsense'])(
      'answers 404 for the id %s',
      async (id) => {
        const answer = await world.clients.viewer.request('GET', `/api/actions/${id}`);
        expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
      },
    );

    it('lists the types with what they take and whether they are available', async () => {
      const { body } = await world.clients.viewer.request('GET', '/api/actions/types');
      expect(body.meta).toBeUndefined();
      expect(body.data).toHaveLength(23);
      const named = (name: string) =>
        body.data.find((type: { name: string }) => type.name === name);
      expect(named('quarantine_email')).toEqual({
        name: 'quarantine_email',
        description: expect.any(String),
        category: 'email',
        supports_rollback: true,
        rolled_back_by: 'release_email',
        parameters: [
          { name: 'message_id', type: 'string', required: true },
          { name: 'recipient', type: 'string', required: false },
          { name: 'reason', type: 'string', required: false },
        ],
        available: true,
      });
      expect(named('isolate_host')).toMatchObject({ default_approval_level: 'senior' });
      expect(named('delete_email')).toMatchObject({ supports_rollback: false, available: false });
    });

    it("lists an incident's actions, and answers 404 for a missing incident", async () => {
      const incidentId = await world.incident();
      await world.execute('quarantine_email', { incidentId });
      await world.execute('isolate_host', { incidentId });
      const { viewer } = world.clients;
      const path = `/api/incidents/${incidentId}/actions`;
      const { body } = await viewer.request('GET', path);
      expect(body.meta).toEqual({ page: 1, per_page: 20, total: 2 });
      expect(body.data.map((one: { status: string }) => one.status)).toEqual([
        'pending_approval',
        'completed',
      ]);
      expect(body.data[1]).toMatchObject({
        executed_at: expect.any(String),
        executed_by: world.names.analyst,
      });
      const one = await viewer.request('GET', `${path}?status=pending_approval`);
      expect(one.body.meta.total).toBe(1);
      expect((await viewer.request('GET', `/api/incidents/${newId()}/actions`)).status).toBe(404);
    });
  });

  it('lets viewers read, and nobody without a key', async () => {
    const { client } = await makeKey(world.app, 'viewer');
    expect((await client.request('GET', '/api/actions')).status).toBe(200);
    expect((await world.execute('block_sender', { client })).status).toBe(403);
    expect((await world.app.request('GET', '/api/actions')).status).toBe(401);
    expect((await world.app.request('POST', '/api/actions/execute')).status).toBe(401);
  });
});
