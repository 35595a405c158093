import { DataSource } from 'typeorm';
import { DeliveryWorker } from '../../src/notifications/deliveries/delivery-worker.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { readMail } from '../support/read-mail.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { PagerDutyServer } from '../support/vendors/pagerduty-server.js';
import { SlackHookServer } from '../support/vendors/slack-hook-server.js';
import { SmtpServer } from '../support/vendors/smtp-server.js';
import { TeamsServer } from '../support/vendors/teams-server.js';

const PATH = '/api/notification-channels';
const LOGIN = { user: 'soc', pass: 'mail-password-9' };

describe('channels for people', () => {
  const slack = new SlackHookServer();
  const teams = new TeamsServer();
  const pagerduty = new PagerDutyServer();
  let app: TestApp;
  let admin: ApiClient;

  const create = (type: string, config: object, events?: readonly string[]) =>
    admin.request('POST', PATH, { body: { name: `the ${type}`, type, config, events } });

  /** What is held or waits for another attempt is due. */
  const hurry = async () => {
    const database = app.nest.get(DataSource);
    await database.query('update notification_channels set paused_until = null');
    await database.query(
      `update notification_deliveries set due_at = now(), held_until = case when held_until > now() then now() else held_until end
        where status = 'pending' and lease_until is null and carried_by is null`,
    );
    app.nest.get(DeliveryWorker).wake();
  };

  beforeAll(async () => {
    await Promise.all([slack.start(), teams.start(), pagerduty.start()]);
    app = await startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
    admin = await as(app, 'admin');
  });

  afterAll(async () => {
    await app.close();
    await Promise.all([slack.stop(), teams.stop(), pagerduty.stop()]);
  });

  it.each([
    ['slack', () => ({ webhook_url: slack.hook }), () => slack, slack.token],
    ['teams', () => ({ webhook_url: teams.hook }), () => teams, teams.signature],
    [
      'pagerduty',
      () => ({ routing_key: pagerduty.routingKey, base_url: pagerduty.url }),
      () => pagerduty,
      pagerduty.routingKey,
    ],
  ])(
    'of the type %s deliver a test and keep their secret',
    async (type, config, server, secret) => {
      const made = await create(type, config());
      expect(made.status).toBe(201);
      const path = `${PATH}/${made.body.data.id}`;
      const tested = await admin.request('POST', `${path}/test`);
      expect(tested.body.data).toMatchObject({ success: true });
      expect(server().calls).toHaveLength(1);
      expect(server().problems).toEqual([]);
      server().play(404);
      const failed = await admin.request('POST', `${path}/test`);
      expect(failed.body.data).toMatchObject({ success: false });
      const shown = [made.body, tested.body, failed.body, (await admin.request('GET', path)).body];
      expect(JSON.stringify(shown)).not.toContain(secret);
      await admin.request('DELETE', path);
    },
  );

  it('of the type email deliver a test, keep their password, and want it again for another server', async () => {
    const mail = await SmtpServer.start({ login: LOGIN });
    const config = {
      host: '127.0.0.1',
      port: mail.port,
      username: LOGIN.user,
      password: LOGIN.pass,
      from: 'soc@example.com',
      to: ['ada@example.com'],
    };
    const made = await create('email', config);
    expect(made.status).toBe(201);
    expect(made.body.data.secrets_set).toEqual(['password']);
    const path = `${PATH}/${made.body.data.id}`;
    const tested = await admin.request('POST', `${path}/test`);
    expect(tested.body.data).toMatchObject({ success: true });
    expect(mail.mails).toMatchObject([{ to: ['ada@example.com'], user: LOGIN.user }]);
    expect(mail.violations).toEqual([]);
    mail.tricks.set('AUTH', { say: '535 5.7.8 no' });
    const failed = await admin.request('POST', `${path}/test`);
    expect(failed.body.data).toMatchObject({
      success: false,
      message: 'The mail server refused: 535 5.7.8 no',
    });
    const moved = await admin.request('PUT', path, { body: { config: { port: mail.port + 1 } } });
    expect(moved.body.error.details.errors).toMatchObject([{ code: 'secret_required' }]);
    const shown = [made.body, tested.body, failed.body, (await admin.request('GET', path)).body];
    expect(JSON.stringify(shown)).not.toContain(LOGIN.pass);
    await admin.request('DELETE', path);
    await mail.stop();
  });

  it('of the type email tell of an incident in one conversation', async () => {
    const mail = await SmtpServer.start();
    const config = {
      host: '127.0.0.1',
      port: mail.port,
      from: 'soc@example.com',
      to: ['ada@example.com'],
    };
    const events = ['incident.created', 'incident.resolved'];
    const { id: channel } = (await create('email', config, events)).body.data;
    const incident = { incident_type: 'phishing', source: 'email-gateway', title: 'Odd invoice' };
    const { id } = (await admin.request('POST', '/api/incidents', { body: incident })).body.data;
    const body = { status: 'resolved', resolution: 'Deleted.' };
    await admin.request('PUT', `/api/incidents/${id}`, { body });
    await eventually(
      async () => {
        await hurry();
        return mail.mails.length;
      },
      (count) => count === 2,
    );
    const mails = mail.mails.map(({ content }) => readMail(content).headers);
    expect(mails).toMatchObject([
      {
        references: `<${id}@example.com>`,
        subject: expect.stringContaining('New incident, resolved since: INC-'),
      },
      { references: `<${id}@example.com>`, subject: expect.stringContaining('resolved: INC-') },
    ]);
    await admin.request('DELETE', `${PATH}/${channel}`);
    await mail.stop();
  });

  it('of the type email with one sender and two lists tell each list for itself', async () => {
    const mail = await SmtpServer.start({ mostRecipients: 20 });
    mail.rejections.set('slow@example.com', '451 4.7.1 come again');
    mail.rejections.set('bad@example.com', '550 5.1.1 no such user');
    const lists = [['slow@example.com', 'ok@example.com'], ['bad@example.com']];
    const config = { host: '127.0.0.1', port: mail.port, from: 'soc@example.com' };
    const made: string[] = [];
    for (const [n, to] of lists.entries()) {
      const body = { name: `list ${n}`, type: 'email', config: { ...config, to } };
      made.push((await admin.request('POST', PATH, { body })).body.data.id);
    }
    const body = { incident_type: 'phishing', source: 'email-gateway', severity: 'high' };
    await admin.request('POST', '/api/incidents', { body });
    const told = await eventually(
      async () => {
        await hurry();
        return await Promise.all(
          made.map(async (id) => {
            const { body: list } = await admin.request('GET', `${PATH}/${id}/deliveries`);
            return list.data[0];
          }),
        );
      },
      // The third has begun, so the second has ended.
      (rows) => rows.every((row) => row?.attempts >= 3 || row?.status === 'dead'),
    );
    expect(told).toMatchObject([
      { status: 'pending', last_error: expect.stringContaining('The others have the message.') },
      { status: 'pending', last_error: 'The mail server refused: 550 5.1.1 no such user' },
    ]);
    expect(mail.mails.map(({ to }) => to)).toEqual([['ok@example.com']]);
    for (const id of made) await admin.request('DELETE', `${PATH}/${id}`);
    await mail.stop();
  });

  it.each([
    ['slack', { webhook_url: 'https://10.0.0.1/services/T/B/x' }, 'target_refused'],
    ['teams', { webhook_url: 'http://169.254.169.254/workflows' }, 'target_refused'],
    ['pagerduty', { routing_key: 'too-short' }, 'matches'],
    [
      'email',
      { host: '10.0.0.1', from: 'soc@example.com', to: ['ada@example.com'] },
      'target_refused',
    ],
  ])('of the type %s are not made with %j', async (type, config, code) => {
    const answer = await create(type, config);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.errors).toEqual([expect.objectContaining({ code })]);
  });
});
