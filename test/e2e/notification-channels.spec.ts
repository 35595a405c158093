import { NOTIFIED_EVENTS } from '../../src/notifications/notification.js';
import { SecretBox } from '../../src/platform/secrets/secret-box.js';
import { eventually } from '../support/jobs/eventually.js';
import { eventSchemaErrors } from '../support/notifications/event-contract.js';
import { isSignedBy, WebhookReceiver } from '../support/notifications/webhook-receiver.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() =>
  startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } }),
);

const PATH = '/api/notification-channels';
const SECRET = `whsec_${Buffer.alloc(32, 'a secret for tests').toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 'another secret').toString('base64')}`;

describe(PATH, () => {
  const admin = useStarted(() => as(app, 'admin'));
  const receiver = useStarted(() => WebhookReceiver.start());
  let names = 0;

  const webhook = (more: object = {}, config: object = {}) => ({
    name: `hook ${(names += 1)}`,
    type: 'webhook',
    config: { url: receiver.url, ...config },
    ...more,
  });
  const create = (body: object) => admin.post(PATH, body);
  const made = async (body: object = webhook()) => (await create(body)).body.data;
  const change = (id: string, body: object, headers = {}) =>
    admin.put(`${PATH}/${id}`, body, headers);
  const test = async (id: string) => (await admin.post(`${PATH}/${id}/test`)).body.data;
  const errorsOf = (answer: { readonly body: { error?: { details?: { errors?: object[] } } } }) =>
    answer.body.error?.details?.errors;

  afterEach(async () => {
    receiver.vendor.forget();
    const { body } = await admin.get(`${PATH}?per_page=100`);
    for (const { id } of body.data) await admin.delete(`${PATH}/${id}`);
  });

  it('creates, shows, lists, changes and deletes a channel', async () => {
    const body = webhook({
      events: ['incident.resolved', 'incident.created'],
      min_severity: 'high',
    });
    const created = await create(body);
    expect(created.status).toBe(201);
    const { secret, ...channel } = created.body.data;
    expect(secret).toMatch(/^whsec_/);
    expect(channel).toMatchObject({
      name: body.name,
      type: 'webhook',
      enabled: true,
      events: ['incident.created', 'incident.resolved'],
      min_severity: 'high',
      config: { url: receiver.url },
      secrets_set: ['secret'],
      status: 'healthy',
    });
    expect((await admin.get(`${PATH}/${channel.id}`)).body.data).toEqual(channel);
    const list = await admin.get(PATH);
    expect(list.body).toEqual({ data: [channel], meta: { page: 1, per_page: 20, total: 1 } });

    const changed = await change(channel.id, { enabled: false, min_severity: 'low' });
    expect(changed.body.data).toMatchObject({ status: 'disabled', min_severity: 'low' });
    expect(changed.body.data).not.toHaveProperty('secret');

    const gone = await admin.delete(`${PATH}/${channel.id}`);
    expect(gone.body.data).toEqual({ id: channel.id, deleted: true });
    expect((await admin.get(`${PATH}/${channel.id}`)).status).toBe(404);
    expect((await create({ ...webhook(), name: body.name })).status).toBe(201);
  });

  it('shows a failure to a caller who has the current version', async () => {
    const { id } = await made();
    const { etag } = (await admin.get(`${PATH}/${id}`)).headers;
    await app.sql(
      `update notification_channels set failing_since = now(), last_error = 'Status 500.' where id = $1`,
      [id],
    );
    const { status, headers, body } = await admin.get(`${PATH}/${id}`, { 'if-none-match': etag! });
    expect([status, headers.etag]).toEqual([200, etag]);
    expect(body.data).toMatchObject({ status: 'degraded', last_error: 'Status 500.' });
  });

  it('subscribes a webhook without chosen events to every event of any severity', async () => {
    const channel = await made();
    expect(channel).toMatchObject({ events: NOTIFIED_EVENTS, min_severity: 'low' });
    expect(channel).not.toHaveProperty('new_incident_min_severity');
  });

  const slack = (more: object = {}) =>
    webhook({ type: 'slack', config: { webhook_url: receiver.url }, ...more });

  it('subscribes a channel for people without chosen events to events that need action', async () => {
    const { events, ...channel } = await made(slack());
    expect(channel).toMatchObject({ min_severity: 'low', new_incident_min_severity: 'high' });
    expect(events).toEqual(
      expect.arrayContaining(['incident.created', 'triage.failed', 'action.pending_approval']),
    );
    for (const event of ['action.completed', 'incident.resolved']) {
      expect(events).not.toContain(event);
    }
    const pager = await made(
      webhook({
        type: 'pagerduty',
        config: { routing_key: 'x'.repeat(32), base_url: receiver.vendor.url },
      }),
    );
    expect(pager.events).toEqual(expect.arrayContaining([...events, 'incident.resolved']));
  });

  it('lets a channel for people choose its events and severities', async () => {
    expect(await made(slack({ events: ['action.completed'] }))).toMatchObject({
      events: ['action.completed'],
      min_severity: 'low',
    });
    expect(await made(slack({ events: ['action.completed'] }))).not.toHaveProperty(
      'new_incident_min_severity',
    );
    const medium = await made(slack({ min_severity: 'medium' }));
    expect(medium).toMatchObject({ min_severity: 'medium', new_incident_min_severity: 'medium' });
    const { body } = await change(medium.id, { new_incident_min_severity: 'critical' });
    expect(body.data).toMatchObject({
      min_severity: 'medium',
      new_incident_min_severity: 'critical',
    });
    const got = await admin.get(`${PATH}/${medium.id}`);
    expect(got.body.data.new_incident_min_severity).toBe('critical');
  });

  it('shows a generated secret once, also to a repeated request', async () => {
    const headers = { 'idempotency-key': 'make-a-channel' };
    const body = webhook();
    const first = await admin.post(PATH, body, headers);
    const again = await admin.post(PATH, body, headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotency-replayed']).toBe('true');
    const { secret, id } = first.body.data;
    const [list, got, changed] = await Promise.all([
      admin.get(PATH),
      admin.get(`${PATH}/${id}`),
      change(id, { enabled: true }),
    ]);
    expect(JSON.stringify([list.body, got.body, changed.body])).not.toContain(secret);
  });

  it('stores secrets encrypted and keeps them out of the audit trail', async () => {
    const { id } = await made(webhook({}, { secret: SECRET }));
    await change(id, { config: { secret: OTHER_SECRET } });
    const rows = await app.sql<Record<string, string>[]>(
      'select * from notification_channels where id = $1',
      [id],
    );
    const trail = await admin.get('/api/audit?per_page=100');
    for (const secret of [SECRET, OTHER_SECRET]) {
      expect(JSON.stringify([rows, trail.body])).not.toContain(secret.slice('whsec_'.length));
    }
    const box = app.nest.get(SecretBox);
    expect(box.open(rows[0]!['secrets']!, `notification_channel:${id}`)).toContain(OTHER_SECRET);
    // A secret of one channel cannot be decrypted for another channel or connector.
    expect(() => box.open(rows[0]!['secrets']!, `connector:${id}`)).toThrow();
  });

  it('sends a test message and returns its outcome', async () => {
    const { id } = await made(webhook({}, { secret: SECRET }));
    expect(await test(id)).toMatchObject({ success: true, message: 'The message is delivered.' });
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/hook?from=tests' });
    expect(isSignedBy(SECRET, request!)).toBe(true);
    expect(receiver.events[0]).toMatchObject({ type: 'notification.test' });
    expect(request!.headers['webhook-id']).toBe(receiver.events[0]!.id);

    receiver.vendor.behave('error-500');
    expect(await test(id)).toMatchObject({
      success: false,
      message: 'The receiver answered with status 500.',
    });
  });

  /** Returns for each secret whether it signs a test message now. */
  const signing = async (id: string, ...secrets: string[]) => {
    await test(id);
    return secrets.map((secret) => isSignedBy(secret, receiver.requests.at(-1)!));
  };

  it('signs with both secrets for a day when the secret is changed', async () => {
    const { id } = await made(webhook({}, { secret: SECRET }));
    const changed = await change(id, { config: { secret: OTHER_SECRET } });
    expect(changed.body.data).not.toHaveProperty('secret');
    const until = Date.parse(changed.body.data.old_secret_valid_until);
    expect(Math.round((until - Date.now()) / 3_600_000)).toBe(24);
    expect(await signing(id, SECRET, OTHER_SECRET)).toEqual([true, true]);
    await app.sql(
      `update notification_channels set former_secret_until = now() - interval '1 second'`,
    );
    expect(await signing(id, SECRET, OTHER_SECRET)).toEqual([false, true]);
  });

  it('generates a new secret and revokes the old one on request', async () => {
    const { id, secret } = await made();
    const rotated = (await change(id, { rotate_secret: true })).body.data;
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    const revoked = (await change(id, { revoke_old_secret: true })).body.data;
    expect(revoked).not.toHaveProperty('old_secret_valid_until');
    expect(await signing(id, secret, rotated.secret)).toEqual([false, true]);
  });

  it('records new and changed destinations of a channel in the audit trail', async () => {
    const email = { host: 'mail.example.com', from: 'its@example.com', to: ['soc@example.com'] };
    const hook = await made();
    const mail = await made({ name: 'mail', type: 'email', config: email });
    await change(hook.id, { config: { url: 'https://attacker.example.net/collect?token=t' } });
    await change(mail.id, { config: { to: ['mallory@example.net'] } });
    await change(mail.id, { min_severity: 'high' });

    const trail = await admin.get('/api/audit?per_page=20');
    const notified = ({ id }: { readonly id: string }) =>
      trail.body.data
        .filter((entry: { subject: { id: string } }) => entry.subject.id === id)
        .map(({ action, details }: { action: string; details: Record<string, string[]> }) =>
          [action.split('.')[1], details['sent_to_before'], details['sent_to']].flat().join(' '),
        )
        .toReversed();
    const [here, there] = [new URL(receiver.url).origin, 'https://attacker.example.net'];
    expect(notified(hook)).toEqual([`created  ${here}`, `updated ${here} ${there}`]);
    const server = 'tcp://mail.example.com:587';
    expect(notified(mail)).toEqual([
      `created  ${server} soc@example.com`,
      `updated ${server} soc@example.com ${server} mallory@example.net`,
      'updated  ',
    ]);
    expect(JSON.stringify(trail.body)).not.toContain('token=t');
  });

  it.each([
    ['an unknown type', { type: 'pigeon' }, {}, 'type', 'is_in'],
    ['a NUL in its name', { name: 'a\0b' }, {}, 'name', 'nul_character'],
    ['a password in its address', {}, { url: 'https://u:p@example.com' }, 'config.url', 'is_url'],
    ['the cloud metadata', {}, { url: 'http://169.254.169.254/' }, 'config.url', 'target_refused'],
    ['__proto__', {}, JSON.parse('{"__proto__": {"a": 1}}'), 'config.__proto__', 'forbidden_key'],
  ])('rejects a channel with %s', async (_, more, config, field, code) => {
    const body = { ...webhook(more, config), config: { url: receiver.url, ...config } };
    Object.defineProperties(body.config, Object.getOwnPropertyDescriptors(config));
    const answer = await create(body);
    expect(answer.status).toBe(422);
    expect(errorsOf(answer)).toEqual([expect.objectContaining({ field, code })]);
  });

  it('rejects the name of another channel', async () => {
    const body = webhook();
    expect((await create(body)).status).toBe(201);
    expect((await create(body)).status).toBe(409);
    const other = await made();
    expect((await change(other.id, { name: body.name })).status).toBe(409);
  });

  it('enables a channel with lost secrets only after new secrets', async () => {
    const { id } = await made();
    await app.sql(
      `update notification_channels set secrets = null, secret_names = '{}', enabled = false where id = $1`,
      [id],
    );
    const refused = await change(id, { enabled: true });
    expect(refused.status).toBe(422);
    expect(errorsOf(refused)).toEqual([
      expect.objectContaining({ field: 'config.secret', code: 'required' }),
    ]);
    expect((await change(id, { enabled: true, rotate_secret: true })).status).toBe(200);
  });
});

describe('A channel that subscribes to webhook_event.failed', () => {
  const admin = useStarted(() => as(app, 'admin'));
  const receiver = useStarted(() => WebhookReceiver.start());

  beforeAll(async () => {
    for (const source of ['siem', 'edr']) await registerSource(admin, { source });
    const events = ['webhook_event.failed'];
    const body = { name: 'hook', type: 'webhook', events, config: { url: receiver.url } };
    await admin.post(PATH, body);
  });
  it('receives the first failure of each source, and the next failure after a quiet period', async () => {
    const endQuietPeriod = () =>
      app.sql(`update webhook_events set processed_at = processed_at - interval '16 minutes'`);
    const siem = new WebhookSender(app.client, 'siem');
    const { body } = await siem.send({ n: 1 });
    await siem.send({ n: 2 });
    await new WebhookSender(app.client, 'edr').send({ n: 3 });
    const notified = (count: number) =>
      eventually(
        () => receiver.events,
        (events) => events.length >= count,
      );
    expect(await notified(2)).toMatchObject([
      {
        type: 'webhook_event.failed',
        data: {
          webhook_event: { id: body.error.details.event_id, source: 'siem' },
          message: 'The body fits no known format.',
        },
      },
      { data: { webhook_event: { source: 'edr' } } },
    ]);
    // The id of an event contains the time of its receipt. After a backlog, an event fails long after its receipt.
    await app.sql(`update webhook_events set id = overlay(id::text placing '00' from 1)::uuid`);
    await siem.send({ n: 4 });
    await endQuietPeriod();
    await siem.send({ n: 1 });
    await siem.send({ n: 5 });
    expect(await notified(3)).toHaveLength(3);
    await endQuietPeriod();
    await siem.send({ n: 6 });
    expect(await notified(4)).toHaveLength(4);
    for (const event of receiver.events) expect(eventSchemaErrors(event)).toEqual([]);
  });
});
