import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { JiraServer } from '../support/vendors/jira-server.js';
import { SlackServer } from '../support/vendors/slack-server.js';
import { SmtpServer } from '../support/vendors/smtp-server.js';
import { VirusTotalServer } from '../support/vendors/virustotal-server.js';

const LOGIN = { user: 'soc', pass: 'mail-password-9' };
const HOSTILE = '"\'\r\nBcc: eve@evil.example\r\n<!channel> {{ secrets.token }} ../../x?y#z';

describe('virustotal, slack, jira and smtp', () => {
  const virustotal = new VirusTotalServer();
  const slack = new SlackServer();
  const jira = new JiraServer();
  let smtp: SmtpServer;
  let app: TestApp;
  let admin: ApiClient;
  let incidentId: string;
  const connectors = new Map<string, string>();

  const connect = async (type: string, config: object): Promise<void> => {
    const body = { name: type, type, config };
    const {
      status,
      body: answered,
      text,
    } = await admin.request('POST', '/api/connectors', { body });
    expect(status).toBe(201);
    for (const secret of [virustotal.key, slack.token, jira.token, LOGIN.pass]) {
      expect(text).not.toContain(secret);
    }
    connectors.set(type, answered.data.id);
  };
  const execute = async (action: string, parameters: object) => {
    const path = `/api/incidents/${incidentId}/actions`;
    const { body: answered } = await admin.request('POST', path, {
      body: { action, parameters },
    });
    const { action_id: id } = answered.data;
    return (await admin.request('GET', `/api/actions/${id}`)).body.data;
  };

  beforeAll(async () => {
    await Promise.all([virustotal.start(), slack.start(), jira.start()]);
    smtp = await SmtpServer.start({ login: LOGIN });
    app = await startTestApp({
      settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', ACTION_WAIT_MS: '60000' },
    });
    admin = await as(app, 'admin');
    const incident = { body: { incident_type: 'phishing', source: 'test' } };
    incidentId = (await admin.request('POST', '/api/incidents', incident)).body.data.id;
    await connect('virustotal', { base_url: `${virustotal.url}/api/v3`, api_key: virustotal.key });
    await connect('slack', { base_url: `${slack.url}/api`, bot_token: slack.token });
    await connect('jira', {
      base_url: jira.url,
      email: jira.email,
      api_token: jira.token,
      project_key: 'SEC',
    });
    await connect('smtp', {
      host: '127.0.0.1',
      port: smtp.port,
      username: LOGIN.user,
      password: LOGIN.pass,
      from: 'soc@example.com',
    });
  });

  beforeEach(() => {
    for (const server of [virustotal, slack, jira, smtp]) server.forget();
  });

  afterEach(() => {
    for (const { problems } of [virustotal, slack, jira]) expect(problems).toEqual([]);
    expect(smtp.violations).toEqual([]);
  });

  afterAll(async () => {
    await app?.close();
    for (const server of [virustotal, slack, jira, smtp]) await server?.stop();
  });

  it('posts plain text into a channel', async () => {
    const posted = await execute('notify_channel', { channel: '#soc', message: HOSTILE });
    expect(posted).toMatchObject({ status: 'completed', result: { success: true } });
    expect(slack.messages).toEqual([
      {
        channel: 'C0123456789',
        text: HOSTILE.replace('<!channel>', '&lt;!channel&gt;'),
      },
    ]);
    expect(await execute('notify_channel', { channel: 'nowhere', message: 'x' })).toMatchObject({
      status: 'failed',
      result: { success: false, code: 'refused', message: expect.stringContaining('not_found') },
    });
  });

  it('opens one issue, also when its answer is lost', async () => {
    jira.playAt(/^POST \/rest\/api\/3\/issue$/, 'drop-after');
    const opened = await execute('create_ticket', { title: HOSTILE, description: HOSTILE });
    expect(opened).toMatchObject({
      status: 'completed',
      result: { success: true, message: 'Jira had opened SEC-1.', data: { key: 'SEC-1' } },
    });
    expect(jira.issues).toHaveLength(1);
    expect(jira.issues[0]!.fields.labels).toEqual([opened.id]);
  });

  it('writes only to recipients of the domain, and without injected headers', async () => {
    const message = { recipient: 'ada@example.com', subject: HOSTILE, message: HOSTILE };
    const sent = await execute('notify_user', message);
    expect(sent).toMatchObject({ status: 'completed', result: { success: true } });
    const [mail] = smtp.mails;
    expect(mail).toMatchObject({ to: ['ada@example.com'], user: LOGIN.user });
    const [head] = mail!.content.split('\r\n\r\n');
    expect(head).not.toMatch(/^Bcc:/m);
    expect(head).toContain(`Message-ID: <${sent.id}@example.com>`);
    const other = await execute('notify_user', { ...message, recipient: 'eve@evil.example' });
    expect(other).toMatchObject({ status: 'failed', result: { code: 'refused' } });
    expect(smtp.mails).toHaveLength(1);
  });
});
