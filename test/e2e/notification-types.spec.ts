import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { PagerDutyServer } from '../support/vendors/pagerduty-server.js';
import { SlackHookServer } from '../support/vendors/slack-hook-server.js';
import { SmtpServer } from '../support/vendors/smtp-server.js';
import { TeamsServer } from '../support/vendors/teams-server.js';
import type { VendorServer } from '../support/vendors/vendor-server.js';
import { useStarted } from '../support/use-started.js';

const PATH = '/api/notification-channels';
const LOGIN = { user: 'soc', pass: 'mail-password-9' };

describe('channels for people', () => {
  const slack = useStarted(() => new SlackHookServer().start());
  const teams = useStarted(() => new TeamsServer().start());
  const pagerduty = useStarted(() => new PagerDutyServer().start());
  const app = useStarted(() =>
    startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } }),
  );
  const admin = useStarted(() => as(app, 'admin'));

  const create = (type: string, config: object) =>
    admin.post(PATH, { name: `the ${type}`, type, config });

  it.each<[string, VendorServer, () => object, () => string]>([
    ['slack', slack, () => ({ webhook_url: slack.hook }), () => slack.token],
    ['teams', teams, () => ({ webhook_url: teams.hook }), () => teams.signature],
    [
      'pagerduty',
      pagerduty,
      () => ({ routing_key: pagerduty.routingKey, base_url: pagerduty.url }),
      () => pagerduty.routingKey,
    ],
  ])(
    'of type %s deliver a test message and never return their secret',
    async (type, server, config, secret) => {
      const made = await create(type, config());
      expect(made.status).toBe(201);
      const path = `${PATH}/${made.body.data.id}`;
      const tested = await admin.post(`${path}/test`);
      expect(tested.body.data).toMatchObject({ success: true });
      expect(server.calls).toHaveLength(1);
      expect(server.problems).toEqual([]);
      server.play(404);
      const failed = await admin.post(`${path}/test`);
      expect(failed.body.data).toMatchObject({ success: false });
      const shown = [made.body, tested.body, failed.body, (await admin.get(path)).body];
      expect(JSON.stringify(shown)).not.toContain(secret());
      await admin.delete(path);
    },
  );

  it('of type email deliver a test message, never return their password, and require the password again for another server', async () => {
    const mail = await SmtpServer.start({ login: LOGIN });
    const made = await create('email', {
      host: '127.0.0.1',
      port: mail.port,
      username: LOGIN.user,
      password: LOGIN.pass,
      from: 'soc@example.com',
      to: ['ada@example.com'],
    });
    expect(made.status).toBe(201);
    expect(made.body.data.secrets_set).toEqual(['password']);
    const path = `${PATH}/${made.body.data.id}`;
    const tested = await admin.post(`${path}/test`);
    expect(tested.body.data).toMatchObject({ success: true });
    expect(mail.mails).toMatchObject([{ to: ['ada@example.com'], user: LOGIN.user }]);
    expect(mail.violations).toEqual([]);
    mail.tricks.set('AUTH', { say: '535 5.7.8 no' });
    const failed = await admin.post(`${path}/test`);
    expect(failed.body.data).toMatchObject({
      success: false,
      message: 'The mail server refused: 535 5.7.8 no',
    });
    const moved = await admin.put(path, { config: { port: mail.port + 1 } });
    expect(moved.body.error.details.errors).toMatchObject([{ code: 'secret_required' }]);
    const shown = [made.body, tested.body, failed.body, (await admin.get(path)).body];
    expect(JSON.stringify(shown)).not.toContain(LOGIN.pass);
    await admin.delete(path);
    await mail.stop();
  });
});
