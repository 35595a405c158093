import { randomUUID } from 'node:crypto';
import { Clock } from '../../src/platform/clock.js';
import { newId } from '../../src/platform/ids.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { requestedEarlier, whileHeld } from '../support/actions/held-change.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';
import { useStarted } from '../support/use-started.js';

const world = useStarted(() => ActionWorld.start({ APPROVAL_RAISE_ON_CRITICAL: 'true' }, 2));

afterEach(() => world.vendor.forget());

const HOUR = 3_600_000;
const RAISE = `update incidents set severity = 'critical' where id = $1`;
const codeOf = ({ status, body }: Answer) => [status, body.error?.code];

describe('an approval', () => {
  const wait = async (
    type: 'isolate_host' | 'revoke_sessions',
    incidentId?: string,
  ): Promise<string> => {
    const answer = await world.execute(type, incidentId ? { incidentId } : {});
    expect(answer.body.data.status).toBe('pending_approval');
    return answer.body.data.action_id;
  };
  const approve = (client: ApiClient, id: string, body: object = {}): Promise<Answer> =>
    client.post(`/api/actions/${id}/approve`, body);
  const put = (client: ApiClient, incidentId: string, body: object): Promise<Answer> =>
    client.put(`/api/incidents/${incidentId}`, body);
  const auditOf = async (action: string, subject: string) => {
    const path = `/api/audit?action=${action}&subject=${encodeURIComponent(subject)}`;
    return (await world.clients.admin.get(path)).body.data;
  };
  const timelineOf = async (incidentId: string) =>
    (await world.clients.viewer.get(`/api/incidents/${incidentId}/timeline`)).body.data;

  describe('of an action whose incident became critical', () => {
    it('requires and shows the level of a critical incident', async () => {
      const { analyst, senior, viewer } = world.clients;
      const incidentId = await world.incident({ severity: 'high' });
      const id = await wait('revoke_sessions', incidentId);
      expect(await world.get(id)).toMatchObject({ approval_level: 'analyst' });
      expect((await put(analyst, incidentId, { severity: 'critical' })).status).toBe(200);

      const low = await approve(analyst, id);
      expect(codeOf(low)).toEqual([403, 'insufficient_approval_level']);
      expect(low.body.error).toMatchObject({ required_level: 'senior', your_level: 'analyst' });
      expect((await approve(senior, id)).body.data.status).toBe('completed');
      expect(await world.get(id)).toMatchObject({ approval_level: 'senior' });
      const list = `/api/incidents/${incidentId}/actions?approval_level=`;
      const totalOf = async (level: string) =>
        (await viewer.get(`${list}${level}`)).body.meta.total;
      expect([await totalOf('senior'), await totalOf('analyst')]).toEqual([1, 0]);
      const [approved] = await auditOf('action.approved', `action:${id}`);
      expect(approved.details).toMatchObject({ approval_level: 'senior' });
    });

    it('waits for a concurrent change of the severity, and is checked afterwards', async () => {
      const incidentId = await world.incident({ severity: 'high' });
      const id = await wait('revoke_sessions', incidentId);
      const answer = await whileHeld(world.database, RAISE, [incidentId], () =>
        approve(world.clients.analyst, id),
      );
      expect(codeOf(answer)).toEqual([403, 'insufficient_approval_level']);
      expect((await world.get(id)).status).toBe('pending_approval');
      expect(world.calls).toHaveLength(0);
    });

    it('requires the higher level, but a rejection requires only the level of the request', async () => {
      const incidentId = await world.incident({ severity: 'high' });
      const id = await wait('revoke_sessions', incidentId);
      await put(world.clients.analyst, incidentId, { severity: 'critical' });
      const body = { reason: 'no' };
      const path = `/api/actions/${id}/reject`;
      expect((await world.clients.analyst.post(path, body)).status).toBe(200);
    });

    it('applies to a rollback, too', async () => {
      const { analyst, senior } = world.clients;
      const incidentId = await world.incident({ severity: 'high' });
      const id = (await world.execute('block_sender', { incidentId })).body.data.action_id;
      const rollBack = (client: ApiClient) =>
        client.post(`/api/actions/${id}/rollback`, { reason: 'x' });
      const raced = await whileHeld(world.database, RAISE, [incidentId], () => rollBack(analyst));
      expect(codeOf(raced)).toEqual([403, 'insufficient_approval_level']);
      expect(codeOf(await rollBack(analyst))).toEqual([403, 'insufficient_approval_level']);
      expect((await rollBack(senior)).body.data.status).toBe('completed');
    });
  });

  it('requires the level that was set with the request, even if a new request would need a lower level', async () => {
    const { analyst, senior } = world.clients;
    const incidentId = await world.incident({ severity: 'critical' });
    const id = await wait('revoke_sessions', incidentId);
    await put(senior, incidentId, { severity: 'low' });
    expect(codeOf(await approve(analyst, id))).toEqual([403, 'insufficient_approval_level']);
    expect((await approve(senior, id)).status).toBe(200);
  });

  describe('of an action of a critical incident', () => {
    it('keeps its level, because a person below the level cannot lower the severity', async () => {
      const { analyst, senior } = world.clients;
      const incidentId = await world.incident({ severity: 'critical' });
      const refused = await put(analyst, incidentId, { severity: 'high', status: 'triaged' });
      expect(codeOf(refused)).toEqual([403, 'insufficient_approval_level']);
      expect(refused.body.error).toMatchObject({ required_level: 'senior', your_level: 'analyst' });
      const shown = await analyst.get(`/api/incidents/${incidentId}`);
      expect(shown.body.data).toMatchObject({ severity: 'critical', status: 'open' });
      const [told] = await auditOf('auth.level_refused', 'route:PUT /api/incidents/:id');
      expect(told).toMatchObject({ actor: world.names.analyst });

      for (const harmless of [{ severity: 'critical' }, { incident_type: 'bec' }]) {
        expect((await put(analyst, incidentId, harmless)).status).toBe(200);
      }
      expect((await put(senior, incidentId, { severity: 'high' })).status).toBe(200);
      const [lowered] = await auditOf('incident.severity_lowered', `incident:${incidentId}`);
      expect(lowered).toMatchObject({
        actor: world.names.senior,
        details: { severity: { from: 'critical', to: 'high' } },
      });
      expect((await timelineOf(incidentId)).at(-1)).toMatchObject({
        event: 'severity_lowered',
        actor: world.names.senior,
        summary: 'Lowered the severity from critical to high.',
      });
      expect((await put(analyst, incidentId, { severity: 'low' })).status).toBe(200);
    });
  });

  describe('and its deadline', () => {
    it.each([
      ['refused after the deadline', '1440 minutes', -HOUR, 409],
      ['accepted before the deadline', '1430 minutes', HOUR, 200],
    ])('is %s, independently of the clock of a replica', async (_, waited, offset, status) => {
      const clock = jest.spyOn(world.app.nest.get(Clock), 'now');
      try {
        const id = await wait('isolate_host');
        await requestedEarlier(world.database.manager, id, waited);
        clock.mockImplementation(() => new Date(Date.now() + offset));
        expect((await approve(world.clients.senior, id)).status).toBe(status);
        expect(world.calls).toHaveLength(status === 200 ? 1 : 0);
      } finally {
        clock.mockRestore();
      }
    });

    it('is compared with the deadline after it has locked the row, not before', async () => {
      const id = await wait('isolate_host');
      const answer = await whileHeld(
        world.database,
        `update actions set reminded_at = null where id = $1`,
        [id.replace('act-', '')],
        () => approve(world.clients.senior, id),
        // The deadline passes now, after the waiting transaction has begun.
        (change) => requestedEarlier(change, id, '1440 minutes'),
      );
      expect(codeOf(answer)).toEqual([409, 'invalid_state']);
      expect(world.calls).toHaveLength(0);
    });
  });

  describe('of an action whose incident is resolved', () => {
    it('is refused without an explicit confirmation', async () => {
      const { analyst, senior } = world.clients;
      const incidentId = await world.incident();
      const id = await wait('isolate_host', incidentId);
      await put(analyst, incidentId, { status: 'resolved', resolution: 'Done.' });
      for (const body of [{}, { confirm_resolved: false, comment: 'x' }]) {
        const refused = await approve(senior, id, body);
        expect(codeOf(refused)).toEqual([409, 'invalid_state']);
        expect(refused.body.error.details).toEqual({ reason: 'incident_resolved' });
      }
      expect(codeOf(await approve(senior, id, { confirm_resolved: 'true' }))[0]).toBe(422);
      expect(world.calls).toHaveLength(0);
      const meant = await approve(senior, id, { confirm_resolved: true });
      expect(meant.body.data.status).toBe('completed');
      const [approved] = await auditOf('action.approved', `action:${id}`);
      expect(approved.details).toMatchObject({ incident_status: 'resolved' });
    });

    it('waits while another request resolves the incident, and is checked afterwards', async () => {
      const incidentId = await world.incident();
      const id = await wait('isolate_host', incidentId);
      const answer = await whileHeld(
        world.database,
        `update incidents set status = 'resolved' where id = $1`,
        [incidentId],
        () => approve(world.clients.senior, id),
      );
      expect(answer.body.error.details).toEqual({ reason: 'incident_resolved' });
      expect(world.calls).toHaveLength(0);
    });
  });
});

