import { newId } from '../../src/platform/ids.js';
import { ActionWorld } from '../support/actions/action-world.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';

describe('a rollback', () => {
  let world: ActionWorld;

  beforeAll(async () => {
    world = await ActionWorld.start({ APPROVAL_RAISE_ON_CRITICAL: 'true' }, 2);
  });
  afterEach(() => world.vendor.forget());
  afterAll(() => world?.close());

  const done = async (incidentId?: string): Promise<string> => {
    const answer = await world.execute('block_sender', incidentId ? { incidentId } : {});
    return answer.body.data.action_id;
  };
  const rollBack = (
    client: ApiClient,
    id: string,
    body: unknown = { reason: 'a false alarm' },
    headers = {},
  ): Promise<Answer> => client.request('POST', `/api/actions/${id}/rollback`, { body, headers });
  const codeOf = ({ status, body }: Answer) => [status, body.error?.code];

  it('runs the inverse at once, and links the two both ways', async () => {
    const incidentId = await world.incident();
    const original = await done(incidentId);
    const answer = await rollBack(world.clients.analyst, original);
    expect(answer.status).toBe(200);
    const { rollback_action_id: rollback, ...rest } = answer.body.data;
    expect(rest).toEqual({
      original_action_id: original,
      status: 'completed',
      result: expect.objectContaining({ success: true }),
    });
    expect(world.calls.at(-1)!.path).toBe('/unblock_sender');
    expect(world.vendor.effectsOf(rollback)).toBe(1);
    expect(await world.get(original)).toMatchObject({
      status: 'completed',
      rolled_back_by: rollback,
    });
    expect(await world.get(rollback)).toMatchObject({
      action_type: 'unblock_sender',
      incident_id: incidentId,
      parameters: { sender: 'evil@example.net', reason: 'a false alarm' },
      rollback_of: original,
      requested_by: world.names.analyst,
    });
  });

  it('happens once, also when many ask at once', async () => {
    const other = (await makeKey(world.replicas[1]!, 'analyst')).client;
    for (let round = 0; round < 5; round += 1) {
      const original = await done();
      world.vendor.forget();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          rollBack(at % 2 ? world.clients.analyst : other, original),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const lost = answers.filter(({ status }) => status !== 200).map((one) => String(codeOf(one)));
      expect(new Set(lost)).toEqual(new Set(['409,invalid_state']));
      expect(world.calls).toHaveLength(1);
    }
  });

  it('may be tried again after it failed', async () => {
    const original = await done();
    world.vendor.behave('refuse');
    const failed = await rollBack(world.clients.analyst, original);
    expect(failed.body.data).toMatchObject({ status: 'failed', result: { code: 'refused' } });
    expect(await world.get(original)).not.toHaveProperty('rolled_back_by');
    world.vendor.behave('apply');
    const again = await rollBack(world.clients.analyst, original);
    expect(again.body.data.status).toBe('completed');
    expect(codeOf(await rollBack(world.clients.analyst, original))).toEqual([409, 'invalid_state']);
  });

  it('undoes what may have happened, and not what did not', async () => {
    world.vendor.behave('apply-then-drop');
    const unknown = await done();
    world.vendor.behave('refuse');
    const refused = await done();
    world.vendor.behave('apply');
    expect((await rollBack(world.clients.analyst, unknown)).body.data.status).toBe('completed');
    expect(codeOf(await rollBack(world.clients.analyst, refused))).toEqual([409, 'invalid_state']);
  });

  it('needs the higher level of the two', async () => {
    const { analyst, senior } = world.clients;
    const waiting = (await world.execute('isolate_host')).body.data.action_id;
    await senior.request('POST', `/api/actions/${waiting}/approve`, { body: {} });
    const low = await rollBack(analyst, waiting);
    expect(codeOf(low)).toEqual([403, 'insufficient_approval_level']);
    expect(low.body.error).toMatchObject({ required_level: 'senior', your_level: 'analyst' });
    const audit = await world.clients.admin.request('GET', '/api/audit?action=auth.level_refused');
    expect(audit.body.data).toMatchObject([
      {
        actor: world.names.analyst,
        subject: { type: 'route', id: 'POST /api/actions/:id/rollback' },
        details: { role: 'analyst', required_level: 'senior' },
      },
    ]);
    expect((await rollBack(senior, waiting)).body.data.status).toBe('completed');
  });

  it('needs the level that the incident has come to ask for since', async () => {
    const { analyst, senior, manager } = world.clients;
    const incidentId = await world.incident({ severity: 'high' });
    const original = (await world.execute('isolate_host', { incidentId })).body.data.action_id;
    await senior.request('POST', `/api/actions/${original}/approve`, { body: {} });
    expect(await world.get(original)).toMatchObject({ approval_level: 'senior' });
    const raise = { body: { severity: 'critical' } };
    await analyst.request('PUT', `/api/incidents/${incidentId}`, raise);
    const low = await rollBack(senior, original);
    expect(codeOf(low)).toEqual([403, 'insufficient_approval_level']);
    expect(low.body.error.required_level).toBe('manager');
    expect((await rollBack(manager, original)).body.data.status).toBe('completed');
  });

  it('needs the level that the original needed, though the incident asks for less by now', async () => {
    const { senior, manager } = world.clients;
    const incidentId = await world.incident({ severity: 'critical' });
    const original = (await world.execute('isolate_host', { incidentId })).body.data.action_id;
    await manager.request('POST', `/api/actions/${original}/approve`, { body: {} });
    const lower = { body: { severity: 'high' } };
    const lowered = await manager.request('PUT', `/api/incidents/${incidentId}`, lower);
    expect(lowered.status).toBe(200);
    const low = await rollBack(senior, original);
    expect(codeOf(low)).toEqual([403, 'insufficient_approval_level']);
    expect(low.body.error.required_level).toBe('manager');
    expect((await rollBack(manager, original)).body.data.status).toBe('completed');
  });

  it('is refused for the level of the original before it is refused for want of an inverse', async () => {
    const parameters = { message_id: '<m@example.net>' };
    const { body } = await world.execute('delete_email', { parameters });
    const low = await rollBack(world.clients.analyst, body.data.action_id);
    expect(codeOf(low)).toEqual([403, 'insufficient_approval_level']);
    expect(low.body.error.required_level).toBe('senior');
    const high = await rollBack(world.clients.senior, body.data.action_id);
    expect(codeOf(high)).toEqual([400, 'rollback_not_supported']);
  });

  it('answers what is wrong in the order of the checks', async () => {
    const { viewer, analyst, senior } = world.clients;
    const original = await done();
    const high = (await world.execute('isolate_host')).body.data.action_id;
    const final = (await world.execute('lookup_ip')).body.data.action_id;
    await world.turnOn();
    try {
      expect((await rollBack(viewer, `act-${newId()}`, {})).status).toBe(403);
      for (const wrong of [{}, { reason: '' }, { reason: 1 }, { reason: 'x', y: 1 }]) {
        expect((await rollBack(analyst, `act-${newId()}`, wrong)).status).toBe(422);
      }
      expect(codeOf(await rollBack(analyst, `act-${newId()}`))).toEqual([404, 'not_found']);
      expect(codeOf(await rollBack(analyst, high))).toEqual([403, 'insufficient_approval_level']);
      expect(codeOf(await rollBack(analyst, final))).toEqual([400, 'rollback_not_supported']);
      expect(codeOf(await rollBack(senior, high))).toEqual([409, 'invalid_state']);
      expect(codeOf(await rollBack(analyst, original))).toEqual([409, 'kill_switch_active']);
    } finally {
      await world.turnOff();
    }
    expect((await rollBack(analyst, original)).status).toBe(200);
  });

  it('has one effect for an Idempotency-Key', async () => {
    const original = await done();
    world.vendor.forget();
    const headers = { 'idempotency-key': newId() };
    const first = await rollBack(world.clients.analyst, original, { reason: 'x' }, headers);
    const second = await rollBack(world.clients.analyst, original, { reason: 'x' }, headers);
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(world.calls).toHaveLength(1);
  });

  it('undoes what was done about an incident that is deleted by now', async () => {
    const incidentId = await world.incident();
    const original = await done(incidentId);
    await world.clients.admin.request('DELETE', `/api/incidents/${incidentId}`);
    const answer = await rollBack(world.clients.analyst, original);
    expect(answer.body.data.status).toBe('completed');
  });
});
