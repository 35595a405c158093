import { NOTIFIED_EVENTS } from '../../src/notifications/notification.js';
import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { DeliveryWork } from '../../src/notifications/delivery.work.js';
import { Work } from '../../src/platform/work/work.js';
import { ChannelsRepository } from '../../src/notifications/channel.js';
import { Statements } from '../../src/platform/database/statements.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { TargetRefusedError } from '../../src/platform/net/net.errors.js';
import { Targets } from '../../src/platform/net/targets.js';
import { DomainEvents } from '../../src/platform/work/domain-events.js';
import { eventually } from '../support/jobs/eventually.js';
import { eventSchemaErrors } from '../support/notifications/event-contract.js';
import { isSignedBy, WebhookReceiver } from '../support/notifications/webhook-receiver.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const PATH = '/api/notification-channels';

describe('deliveries of notifications', () => {
  const receiver = useStarted(() => WebhookReceiver.start());
  const other = useStarted(() => WebhookReceiver.start());
  const app = useStarted(() =>
    startTestApp({
      settings: {
        ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
        PUBLIC_URL: 'https://triage.example.com/',
      },
    }),
  );
  const admin = useStarted(() => as(app, 'admin'));
  let names = 0;

  const channel = async (more: object = {}, url = receiver.url) => {
    const body = { name: `hook ${(names += 1)}`, type: 'webhook', config: { url }, ...more };
    const { body: answer } = await admin.post(PATH, body);
    return answer.data as { readonly id: string; readonly secret: string };
  };
  const incident = async (more: object = {}): Promise<string> => {
    const body = { incident_type: 'malware', source: 'edr', severity: 'high', ...more };
    return (await admin.post('/api/incidents', body)).body.data.id;
  };
  const put = (path: string, body: object) => admin.put(path, body);
  const post = (path: string, body: object = {}) => admin.post(path, body);
  const shown = async (id: string) => (await admin.get(`${PATH}/${id}`)).body.data;
  const deliveries = async (id: string, query = '') =>
    (await admin.get(`${PATH}/${id}/deliveries${query}`)).body;
  const typesOf = (from = receiver) => from.events.map(({ type }) => type);
  const sql = (text: string, values: unknown[] = []) => app.sql(text, values);
  /** Makes all deliveries due and ends all pauses. */
  const hurry = async () => {
    await sql(`update work_lanes set paused_until = null`);
    await sql(`
      update work set ready = true, due_at = now()
       where kind = 'notification' and not ready and worker is null and due_at < 'infinity'`);
    app.nest.get(Work).wake();
  };
  const failSinceLong = (where: string) =>
    sql(
      `update notification_channels set failing_since = now() - interval '11 minutes' where ${where}`,
    );
  /** Waits until the channel has this status, or is paused. */
  const shownAs = (id: string, is: 'degraded' | 'unhealthy' | 'paused') =>
    eventually(
      () => shown(id),
      ({ status, paused_until }) => (is === 'paused' ? paused_until !== undefined : status === is),
    );
  const ended = (id: string, n: number) =>
    eventually(
      async () => (await deliveries(id, '?status=delivered,dead&per_page=100')).data,
      (rows) => rows.length === n,
    );

  afterEach(async () => {
    const { body } = await admin.get(`${PATH}?per_page=100`);
    for (const { id } of body.data) await admin.delete(`${PATH}/${id}`);
    for (const one of [receiver, other]) one.vendor.forget();
  });

  it('report the changes of an incident in order, as defined in the contract', async () => {
    const { id: channelId, secret } = await channel();
    const id = await incident({ title: 'Beacon <script> https://evil.example' });
    await put(`/api/incidents/${id}`, {
      verdict: { classification: 'malicious', confidence: 0.9, category: 'malware' },
    });
    await put(`/api/incidents/${id}`, { status: 'resolved', resolution: 'Cleaned.' });
    await eventually(typesOf, (types) => types.length === 5);

    const [created, updated, triaged, , resolved] = receiver.events;
    // First proves that the check finds missing and unknown fields.
    expect(eventSchemaErrors({ ...created!, id: undefined, more: 1 } as never)).toHaveLength(2);
    const { body } = await admin.get(`/api/incidents/${id}`);
    const { incident_number } = body.data;
    expect(created).toMatchObject({
      type: 'incident.created',
      data: {
        incident: {
          id,
          incident_number,
          title: 'Beacon <script> https://evil.example',
          severity: 'high',
          source: 'edr',
          url: `https://triage.example.com/api/incidents/${id}`,
        },
      },
    });
    expect(typesOf().filter((type) => type === 'incident.updated')).toHaveLength(2);
    expect(updated!.data).toMatchObject({
      updated_by: expect.stringMatching(/^key:admin/),
      changed: ['status', 'verdict'],
    });
    expect(triaged!.data).toMatchObject({
      verdict: { classification: 'malicious', confidence: 0.9, category: 'malware' },
      incident: { incident_number },
    });
    expect(resolved!.data).toMatchObject({ resolution: 'Cleaned.' });
    for (const request of receiver.requests) {
      expect(eventSchemaErrors(JSON.parse(request.body))).toEqual([]);
      expect(isSignedBy(secret, request)).toBe(true);
    }
    const data = await ended(channelId, 5);
    expect(data[0]).toMatchObject({ event: 'incident.resolved', status: 'delivered', attempts: 1 });
    expect(data.map(({ event_id }: { event_id: string }) => event_id).toReversed()).toEqual(
      receiver.events.map(({ id: event }) => event),
    );
  });

  it('report actions with their deciders, the kill switch and connectors, as defined in the contract', async () => {
    await channel();
    await post('/api/connectors', {
      name: `sandbox ${names}`,
      type: 'sandbox',
      config: { fail: ['block_ip'] },
    });
    const id = await incident();
    const act = async (action: string, parameters: object) =>
      (await post(`/api/incidents/${id}/actions`, { action, parameters })).body.data.action_id;
    await act('lookup_ip', { ip: '203.0.113.9' });
    const failing = await act('block_ip', { ip: '203.0.113.9' });
    await post(`/api/actions/${failing}/approve`);
    const reason = `ransomware note seen${'.'.repeat(1_000)}`;
    const rejected = await act('isolate_host', { host_id: 'laptop-7', reason });
    await post(`/api/actions/${rejected}/reject`, { reason: 'Not needed.' });
    await post('/api/kill-switch/activate', { reason: 'An exercise.' });
    // Messages are sent although the kill switch is on.
    await eventually(typesOf, (types) => types.includes('kill_switch.activated'));
    await post('/api/kill-switch/deactivate', { reason: 'It is over.' });
    await app.nest.get(Transactions).run((tx) =>
      app.nest.get(DomainEvents).record(tx, {
        type: 'connector.unhealthy',
        subject: { type: 'connector', id },
        payload: { name: 'firewall', type: 'http', message: 'No.' },
      }),
    );
    const expected = [
      'action.completed',
      'action.failed',
      'action.pending_approval',
      'action.pending_approval',
      'action.rejected',
      'connector.unhealthy',
      'incident.created',
      'kill_switch.activated',
      'kill_switch.deactivated',
    ];
    await eventually(typesOf, (types) => types.length === expected.length);
    expect(typesOf().toSorted()).toEqual(expected);
    for (const event of receiver.events) expect(eventSchemaErrors(event)).toEqual([]);
    const ofRejected = receiver.events.filter(({ data }) => data.action?.id === rejected);
    expect(ofRejected.map(({ type }) => type)).toEqual([
      'action.pending_approval',
      'action.rejected',
    ]);
    expect(ofRejected[0]!.data).toMatchObject({
      action: {
        action_type: 'isolate_host',
        target: 'laptop-7',
        reason: reason.slice(0, 500),
        expires_at: expect.any(String),
      },
      incident: { id, severity: 'high' },
    });
    const rejected_by = ofRejected[0]!.data.action.requested_by;
    expect(ofRejected[1]!.data).toMatchObject({ action: { rejected_by } });
    const decided = receiver.events.find(({ data }) => data.action?.approved_by)!;
    expect(decided.data.action).toMatchObject({ id: failing, approved_by: rejected_by });
    expect(decided.data.action).not.toHaveProperty('expires_at');
  });

  it('report a raised severity, and then all events of the incident', async () => {
    const events = NOTIFIED_EVENTS.filter((event) => event !== 'incident.updated');
    const chosen = await channel({ min_severity: 'high', events });
    const unnoticed = await incident({ severity: 'low' });
    await put(`/api/incidents/${unnoticed}`, { severity: 'medium' });
    await put(`/api/incidents/${unnoticed}`, { status: 'resolved' });
    const raised = await incident({ severity: 'medium' });
    await put(`/api/incidents/${raised}`, { severity: 'critical' });
    await put(`/api/incidents/${raised}`, { severity: 'low' });
    await put(`/api/incidents/${raised}`, { status: 'resolved' });
    await put(`/api/incidents/${raised}`, { status: 'open', reopen: true });
    const deleted = await incident({ severity: 'high' });
    await put(`/api/incidents/${deleted}`, { severity: 'low' });
    await admin.delete(`/api/incidents/${deleted}`);
    await ended(chosen.id, 7);

    const typesFor = (id: string) =>
      receiver.events
        .filter(({ data }) => data.incident.id === id)
        .map(({ type, data: { incident: about } }) => `${type} ${about.severity} ${about.status}`);
    expect(typesFor(unnoticed)).toEqual([]);
    expect(typesFor(raised)).toEqual([
      'incident.severity_changed critical open',
      'incident.severity_changed low open',
      'incident.resolved low resolved',
      'incident.reopened low open',
    ]);
    expect(typesFor(deleted)).toEqual([
      'incident.created high open',
      'incident.severity_changed low open',
      'incident.deleted low open',
    ]);
    const name = expect.stringMatching(/^key:admin/);
    const changed = receiver.events.find(({ type }) => type === 'incident.severity_changed')!;
    expect(changed.data).toMatchObject({ previous_severity: 'medium', changed_by: name });
    const reopened = receiver.events.find(({ type }) => type === 'incident.reopened')!;
    expect(reopened.data).toMatchObject({ reopened_by: name });
    const gone = receiver.events.find(({ type }) => type === 'incident.deleted')!;
    expect(gone.data).toMatchObject({ deleted_by: name });
    for (const event of receiver.events) expect(eventSchemaErrors(event)).toEqual([]);
  });

  it('accept any payload of an event, so that no change fails', async () => {
    const { id } = await channel();
    await sql(`
      insert into domain_events (events)
      select jsonb_agg(jsonb_build_object(
               'id', gen_random_uuid(), 'type', 'incident.created', 'subject_type', 'incident', 'subject_id', subject,
               'payload', payload::jsonb, 'occurred_at', now()))
        from (values ('no uuid', '{"severity": {"a": 1}}'), ('', '[]'), ('x', '"text"'),
                     ('z', '{"severity": "urgent", "incident_id": 7}')) as odd (subject, payload)`);
    expect((await deliveries(id)).meta.total).toBe(4);
  });

  it('are repeated with the same id and bytes until the receiver accepts them, and logged once as failed', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const { id } = await channel({ events: ['incident.created'] });
    receiver.vendor.behave('error-500', 'drop-before-reading', 'apply');
    await incident();
    await eventually(
      async () => (await deliveries(id)).data[0],
      (row) => row?.attempts === 1 && row.last_error !== undefined,
    );
    expect((await deliveries(id)).data[0]).toMatchObject({
      status: 'pending',
      last_error: 'The receiver answered with status 500.',
    });
    expect(await shown(id)).toMatchObject({ status: 'degraded' });
    await hurry();
    await eventually(async () => (await deliveries(id)).data[0].attempts === 2);
    await eventually(hurry, () => receiver.requests.length === 2);
    await ended(id, 1);
    const logged = warn.mock.calls.filter(([, words]) => /channel fails/.test(String(words)));
    warn.mockRestore();
    const line = 'A notification channel fails: The receiver answered with status 500.';
    expect(logged).toEqual([[{ channel: expect.stringMatching(/^hook/) }, line]]);
    const [first, second] = receiver.requests;
    expect(second!.body).toBe(first!.body);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(await shown(id)).not.toHaveProperty('last_error');
    expect(await shown(id)).toMatchObject({ status: 'healthy' });
  });

  it('succeed by the status of the response, even if its body never ends', async () => {
    const { id } = await channel({ events: ['incident.created'] });
    receiver.vendor.behave('huge', 'slow-drip');
    await incident();
    await incident();
    expect((await ended(id, 2)).map(({ status, attempts }: never) => [status, attempts])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ]);
    await eventually(() => receiver.vendor.connections === 0);
  });

  it('stay pending while the address is forbidden, and the channel shows the reason', async () => {
    const { id } = await channel({ events: ['incident.created'] });
    const refused = new TargetRefusedError('127.0.0.1 is not in a public network.');
    const lookup = jest.spyOn(app.nest.get(Targets), 'lookupFor').mockImplementation(() => {
      throw refused;
    });
    try {
      for (let n = 0; n < 5; n += 1) await incident();
      await shownAs(id, 'paused');
      expect(await shown(id)).toMatchObject({
        status: 'degraded',
        last_error: '127.0.0.1 is not in a public network.',
      });
      expect((await deliveries(id, '?status=pending')).meta.total).toBe(5);
      expect((await admin.get('/health/detailed')).body.components.notifications).toMatchObject({
        status: 'degraded',
        failing: [expect.stringMatching(/^hook /)],
      });
    } finally {
      lookup.mockRestore();
    }
    await eventually(hurry, () => receiver.requests.length >= 5);
    expect((await ended(id, 5)).map(({ status }: { status: string }) => status)).toEqual(
      Array.from({ length: 5 }, () => 'delivered'),
    );
  });

  it('are sent one at a time to a receiver that asks for a lower rate, urgent deliveries first', async () => {
    const { id } = await channel({ events: ['incident.created', 'kill_switch.activated'] });
    receiver.vendor.retryAfter = '600';
    receiver.vendor.behave('apply', 'rate-limit');
    for (let n = 0; n < 6; n += 1) await incident();
    await shownAs(id, 'degraded');
    await post('/api/kill-switch/activate', { reason: 'An exercise.' });
    await post('/api/kill-switch/deactivate', { reason: 'It is over.' });
    const [row] = await sql(
      `select failures, narrow_until > now() as slow
         from notification_channels join work_lanes on lane = 'notification.' || id where id = $1`,
      [id],
    );
    expect(row).toEqual({ failures: 0, slow: true });
    const seen = receiver.requests.length;
    receiver.vendor.behave('apply');
    await hurry();
    await ended(id, 7);
    expect(typesOf()[seen]).toBe('kill_switch.activated');
    expect(await shown(id)).toMatchObject({ status: 'healthy' });
  });

  it('are attempted immediately after a change of the configuration and after a successful test message', async () => {
    const { id } = await channel({ events: ['incident.created'] });
    const stall = async () => {
      receiver.vendor.retryAfter = '7200';
      receiver.vendor.behave('rate-limit');
      await incident();
      await shownAs(id, 'paused');
      const [paused] = await sql(
        `select paused_until > now() + interval '100 minutes' as long from work_lanes where lane = 'notification.' || $1`,
        [id],
      );
      expect(paused).toEqual({ long: true });
      receiver.vendor.behave('apply');
    };
    await stall();
    await put(`${PATH}/${id}`, { config: { url: `${receiver.url}&moved=yes` } });
    await ended(id, 1);
    await stall();
    await put(`${PATH}/${id}`, { enabled: false });
    await put(`${PATH}/${id}`, { enabled: true });
    await ended(id, 2);
    await stall();
    await sql(
      `update work set due_at = now() + interval '1 hour' where kind = 'notification' and not ready`,
    );
    expect((await post(`${PATH}/${id}/test`)).body.data.success).toBe(true);
    await ended(id, 3);
    expect(await shown(id)).not.toHaveProperty('paused_until');
  });

  it('report a channel as unhealthy if it is paused for long, without another attempt', async () => {
    // A channel that failed long ago and has nothing to deliver may work again.
    const quiet = await channel({ events: ['incident.created'] });
    await failSinceLong(`id = '${quiet.id}'`);
    await app.nest.get(DeliveryWork).reportUnhealthy();
    expect((await shown(quiet.id)).status).toBe('degraded');
    await admin.delete(`${PATH}/${quiet.id}`);

    const waiting = await channel({ events: ['incident.created'] });
    await channel({ events: ['kill_switch.activated'] }, other.url);
    receiver.vendor.retryAfter = '7200';
    receiver.vendor.behave('rate-limit');
    await incident();
    await shownAs(waiting.id, 'degraded');
    await failSinceLong(`id = '${waiting.id}'`);
    const tries = receiver.requests.length;
    await app.nest.get(DeliveryWork).reportUnhealthy();
    await eventually(() => typesOf(other).length > 0);
    expect(other.events[0]!.data).toMatchObject({ channel: { id: waiting.id } });
    // A busy machine may respond too late and get the same event twice.
    expect(new Set(other.events.map(({ id }) => id)).size).toBe(1);
    expect(receiver.events.slice(tries).map(({ type }) => type)).not.toContain('incident.created');
    expect((await shown(waiting.id)).status).toBe('unhealthy');
  });

  it('are counted when they are refused or expire, except deliveries of a deleted channel', async () => {
    const dead = async () => {
      const { text } = await admin.get('/metrics');
      return Number(/notification_deliveries_dead_total\{type="webhook"\} (\d+)/.exec(text)![1]);
    };
    const { id } = await channel({ events: ['incident.created'] });
    const pause = async () => {
      await sql(`update work_lanes set paused_until = now() + interval '1 day'`);
      await incident();
    };
    const expire = async (next?: string) => {
      await sql(
        `update notification_deliveries set expires_at = now() - interval '2 hours' where channel_id = $1`,
        [id],
      );
      if (next) await sql(next);
      await app.nest.get(DeliveryWork).cleanUp();
    };
    receiver.vendor.behave('refuse', 'apply');
    const before = await dead();
    await incident();
    await ended(id, 1);
    await eventually(dead, (count) => count === before + 1);
    await pause();
    await app.nest.get(DeliveryWork).cleanUp();
    expect((await dead()) - before).toBe(1);
    const tries = receiver.requests.length;
    await expire(`update work_lanes set paused_until = null`);
    expect((await ended(id, 2))[0]).toMatchObject({ status: 'dead', attempts: 0 });
    await eventually(dead, (count) => count === before + 2);
    expect(receiver.requests).toHaveLength(tries);
    expect((await shown(id)).dead_last_day).toBe(2);
    expect((await admin.get(PATH)).body.data[0]).toMatchObject({ id, dead_last_day: 2 });
    await pause();
    await admin.delete(`${PATH}/${id}`);
    await expire();
    expect((await dead()) - before).toBe(2);
  });

  it('do not change their channel after their claim was lost', async () => {
    const { id } = await channel({ events: ['incident.created'] });
    const ends = jest.spyOn(app.nest.get(DeliveryWork), 'store');
    jest.spyOn(app.nest.get(DeliveryWork), 'send').mockImplementationOnce(async () => {
      await sql(`update work set fence = fence + 1 where kind = 'notification'`);
      return { kind: 'failed', why: 'No.' };
    });
    await incident();
    await eventually(() => ends.mock.results.length > 0);
    await Promise.allSettled(ends.mock.results.map(({ value }) => value as Promise<void>));
    ends.mockRestore();
    expect((await shown(id)).status).toBe('healthy');
  });

  it('leave no row in the table work if their channel is deleted during the claim', async () => {
    const { id } = await channel({ events: ['incident.created'] });
    const byIds = jest
      .spyOn(app.nest.get(ChannelsRepository), 'byIds')
      .mockResolvedValue(new Map());
    await incident();
    await eventually(() => byIds.mock.calls.length > 0);
    await eventually(
      () => sql(`select from work where kind = 'notification'`),
      (rows) => (rows as unknown[]).length === 0,
    );
    byIds.mockRestore();
    expect((await deliveries(id)).meta.total).toBe(1);
  });

  it('are cleaned up in a fixed number of statements, for any number of channels', async () => {
    const countOf = async () => {
      const rows = jest.spyOn(app.nest.get(Statements), 'rows');
      const rowsIn = jest.spyOn(app.nest.get(Statements), 'rowsIn');
      await app.nest.get(DeliveryWork).cleanUp();
      const ofDeliveries = [
        ...rows.mock.calls.map(([one]) => one),
        ...rowsIn.mock.calls.map(([, one]) => one),
      ].filter(({ name }) => name.startsWith('notification_deliveries_'));
      rows.mockRestore();
      rowsIn.mockRestore();
      return ofDeliveries.length;
    };
    const before = await countOf();
    for (let n = 0; n < 3; n += 1) await admin.delete(`${PATH}/${(await channel()).id}`);
    expect(await countOf()).toBe(before);
  });

  it('are removed 30 days after their event if they ended', async () => {
    const { id } = await channel({ events: ['incident.created'] });
    await incident();
    await incident();
    await ended(id, 2);
    await sql(
      `update notification_deliveries set id = ('01000000-0000' || substr(id::text, 14))::uuid
        where position = (select min(position) from notification_deliveries where channel_id = $1)`,
      [id],
    );
    await app.nest.get(DeliveryWork).cleanUp();
    expect((await deliveries(id)).meta.total).toBe(1);
  });

  it('reach other channels while one channel hangs', async () => {
    const hanging = await channel({ events: ['incident.created'] }, other.url);
    other.vendor.behave('hang');
    const { id } = await channel({ events: ['incident.created'] });
    await Promise.all(Array.from({ length: 140 }, () => incident()));
    await eventually(async () => (await deliveries(id, '?status=delivered')).meta.total === 140);
    expect((await deliveries(hanging.id, '?status=pending')).meta.total).toBe(140);
    // The hanging channel occupies only its own slots.
    expect(other.requests.length).toBeLessThanOrEqual(128);
  });

  it('that fail at the same time count as one failure of the channel', async () => {
    const hanging = await WebhookReceiver.start();
    hanging.vendor.behave('hang');
    const { id } = await channel({ events: ['incident.created'] }, hanging.url);
    await Promise.all(Array.from({ length: 20 }, () => incident()));
    await eventually(() => hanging.requests.length === 20);
    await hanging.stop();
    const attempts = `from work where lane = 'notification.' || $1 and attempts > 0 and error is not null`;
    await eventually(
      async () => (await sql(`select count(*)::int as n ${attempts}`, [id]))[0].n === 20,
    );
    const [row] = await sql(
      `select failures, (select max(attempts) ${attempts}) as rounds from notification_channels where id::text = $1`,
      [id],
    );
    expect(row.failures).toBeLessThanOrEqual(row.rounds);
  });

  it('are redelivered on request, with the same event id', async () => {
    const { id } = await channel({ events: ['incident.created'] });
    receiver.vendor.behave('refuse', 'apply');
    await incident();
    const [dead] = await ended(id, 1);
    expect(dead).toMatchObject({
      status: 'dead',
      attempts: 1,
      last_error: 'The receiver answered with status 422.',
    });
    expect(dead).not.toHaveProperty('next_attempt_at');
    await sql(`update notification_deliveries set attempts = 30 where id = $1`, [dead.id]);
    const again = await post(`${PATH}/${id}/deliveries/${dead.id}/redeliver`);
    expect(again.status).toBe(202);
    // The backoff starts from the beginning.
    expect(again.body.data).toMatchObject({ id: dead.id, status: 'pending', attempts: 0 });
    await eventually(async () => (await deliveries(id)).data[0].status === 'delivered');
    expect(new Set(receiver.events.map((event) => event.id)).size).toBe(1);
    const audit = await admin.get('/api/audit?action=notification_delivery.redelivered');
    expect(audit.body.data[0].subject.id).toBe(dead.id);
    const { id: foreign } = await channel({}, other.url);
    expect((await post(`${PATH}/${foreign}/deliveries/${dead.id}/redeliver`)).status).toBe(404);
    await put(`${PATH}/${id}`, { enabled: false });
    const disabled = await post(`${PATH}/${id}/deliveries/${dead.id}/redeliver`);
    expect(disabled.body.error.code).toBe('invalid_state');
  });

  it('that died since a given time are redelivered together, in their order', async () => {
    const { id } = await channel({ events: ['incident.created', 'incident.resolved'] });
    const since = new Date().toISOString();
    const again = (body: object) => post(`${PATH}/${id}/deliveries/redeliver`, body);
    receiver.vendor.behave('refuse');
    const one = await incident();
    await put(`/api/incidents/${one}`, { status: 'resolved' });
    await ended(id, 2);
    expect((await again({ since: '2100-01-01T00:00:00Z' })).body.data).toEqual({ redelivered: 0 });
    expect((await again({})).body.error.code).toBe('validation_error');
    receiver.vendor.behave('apply');
    const tries = receiver.requests.length;
    expect((await again({ since })).body.data).toEqual({ redelivered: 2 });
    expect((await ended(id, 2)).map(({ status }: { status: string }) => status)).toEqual([
      'delivered',
      'delivered',
    ]);
    expect(typesOf().slice(tries)).toEqual(['incident.created', 'incident.resolved']);
    expect((await again({ since })).body.data).toEqual({ redelivered: 0 });
    const audit = await admin.get('/api/audit?action=notification_delivery.redelivered');
    expect(audit.body.data[0]).toMatchObject({ subject: { id }, details: { count: 0 } });
    await put(`${PATH}/${id}`, { enabled: false });
    expect((await again({ since })).body.error.code).toBe('invalid_state');
  });

  describe('of a channel that fails for ten minutes', () => {
    let failing: string;
    let watching: string;

    beforeEach(async () => {
      const name = `failing ${(names += 1)}`;
      failing = (await channel({ name, events: ['incident.created'] })).id;
      watching = (await channel({ events: ['kill_switch.activated'] }, other.url)).id;
    });

    const failForLong = async () => {
      receiver.vendor.behave('error-500');
      await incident();
      await shownAs(failing, 'degraded');
      await failSinceLong('failures > 0');
      await app.nest.get(DeliveryWork).reportUnhealthy();
      expect((await shown(failing)).status).toBe('unhealthy');
    };
    const otherHas = async (...types: string[]) => {
      await eventually(() => typesOf(other).length === types.length);
      expect(typesOf(other)).toEqual(types.map((type) => `notification_channel.${type}`));
      for (const event of other.events) {
        expect(eventSchemaErrors(event)).toEqual([]);
        expect(event.data).toMatchObject({ channel: { id: failing } });
      }
    };
    /** Repeats hurry(), because an attempt in progress fails with the old configuration and then waits. */
    const delivered = (count: number) =>
      eventually(
        async () => {
          await hurry();
          return (await deliveries(failing, '?status=delivered')).meta.total;
        },
        (total) => total === count,
      );

    it('report the failure and the recovery to the other channels once, and show both in health and metrics', async () => {
      await failForLong();
      await otherHas('unhealthy');
      expect(other.events[0]!.data).toMatchObject({
        message: 'The receiver answered with status 500.',
      });
      expect((await admin.get('/health/detailed')).body.components.notifications).toMatchObject({
        status: 'degraded',
        total: 2,
        unhealthy: [expect.stringContaining('failing')],
      });
      expect((await admin.get('/ready')).status).toBe(200);
      await eventually(
        async () => (await admin.get('/metrics')).text,
        (text) => /notification_channel_up\{channel="failing \d+"\} 0/.test(text),
      );
      receiver.vendor.behave('apply');
      await delivered(1);
      expect((await shown(failing)).status).toBe('healthy');
      await otherHas('unhealthy', 'recovered');
      await incident();
      await delivered(2);
      expect((await deliveries(watching)).meta.total).toBe(2);
    });

    it('report the recovery once after a change of the configuration', async () => {
      await failForLong();
      await put(`${PATH}/${failing}`, { config: { url: `${receiver.url}/other` } });
      await failForLong();
      await otherHas('unhealthy');
      await put(`${PATH}/${failing}`, { config: { url: `${receiver.url}/third` } });
      receiver.vendor.behave('apply');
      await delivered(2);
      expect((await post(`${PATH}/${failing}/test`)).body.data.success).toBe(true);
      await otherHas('unhealthy', 'recovered');
      expect((await deliveries(watching)).meta.total).toBe(2);
    });
  });
});
