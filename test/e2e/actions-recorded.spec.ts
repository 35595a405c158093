import { ApprovalExpiry } from '../../src/approvals/approvals.service.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { requestedEarlier } from '../support/actions/held-change.js';
import { eventually } from '../support/jobs/eventually.js';

interface RecordedEvent {
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

describe('the event of a change of an action', () => {
  let world: ActionWorld;

  beforeAll(async () => {
    world = await ActionWorld.start();
    // An event is gone as soon as it is delivered.
    for (const statement of [
      'create table told (like domain_events)',
      `create function tell() returns trigger language plpgsql as $$
       begin insert into told select new.*; return null; end $$`,
      'create trigger tell after insert on domain_events for each row execute function tell()',
    ]) {
      await world.database.query(statement);
    }
  });
  beforeEach(() => forget());
  afterEach(() => world.vendor.forget());
  afterAll(() => world?.close());

  const forget = () => world.database.query('delete from told');
  const recorded = () =>
    world.database.query<RecordedEvent[]>(
      `select type, payload from told where type like 'action.%' order by position`,
    );
  const numberOf = async (id: string): Promise<string> =>
    (await world.clients.viewer.request('GET', `/api/incidents/${id}`)).body.data.incident_number;
  const decide = (id: string, what: string, body: object) =>
    world.clients.manager.request('POST', `/api/actions/${id}/${what}`, { body });

  it('has what a notification needs: the target, the incident, how severe it is', async () => {
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
    expect(await recorded()).toEqual([
      expect.objectContaining({ type: 'action.pending_approval', payload: waiting }),
    ]);
    await forget();
    await decide(first.body.data.action_id, 'approve', {});
    expect(await recorded()).toEqual([
      expect.objectContaining({
        type: 'action.completed',
        payload: {
          ...about,
          approved_by: world.names.manager,
          message: 'The service answered with status 200.',
        },
      }),
    ]);
    const second = await world.execute('isolate_host', { incidentId });
    await forget();
    await decide(second.body.data.action_id, 'reject', { reason: 'no' });
    expect(await recorded()).toEqual([
      expect.objectContaining({
        type: 'action.rejected',
        payload: { ...about, rejected_by: world.names.manager, message: 'no' },
      }),
    ]);
  });

  it.each([
    [
      'how severe the incident is by then, and its title',
      'PUT',
      { severity: 'low', title: 'Another title' },
      { severity: 'low', incident_title: 'Another title' },
    ],
    ['nothing of an incident that was deleted meanwhile', 'DELETE', undefined, {}],
  ])('says %s when the action ends', async (_, method, body, said) => {
    const incidentId = await world.incident({ severity: 'high' });
    const number = await numberOf(incidentId);
    world.vendor.answerAfter(400);
    const asked = world.execute('block_sender', { incidentId });
    await eventually(
      async () => world.calls.length,
      (calls) => calls === 1,
    );
    await world.clients.admin.request(method, `/api/incidents/${incidentId}`, { body });
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
  });

  it('says nothing of an incident when there is none', async () => {
    world.vendor.behave('refuse');
    await world.execute('quarantine_email');
    expect(await recorded()).toEqual([
      expect.objectContaining({
        type: 'action.failed',
        payload: {
          code: 'refused',
          action_type: 'quarantine_email',
          target: '<m@example.net>',
          requested_by: world.names.analyst,
          message: expect.stringContaining('422'),
        },
      }),
    ]);
  });

  it('says that nothing really happened when a sandbox answered', async () => {
    const { admin } = world.clients;
    const body = { name: 'sandbox', type: 'sandbox', config: {} };
    await admin.request('POST', '/api/connectors', { body });
    const { body: connectors } = await admin.request('GET', '/api/connectors');
    const { id } = connectors.data.find(({ type }: { type: string }) => type === 'http');
    await admin.request('DELETE', `/api/connectors/${id}`);
    let action: Record<string, unknown>;
    try {
      action = (await world.execute('block_sender')).body.data;
    } finally {
      await world.connect();
    }
    expect(action['status']).toBe('completed');
    // Nobody is asked: one transaction has requested it and ended it.
    const records = await world.database.query(
      `select action, details ->> 'status' as status, xmin::text as xmin from audit_log
        where subject_id = $1 order by id`,
      [action['action_id']],
    );
    expect(records).toMatchObject([
      { action: 'action.requested', status: 'pending' },
      { action: 'action.completed' },
    ]);
    expect(new Set(records.map(({ xmin }: { xmin: string }) => xmin)).size).toBe(1);
    expect((await recorded())[0]!.payload).toMatchObject({
      target: 'evil@example.net',
      simulated: true,
      at_once: true,
    });
  });

  it('has room for whatever is allowed, and cuts no character in two', async () => {
    const message_id = '\u0001'.repeat(4_096);
    const { body } = await world.execute('release_email', { parameters: { message_id } });
    const reason = `x${'😀'.repeat(999)}`;
    const answer = await decide(body.data.action_id, 'reject', { reason });
    expect([answer.status, answer.body.data?.rejection_reason]).toEqual([200, reason]);
  });

  it('tells once when half of the time for approval is over, and once when nine tenths are', async () => {
    const { body } = await world.execute('isolate_host');
    const id: string = body.data.action_id;
    const expiry = world.app.nest.get(ApprovalExpiry);
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
