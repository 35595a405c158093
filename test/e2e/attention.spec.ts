import { WaitingApprovals } from '../../src/actions/approvals/waiting-approvals.js';
import { newId } from '../../src/platform/ids.js';
import { SecretKeys } from '../../src/platform/secrets/secret-box.js';
import { requestedEarlier } from '../support/actions/held-change.js';
import type { Answer } from '../support/api-client.js';
import type { Behaviour } from '../support/fake-vendor.js';
import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';
import { lostKeySql } from '../support/lost-key.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

interface Item {
  readonly id: string;
  readonly kind: string;
  readonly reason: string;
  readonly link: string;
  readonly incident?: { readonly id: string };
}

const ALERT = { event_type: 'malware', timestamp: '2026-01-31T09:30:00Z', source: 'siem-a' };

describe('the list of attention items', () => {
  const world = useStarted(() =>
    PlaybookWorld.start({ TRIAGE_PROVIDER: 'rules', REOPEN_ON_UPDATE: 'false' }),
  );

  afterEach(() => {
    world.actions.vendor.plan = undefined;
  });

  const query = (sql: string, values: unknown[] = []): Promise<{ id: string }[]> =>
    world.actions.database.query(sql, values);
  const failTriage = (incident: string) =>
    query(
      `insert into triage_runs (id, incident_id, status, requested_by, provider, error, created_at, completed_at)
       values ($1, $2, 'failed', 'system', 'claude', '{"code": "refused", "message": "The model refused."}', now(), now())`,
      [newId(), incident],
    );
  const items = async (
    kind: string,
    client: keyof PlaybookWorld['clients'] = 'viewer',
  ): Promise<Item[]> => {
    const answer = await world.clients[client].get(`/api/attention?kind=${kind}&limit=200`);
    expect(answer.status).toBe(200);
    const { counts, items: found } = answer.body.data as {
      counts: { kind: string; count: number }[];
      items: Item[];
    };
    expect(counts.find((count) => count.kind === kind)?.count ?? 0).toBe(found.length);
    return found;
  };
  const done = (id: string, client: keyof PlaybookWorld['clients'] = 'analyst'): Promise<Answer> =>
    world.clients[client].post(`/api/attention/${id}/done`, { reason: 'Seen to.' });
  const vendor = (behaviour: Behaviour) => {
    world.actions.vendor.plan = () => ({ behaviour, afterMs: 0 });
  };
  const put = async (id: string, body: object) => {
    expect((await world.clients.analyst.put(`/api/incidents/${id}`, body)).status).toBe(200);
  };
  const resolve = (id: string) => put(id, { status: 'resolved', resolution: 'Nothing was found.' });

  it('lists a failed playbook step unless its action is listed', async () => {
    const incident = await world.incident();
    const absent = { parameters: { ip: '{{ incident.raw_data.absent }}' } };
    const playbook = await world.playbook([
      step('broken', 'lookup_ip', { ...absent, on_error: 'continue' }),
      step('look', 'lookup_ip'),
    ]);
    vendor('refuse');
    const { run_id } = (await world.run(playbook, { incident_id: incident })).body.data;
    await world.until(playbook, run_id, 'failed');
    const steps = await items('playbook_step_failed');
    expect(steps).toMatchObject([
      {
        id: `playbook_step_failed.${run_id}`,
        name: `${playbook}: broken`,
        reason: expect.stringContaining('absent'),
        role: 'analyst',
        incident: { id: incident, status: 'open' },
      },
    ]);
    expect((await world.clients.viewer.get(steps[0]!.link)).body.data).toMatchObject({ run_id });
    expect(await items('action_failed')).toMatchObject([
      { name: 'lookup_ip', incident: { id: incident } },
    ]);
  });

  it('lists a failed look-up until the same look-up succeeds for the same incident', async () => {
    const [ours, other] = [await world.incident(), await world.incident()];
    const look = (incidentId: string) =>
      world.actions.execute('lookup_ip', { incidentId, parameters: { ip: '198.51.100.77' } });
    const listed = async () =>
      (await items('action_failed')).filter(({ incident }) => incident?.id === ours).length;
    vendor('refuse');
    await look(ours);
    vendor('apply');
    await look(other);
    expect(await listed()).toBe(1);
    await look(ours);
    expect(await listed()).toBe(0);
  });

  it('lists an action with an unknown outcome', async () => {
    vendor('apply-then-500');
    const { action_id } = (await world.actions.execute('block_sender')).body.data;
    expect(await items('action_outcome_unknown')).toMatchObject([
      { id: `action_outcome_unknown.${action_id}` },
    ]);
    expect((await items('action_failed')).map(({ link }) => link)).not.toContain(
      `/api/actions/${action_id}`,
    );
  });

  it('lists an expired approval until its incident is resolved', async () => {
    const incidentId = await world.incident();
    const { action_id } = (await world.actions.execute('isolate_host', { incidentId })).body.data;
    await requestedEarlier(world.actions.database.manager, action_id, '2 days');
    await world.actions.app.nest.get(WaitingApprovals).expire();
    expect(await items('approval_expired')).toMatchObject([
      {
        id: `approval_expired.${action_id}`,
        name: 'isolate_host',
        reason: 'Nobody approved or rejected the action within 1440 min.',
      },
    ]);
    await resolve(incidentId);
    expect(await items('approval_expired')).toEqual([]);
  });

  it('lists a failed triage run until a person sets a verdict', async () => {
    const incident = await world.incident();
    await failTriage(incident);
    expect(await items('triage_failed')).toMatchObject([
      { reason: 'The model refused.', incident: { id: incident } },
    ]);
    await put(incident, { verdict: { classification: 'benign' } });
    expect(await items('triage_failed')).toEqual([]);
  });

  it('lists failed events, and later events about resolved incidents', async () => {
    await registerSource(world.clients.admin);
    const sender = new WebhookSender(world.actions.app.client);
    await sender.send({ alarm: 'of no known shape' });
    expect(await items('webhook_event_failed')).toMatchObject([
      { name: 'siem', reason: 'The body fits no known format.' },
    ]);
    const alert = (severity: string) => ({
      ...ALERT,
      data: { alert_id: 'case-1', severity, details: { host: 'ws-1' } },
    });
    const { incident_id } = (await sender.send(alert('medium'))).body;
    await resolve(incident_id);
    expect(await items('resolved_incident_reported')).toEqual([]);
    await sender.send(alert('critical'));
    expect(await items('resolved_incident_reported')).toMatchObject([
      { id: `resolved_incident_reported.${incident_id}`, incident: { status: 'resolved' } },
    ]);
    const path = `/api/incidents/${incident_id}/timeline`;
    const timeline = (await world.clients.viewer.get(path)).body.data;
    expect(timeline.map(({ event }: { event: string }) => event)).toContain('update_of_resolved');
    await put(incident_id, { status: 'open', reopen: true });
    expect(await items('resolved_incident_reported')).toEqual([]);
  });

  it('lists a source that is silent for longer than usual', async () => {
    const receipts = (source: string, gap: string, last: string) =>
      query(
        `insert into webhook_events (id, source, status, body_hash, received_at)
         select gen_random_uuid(), $1, 'processed', '', now() - $3::interval - n * $2::interval
           from generate_series(0, 9) as n`,
        [source, gap, last],
      );
    for (const source of ['hourly', 'nightly', 'seldom']) {
      await registerSource(world.clients.admin, { source });
    }
    await receipts('hourly', '1 hour', '11 hours');
    await receipts('nightly', '1 day', '3 days');
    await query(`insert into webhook_events (id, source, status, body_hash, received_at)
      values (gen_random_uuid(), 'seldom', 'processed', '', now() - interval '20 days')`);
    expect(await items('webhook_source_silent')).toMatchObject([
      {
        id: 'webhook_source_silent.hourly',
        role: 'admin',
        reason: expect.stringMatching(/^The last event came at .* UTC\.$/),
      },
    ]);
    expect((await done('webhook_source_silent.hourly')).status).toBe(403);
    expect((await done('webhook_source_silent.hourly', 'admin')).status).toBe(200);
    expect(await items('webhook_source_silent')).toEqual([]);
    // The source sends again and is then silent again.
    await receipts('hourly', '1 hour', '10 hours 30 minutes');
    expect(await items('webhook_source_silent')).toHaveLength(1);
  });

  it('shows broken connectors and channels to administrators only', async () => {
    const [channel] = await query(
      `insert into notification_channels (id, name, type, audience, enabled, events, min_severity, config, created_by,
         failures, failing_since, last_error, unhealthy_reported_at)
       values (gen_random_uuid(), 'pager', 'webhook', 'programs', true, '{}', 'low', '{}', 'test', 9, now() - interval '1 hour', 'It hangs.', now())
       returning id`,
    );
    const lose = () =>
      query(
        `insert into notification_deliveries (id, channel_id, event_id, type, subject_type, subject_id, payload, occurred_at,
           status, expires_at, ended_at, last_error)
         values (gen_random_uuid(), $1, gen_random_uuid(), 'incident.created', 'incident', 'x', '{}', now(),
           'dead', now(), now(), 'It hangs.')`,
        [channel!.id],
      );
    await lose();
    await lose();
    await query(
      `update connectors set unhealthy_reported_at = now(), health_message = 'It is down.' where id = (select id from connectors limit 1)`,
    );
    const reasons: Readonly<Record<string, string>> = {
      connector_unhealthy: 'It is down.',
      notification_channel_unhealthy: 'It hangs.',
      notifications_dead: '2 notifications failed permanently. The last error: It hangs.',
    };
    for (const [kind, reason] of Object.entries(reasons)) {
      expect(await items(kind, 'admin')).toMatchObject([{ reason }]);
      expect(await items(kind, 'manager')).toEqual([]);
    }
    const [lost] = await items('notifications_dead', 'admin');
    expect((await done(lost!.id, 'admin')).status).toBe(200);
    expect(await items('notifications_dead', 'admin')).toEqual([]);
    await lose();
    expect(await items('notifications_dead', 'admin')).toMatchObject([
      { reason: '1 notifications failed permanently. The last error: It hangs.' },
    ]);
  });

  it('lets only the first caller dismiss an item, and audits the reason', async () => {
    vendor('refuse');
    const { action_id } = (await world.actions.execute('lookup_ip')).body.data;
    const id = `action_failed.${action_id}`;
    expect((await done(id, 'viewer')).status).toBe(403);
    const answers = await Promise.all(Array.from({ length: 8 }, () => done(id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(404)]);
    expect(answers.find(({ status }) => status === 200)!.body.data).toMatchObject({
      id,
      done_by: world.actions.names.analyst,
      reason: 'Seen to.',
    });
    expect((await items('action_failed')).map((item) => item.id)).not.toContain(id);
    const audit = await world.clients.manager.get('/api/audit?action=attention.done');
    const entry = audit.body.data.find((one: { subject: { id: string } }) => one.subject.id === id);
    expect(entry).toMatchObject({ details: { reason: 'Seen to.' } });
  });

  it('answers 404 for an unknown item or kind', async () => {
    for (const id of ['action_failed', 'action_failed.x', 'unknown.x', 'toString.x', '.', '%00']) {
      expect([id, (await done(id)).status]).toEqual([id, 404]);
    }
    expect((await world.clients.viewer.get('/api/attention?kind=nothing')).status).toBe(422);
  });

  it('orders its pages so that many items of one kind do not hide another kind', async () => {
    const incident = await world.incident({ severity: 'critical' });
    await failTriage(incident);
    vendor('refuse');
    for (let n = 0; n < 5; n += 1) {
      await world.actions.execute('lookup_ip', {
        incidentId: await world.incident({ severity: 'critical' }),
        parameters: { ip: `198.51.100.${n}` },
      });
    }
    const list = async (query: string): Promise<Answer> => {
      const answer = await world.clients.viewer.get(`/api/attention?${query}`);
      expect(answer.status).toBe(200);
      return answer;
    };
    const idsOf = ({ body }: Answer) => (body.data.items as Item[]).map(({ id }) => id);
    const all = await list('limit=200');
    const { total, counts, items } = all.body.data as {
      total: number;
      counts: { kind: string; count: number }[];
      items: Item[];
    };
    expect(all.body.meta).toEqual({ page: 1, per_page: 200, total });
    const present = counts.filter(({ count }) => count > 0).map(({ kind }) => kind);
    const heads = counts.reduce((sum, { count }) => sum + Math.min(count, 3), 0);
    expect(new Set(items.slice(0, heads).map(({ kind }) => kind))).toEqual(new Set(present));
    const pages = await Promise.all([1, 2, 3].map((n) => list(`page=${n}&per_page=2`)));
    expect(pages.flatMap(idsOf)).toEqual(idsOf(all).slice(0, 6));
    const failed = await list('kind=action_failed&per_page=1&sort=-at');
    const count = counts.find(({ kind }) => kind === 'action_failed')!.count;
    expect(count).toBeGreaterThan(4);
    expect(failed.body.data.total).toBe(count);
    expect(failed.body.meta).toEqual({ page: 1, per_page: 1, total: count });
    expect(idsOf(await list('page=999'))).toEqual([]);
    const names = (await list('sort=name&limit=200')).body.data.items as { name: string }[];
    const sorted = names.map(({ name }) => name);
    expect(sorted).toEqual([...sorted].sort());
  });
});

it('GET /api/attention lists sources, connectors and channels with lost secrets to administrators, until they get new secrets or are deleted', async () => {
  await using app = await startTestApp();
  const [admin, viewer] = await Promise.all([as(app, 'admin'), as(app, 'viewer')]);
  const lost = async (client = admin) => {
    const { body } = await client.get('/api/attention?kind=secrets_lost&sort=name');
    return (body.data.items as (Item & { name: string })[]).map(({ name, link }) => [name, link]);
  };
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await admin.post(path, body);
    expect(answer.status).toBe(201);
    return answer.body.data.id;
  };
  const url = 'https://tools.example.com';
  const config = {
    base_url: url,
    headers: { authorization: 'Bearer {{ secrets.token }}' },
    secrets: { token: 'token-that-nobody-sees' },
    actions: { block_ip: { path: '/blocks' } },
  };
  await registerSource(admin);
  const firewall = await post('/api/connectors', { name: 'firewall', type: 'http', config });
  const pager = await post('/api/notification-channels', {
    name: 'pager',
    type: 'webhook',
    config: { url },
    // Disabled, because an attempt in progress would end with another error.
    enabled: false,
  });
  expect(await lost()).toEqual([]);

  const [key] = app.nest.get(SecretKeys).ids;
  await app.sql(lostKeySql(key!).secrets);
  const places = {
    source: '/api/webhooks/siem',
    connector: `/api/connectors/${firewall}`,
    channel: `/api/notification-channels/${pager}`,
  };
  const all = [
    ['firewall', places.connector],
    ['pager', places.channel],
    ['siem', places.source],
  ];
  expect(await lost()).toEqual(all);
  expect(await lost(viewer)).toEqual([]);
  await admin.post(`${places.connector}/test`);
  await admin.post(`${places.channel}/test`);
  expect(await lost()).toEqual(all);

  const put = async (path: string, body: object) =>
    expect((await admin.put(path, body)).status).toBe(200);
  await put(places.source, { secret: 'secret-of-the-second-day', enabled: true });
  await put(places.connector, { config, enabled: true });
  expect(await lost()).toEqual([['pager', places.channel]]);
  expect((await admin.delete(places.channel)).status).toBe(200);
  expect(await lost()).toEqual([]);
}, 60_000);
