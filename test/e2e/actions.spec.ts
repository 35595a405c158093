import { WaitingApprovals } from '../../src/actions/approvals/waiting-approvals.js';
import { newId } from '../../src/platform/ids.js';
import { ActionWorld, PARAMETERS } from '../support/actions/action-world.js';
import { requestedEarlier } from '../support/actions/held-change.js';
import { eventually } from '../support/jobs/eventually.js';
import { samplesWith, scrape } from '../support/metrics.js';
import { useStarted } from '../support/use-started.js';

const world = useStarted(() => ActionWorld.start());

afterEach(() => world.vendor.forget());

const ID = /^act-[0-9a-f-]{36}$/;

describe('actions', () => {
  describe('execution', () => {
    it('executes an action without approval immediately, and responds with its result', async () => {
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

    it.each([
      ['refuse', 'block_sender', 'refused', 0],
      ['apply-then-drop', 'block_sender', 'outcome_unknown', 1],
    ] as const)(
      'given the vendor behaviour %s (%s) → fails with the code %s',
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

    it('is recorded in the timeline, in the audit trail and in the metrics', async () => {
      const incidentId = await world.incident();
      const { body } = await world.execute('quarantine_email', { incidentId });
      const { viewer, admin } = world.clients;
      const timeline = await viewer.get(`/api/incidents/${incidentId}/timeline`);
      expect(timeline.body.data.map(({ event }: { event: string }) => event)).toEqual([
        'created',
        'action_requested',
        'action_completed',
      ]);
      const audit = await admin.get(`/api/audit?subject=action:${body.data.action_id}`);
      expect(audit.body.data.map(({ action }: { action: string }) => action).sort()).toEqual([
        'action.completed',
        'action.requested',
      ]);
      const { text } = await world.app.get('/metrics');
      expect(text).toMatch(
        /actions_executed_total\{action_type="quarantine_email",status="completed"\} [1-9]/,
      );
    });
  });

  describe('the order of checks', () => {
    const execute = (client: 'viewer' | 'analyst', path: string, body: unknown) =>
      world.clients[client].post(path, body);

    it('is: the role, the format of the request, the incident, the kill switch', async () => {
      const path = `/api/incidents/${newId()}/actions`;
      const body = { action: 'block_sender', parameters: PARAMETERS.block_sender };
      await world.turnOn();
      try {
        expect((await execute('viewer', path, {})).status).toBe(403);
        for (const wrong of [{}, { action: 'launch', parameters: {} }, { ...body, parameters: [] }])
          expect((await execute('analyst', path, wrong)).status).toBe(422);
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
    it("lists an incident's actions, and answers 404 for a missing incident", async () => {
      const incidentId = await world.incident();
      await world.execute('quarantine_email', { incidentId });
      await world.execute('isolate_host', { incidentId });
      const { viewer } = world.clients;
      const path = `/api/incidents/${incidentId}/actions`;
      const { body } = await viewer.get(path);
      expect(body.meta).toEqual({ page: 1, per_page: 20, total: 2 });
      expect(body.data.map((one: { status: string }) => one.status)).toEqual([
        'pending_approval',
        'completed',
      ]);
      expect(body.data[1]).toMatchObject({
        executed_at: expect.any(String),
        executed_by: world.names.analyst,
      });
      expect((await viewer.get(`${path}?status=pending_approval`)).body.meta.total).toBe(1);
      expect((await viewer.get(`/api/incidents/${newId()}/actions`)).status).toBe(404);
    });
  });
});

describe('an event about an action', () => {
  interface RecordedEvent {
    readonly type: string;
    readonly payload: Record<string, unknown>;
  }

  beforeAll(async () => {
    // Copies each event, because a delivered event is deleted.
    await world.database.query(`
      create table told (like domain_events);
      create function tell() returns trigger language plpgsql as $$
        begin insert into told select new.*; return null; end $$;
      create trigger tell after insert on domain_events for each row execute function tell()`);
  });
  beforeEach(() => forget());

  const forget = () => world.database.query('delete from told');
  const recorded = () =>
    world.database.query<RecordedEvent[]>(
      `select event.type, event.payload from told cross join lateral events_in(told.events) event
        where event.type like 'action.%' order by told.position, event.n`,
    );
  const numberOf = async (id: string): Promise<string> =>
    (await world.clients.viewer.get(`/api/incidents/${id}`)).body.data.incident_number;
  const decide = (id: string, what: string, body: object) =>
    world.clients.manager.post(`/api/actions/${id}/${what}`, body);

  it('contains the target, the incident and its severity for notifications', async () => {
    const incidentId = await world.incident({ severity: 'critical' });
    const about = {
      action_type: 'isolate_host',
      target: 'laptop-7',
      requested_by: world.names.analyst,
      approval_level: 'senior',
      incident_id: incidentId,
      incident_number: await numberOf(incidentId),
      incident_title: 'Phishing from test',
      severity: 'critical',
    };
    const waiting = { ...about, expires_at: expect.any(String) };
    const first = await world.execute('isolate_host', { incidentId });
    expect(await recorded()).toEqual([{ type: 'action.pending_approval', payload: waiting }]);
    await forget();
    await decide(first.body.data.action_id, 'approve', {});
    const message = 'The service answered with status 200.';
    expect(await recorded()).toEqual([
      {
        type: 'action.completed',
        payload: { ...about, approved_by: world.names.manager, message },
      },
    ]);
    const second = await world.execute('isolate_host', { incidentId });
    await forget();
    await decide(second.body.data.action_id, 'reject', { reason: 'no' });
    expect(await recorded()).toEqual([
      {
        type: 'action.rejected',
        payload: { ...about, rejected_by: world.names.manager, message: 'no' },
      },
    ]);
  });

  it.each([
    [
      'the new severity and the new title of its incident',
      'PUT',
      { severity: 'low', title: 'Another title' },
      { severity: 'low', incident_title: 'Another title' },
    ],
    ['nothing about an incident that was deleted meanwhile', 'DELETE', undefined, {}],
  ])(
    'contains %s if the incident changes before the action ends',
    async (_, method, body, said) => {
      const incidentId = await world.incident({ severity: 'high' });
      const number = await numberOf(incidentId);
      const end = Promise.withResolvers<void>();
      world.vendor.plan = () => ({ behaviour: 'apply', afterMs: 0, until: end.promise });
      const asked = world.execute('block_sender', { incidentId });
      await eventually(
        async () => world.calls.length,
        (calls) => calls === 1,
      );
      await world.clients.admin.request(method, `/api/incidents/${incidentId}`, { body });
      end.resolve();
      world.vendor.plan = undefined;
      await asked;
      const [{ payload }] = (await recorded()) as [RecordedEvent];
      expect(payload).toEqual({
        action_type: 'block_sender',
        target: 'evil@example.net',
        requested_by: world.names.analyst,
        message: expect.any(String),
        incident_id: incidentId,
        ...(method === 'PUT' && { incident_number: number }),
        ...said,
      });
    },
  );

  it('is marked as simulated in a sandbox, and is recorded with the request, approval or rollback that caused it', async () => {
    const { admin } = world.clients;
    await admin.post('/api/connectors', { name: 'sandbox', type: 'sandbox', config: {} });
    const { body: connectors } = await admin.get('/api/connectors');
    const { id } = connectors.data.find(({ type }: { type: string }) => type === 'http');
    await admin.delete(`/api/connectors/${id}`);
    const ids: string[] = [];
    try {
      ids.push((await world.execute('block_sender')).body.data.action_id);
      const waiting: string = (await world.execute('isolate_host')).body.data.action_id;
      await decide(waiting, 'approve', {});
      const undone = await decide(waiting, 'rollback', { reason: 'A test.' });
      ids.push(waiting, undone.body.data.rollback_action_id);
    } finally {
      await world.connect();
    }
    for (const one of ids) expect(await world.get(one)).toMatchObject({ status: 'completed' });
    const events = (await recorded()).filter(({ type }) => type === 'action.completed');
    expect(events.map(({ payload }) => [payload['simulated'], payload['at_once']])).toEqual([
      [true, true],
      [true, undefined],
      [true, undefined],
    ]);
    // Transactions that recorded each action, in the order of the changes.
    const transactions = ids.map(async (one) => {
      const records = await world.database.query<{ action: string; xmin: string }[]>(
        `select action, xmin::text from audit_log where subject_id = $1 order by id`,
        [one],
      );
      const byTransaction = Map.groupBy(records, ({ xmin }) => xmin);
      return [...byTransaction.values()].map((all) => all.map(({ action }) => action.slice(7)));
    });
    expect(await Promise.all(transactions)).toEqual([
      [['requested', 'completed']],
      [['requested'], ['approved', 'completed']],
      [['requested', 'completed']],
    ]);
  });

  it('can have the longest parameters and reasons, and splits no character', async () => {
    const message_id = '\u0001'.repeat(4_096);
    const { body } = await world.execute('release_email', { parameters: { message_id } });
    const reason = `x${'😀'.repeat(999)}`;
    const answer = await decide(body.data.action_id, 'reject', { reason });
    expect([answer.status, answer.body.data?.rejection_reason]).toEqual([200, reason]);
  });

  it('is recorded once at 50 % and once at 90 % of the time for approval', async () => {
    const { body } = await world.execute('isolate_host');
    const id: string = body.data.action_id;
    const expiry = world.app.nest.get(WaitingApprovals);
    const reminders = async () =>
      (await recorded()).filter(({ type }) => type === 'action.expiring');
    let earlier = 0;
    const after = async (minutes: number): Promise<number> => {
      await requestedEarlier(world.database.manager, id, `${minutes} minutes`);
      await world.database.query(
        `update actions set reminded_at = reminded_at - $1 * interval '1 minute' where id = $2`,
        [minutes - earlier, id.replace('act-', '')],
      );
      earlier = minutes;
      await Promise.all([expiry.remind(), expiry.remind()]);
      await expiry.remind();
      return (await reminders()).length;
    };
    expect(await after(700)).toBe(0);
    expect(await after(721)).toBe(1);
    expect(await reminders()).toMatchObject([
      { payload: { action_type: 'isolate_host', expires_at: expect.any(String) } },
    ]);
    expect(await after(1_290)).toBe(1);
    expect(await after(1_297)).toBe(2);
    expect(await after(1_439)).toBe(2);
  });
});
