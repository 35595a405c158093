import { DataSource } from 'typeorm';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { SlackHookServer } from '../support/vendors/slack-hook-server.js';

const PATH = '/api/notification-channels';

describe('a flood of new incidents', () => {
  const slack = new SlackHookServer();
  let app: TestApp;
  let admin: ApiClient;
  let channel: string;

  const incident = (more: object) =>
    admin.request('POST', '/api/incidents', {
      body: { incident_type: 'malware', source: 'edr', severity: 'high', ...more },
    });
  const deliveries = async (query = '') =>
    (await admin.request('GET', `${PATH}/${channel}/deliveries${query}`)).body;
  /** What is held waits no longer. */
  const hurry = () =>
    app.nest.get(DataSource).query(`update notification_deliveries set held_until = now()`);
  const delivered = (n: number) =>
    eventually(
      async () => (await deliveries('?status=delivered')).meta.total as number,
      (total) => total === n,
      20_000,
    );

  beforeAll(async () => {
    await slack.start();
    app = await startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
    admin = await as(app, 'admin');
  });
  beforeEach(async () => {
    const body = {
      name: 'soc',
      type: 'slack',
      events: ['incident.created'],
      config: { webhook_url: slack.hook },
    };
    channel = (await admin.request('POST', PATH, { body })).body.data.id;
  });
  afterEach(async () => {
    await admin.request('DELETE', `${PATH}/${channel}`);
    expect(slack.problems).toEqual([]);
    slack.forget();
  });
  afterAll(async () => {
    await app.close();
    await slack.stop();
  });

  it('sends a critical message before a queue of low ones, where Slack takes one message a second', async () => {
    slack.shortestMs = 1_000;
    const low = Array.from({ length: 200 }, (_, n) =>
      incident({ severity: 'low', source: `s-${n}` }),
    );
    await Promise.all(low);
    await eventually(
      () => slack.messages.length,
      (count) => count > 1,
      10_000,
    );
    await incident({ severity: 'critical', title: 'Ransomware' });
    await eventually(
      () => slack.messages.map(({ text }) => text),
      (texts) => texts.some((text) => /^.critical. New incident: .* Ransomware$/.test(text)),
      50_000,
    );
    const sentBefore = slack.messages.findIndex(({ text }) => text.includes('Ransomware'));
    expect(sentBefore).toBeLessThan(20);
  }, 60_000);

  it('of alerts that are alike is two messages at most, and each of them is delivered', async () => {
    for (let n = 0; n < 40; n += 1) await incident({ title: `Brute force on WS-${n}` });
    await eventually(
      () => slack.messages.length,
      (count) => count > 0,
      10_000,
    );
    await hurry();
    await delivered(40);
    expect(slack.messages.length).toBeLessThanOrEqual(2);
    const told = slack.messages.map(({ text }) =>
      Number(/(\d+) new incidents from/.exec(text)?.[1] ?? 1),
    );
    expect(told.reduce((sum, n) => sum + n)).toBe(40);
    const { data } = await deliveries('?per_page=100');
    const carriers = data.filter((one: { carried_by?: string }) => one.carried_by === undefined);
    expect(carriers).toHaveLength(slack.messages.length);
  }, 60_000);

  it('of one source is one message, with the most severe one first', async () => {
    const severities = ['medium', 'high', 'low', 'medium', 'low', 'medium'];
    await Promise.all(
      severities.map((severity) => incident({ severity, title: `It is ${severity}` })),
    );
    await delivered(6);
    expect(slack.messages).toHaveLength(1);
    expect(slack.messages[0]!.text).toMatch(
      /^.high. 6 new incidents from edr: INC-\d+-\d+ - It is high$/,
    );
  }, 60_000);
});