describe('a rollback', () => {
  const done = async (incidentId?: string): Promise<string> => {
    const answer = await world.execute('block_sender', incidentId ? { incidentId } : {});
    return answer.body.data.action_id;
  };
  const rollBack = (
    client: ApiClient,
    id: string,
    body: unknown = { reason: 'a false alarm' },
    headers = {},
  ): Promise<Answer> => client.post(`/api/actions/${id}/rollback`, body, headers);

  it('executes the inverse immediately, and links both actions to each other', async () => {
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

  it('is executed once for many simultaneous requests', async () => {
    const other = (await makeKey(world.replicas[1]!, 'analyst')).client;
    for (let round = 0; round < 2; round += 1) {
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

  it('undoes only actions that may have had an effect', async () => {
    world.vendor.behave('apply-then-drop');
    const unknown = await done();
    world.vendor.behave('refuse');
    const refused = await done();
    world.vendor.behave('apply');
    expect((await rollBack(world.clients.analyst, unknown)).body.data.status).toBe('completed');
    expect(codeOf(await rollBack(world.clients.analyst, refused))).toEqual([409, 'invalid_state']);
  });

  it('needs the level of the action or the level of its inverse, whichever is higher', async () => {
    const { analyst, senior } = world.clients;
    const waiting = (await world.execute('isolate_host')).body.data.action_id;
    await senior.post(`/api/actions/${waiting}/approve`, {});
    const low = await rollBack(analyst, waiting);
    expect(codeOf(low)).toEqual([403, 'insufficient_approval_level']);
    expect(low.body.error).toMatchObject({ required_level: 'senior', your_level: 'analyst' });
    const audit = await world.clients.admin.get('/api/audit?action=auth.level_refused');
    expect(audit.body.data).toContainEqual(
      expect.objectContaining({
        actor: world.names.analyst,
        subject: { type: 'route', id: 'POST /api/actions/:id/rollback' },
        details: expect.objectContaining({ role: 'analyst', required_level: 'senior' }),
      }),
    );
    expect((await rollBack(senior, waiting)).body.data.status).toBe('completed');
  });

  it('returns errors in the order of the checks', async () => {
    const { viewer, analyst, senior } = world.clients;
    const original = await done();
    const high = (await world.execute('isolate_host')).body.data.action_id;
    const final = (await world.execute('lookup_ip')).body.data.action_id;
    const parameters = { message_id: '<m@example.net>' };
    const deleted = (await world.execute('delete_email', { parameters })).body.data.action_id;
    await world.turnOn();
    try {
      expect((await rollBack(viewer, `act-${newId()}`, {})).status).toBe(403);
      for (const wrong of [{}, { reason: '' }, { reason: 1 }, { reason: 'x', y: 1 }]) {
        expect((await rollBack(analyst, `act-${newId()}`, wrong)).status).toBe(422);
      }
      expect(codeOf(await rollBack(analyst, `act-${newId()}`))).toEqual([404, 'not_found']);
      for (const id of [high, deleted])
        expect(codeOf(await rollBack(analyst, id))).toEqual([403, 'insufficient_approval_level']);
      expect(codeOf(await rollBack(senior, deleted))).toEqual([400, 'rollback_not_supported']);
      expect(codeOf(await rollBack(analyst, final))).toEqual([400, 'rollback_not_supported']);
      expect(codeOf(await rollBack(senior, high))).toEqual([409, 'invalid_state']);
      expect(codeOf(await rollBack(analyst, original))).toEqual([409, 'kill_switch_active']);
    } finally {
      await world.turnOff();
    }
    expect((await rollBack(analyst, original)).status).toBe(200);
  });
});

describe('actions that are requested simultaneously', () => {
  const AT_ONCE = 40;
  const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status);
  const times = <T>(make: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, index) => make(index)));

  const countOf = async (where: string): Promise<number> => {
    const [row] = await world.database.query<{ n: number }[]>(
      `select count(*)::integer as n from actions where ${where}`,
    );
    return row!.n;
  };
  const incidents = (count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, () => world.incident()));

  it('each have their own effect, records and response', async () => {
    const ids = await incidents(4);
    const answers = await times((index) =>
      world.execute('block_sender', {
        incidentId: index % 5 === 4 ? undefined : ids[index % 5],
        parameters: { sender: `sender-${index}@example.net` },
      }),
    );
    expect(statusesOf(answers)).toEqual(answers.map(() => 200));
    for (const [index, { body }] of answers.entries()) {
      const { action_id: id, status } = body.data;
      expect(status).toBe('completed');
      expect(world.vendor.effectsOf(id)).toBe(1);
      expect(await world.get(id)).toMatchObject({
        parameters: { sender: `sender-${index}@example.net` },
        ...(index % 5 < 4 && { incident_id: ids[index % 5] }),
      });
    }
    const audit = await world.database.query<{ action: string; n: number }[]>(
      `select action, count(*)::integer as n from audit_log where subject_id = any($1) group by action order by action`,
      [answers.map(({ body }) => body.data.action_id)],
    );
    expect(audit).toEqual([
      { action: 'action.completed', n: AT_ONCE },
      { action: 'action.requested', n: AT_ONCE },
    ]);
    const { body: timeline } = await world.clients.viewer.get(
      `/api/incidents/${ids[0]}/timeline?per_page=50`,
    );
    const events = (timeline.data as { event: string }[]).map(({ event }) => event);
    expect(events.filter((event) => event === 'action_requested')).toHaveLength(AT_ONCE / 5);
    expect(events.filter((event) => event === 'action_completed')).toHaveLength(AT_ONCE / 5);
  });

  it('are rejected individually if their key is revoked or their incident is missing', async () => {
    const doomed = await makeKey(world.app, 'analyst');
    expect((await world.execute('lookup_ip', { client: doomed.client })).status).toBe(200);
    await world.database.query('update api_keys set revoked_at = now() where id = $1', [doomed.id]);
    const [there, gone] = await incidents(2);
    await world.clients.admin.delete(`/api/incidents/${gone}`);
    const others = [there, gone, randomUUID(), 'no-id', there!.toUpperCase()];
    const before = await countOf('true');
    const answers = await times((index) =>
      index % 6 === 5
        ? world.execute('block_sender', { client: doomed.client })
        : world.execute('block_sender', { incidentId: others[index % 6] }),
    );
    const wanted = [200, 404, 404, 404, 200, 401];
    expect(statusesOf(answers)).toEqual(answers.map((_, index) => wanted[index % 6]));
    const good = answers.filter(({ status }) => status === 200).length;
    expect(await countOf('true')).toBe(before + good);
    expect(await countOf(`incident_id = '${gone}'`)).toBe(0);
  });

  it('wait individually for a concurrent change of their incident, and see the change', async () => {
    const [changed, other] = await incidents(2);
    const runner = world.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query(RAISE, [changed]);
    let waiting = 0;
    const held: Promise<Answer>[] = [];
    const others = await times((index) => {
      const release = (incidentId?: string) => world.execute('release_email', { incidentId });
      if (index % 10 > 0) return release(other);
      waiting += 1;
      held.push(release(changed).finally(() => (waiting -= 1)));
      return release();
    });
    const levels = (answers: readonly Answer[]) =>
      answers.map(({ body }) => body.data.approval_level);
    expect(levels(others)).toEqual(others.map(() => 'analyst'));
    expect(waiting).toBe(AT_ONCE / 10);
    await runner.commitTransaction();
    await runner.release();
    expect(levels(await Promise.all(held))).toEqual(held.map(() => 'senior'));
  });

  it('run, wait for approval or fail without a connector, independently of each other', async () => {
    const types = ['block_sender', 'isolate_host', 'create_ticket', 'lookup_ip'] as const;
    const answers = await times((index) => {
      const type = types[index % 4]!;
      const parameters = type === 'create_ticket' ? { title: 'So.' } : undefined;
      return world.execute(type, { ...(parameters && { parameters }) });
    });
    const ends = ['completed', 'pending_approval', 'failed', 'completed'];
    expect(answers.map(({ body }) => body.data.status)).toEqual(
      answers.map((_, index) => ends[index % 4]),
    );
    expect(answers[2]!.body.data.result.code).toBe('no_connector');
  });

  it.each([
    ['at their request', `parameters::text not like '%poison%'`, 500],
    ['at their end', `parameters::text not like '%poison%' or status <> 'completed'`, 202],
  ])('fail individually if the database rejects an action %s', async (_, condition, status) => {
    await world.database.query(
      `alter table actions add constraint ck_test check (${condition}) not valid`,
    );
    const answers = await times((index) =>
      world.execute('block_sender', {
        parameters: { sender: `${index % 8 === 3 ? 'poison' : 'mail'}@example.net` },
      }),
    );
    await world.database.query('alter table actions drop constraint ck_test');
    expect(statusesOf(answers)).toEqual(
      answers.map((__, index) => (index % 8 === 3 ? status : 200)),
    );
    expect(new Set(answers.flatMap(({ body }) => body.data?.action_id ?? [])).size).toBe(
      answers.filter((answer) => answer.status < 500).length,
    );
  });
});
