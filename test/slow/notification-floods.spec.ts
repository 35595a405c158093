import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';
import { SlackHookServer } from '../support/vendors/slack-hook-server.js';

const PATH = '/api/notification-channels';

describe('a flood of new incidents', () => {
  const slack = useStarted(() => new SlackHookServer().start());
  const app = useStarted(() =>
    startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } }),
  );
  const admin = useStarted(() => as(app, 'admin'));
  let channel: string;

  const incident = (more: object) =>
    admin.post('/api/incidents', {
      incident_type: 'malware',
      source: 'edr',
      severity: 'high',
      ...more,
    });
  const deliveries = async (query = '') =>
    (await admin.get(`${PATH}/${channel}/deliveries${query}`)).body;
  /** Sends all held messages. */
  const hurry = async () => {
    await app.sql(`update notification_deliveries set held_until = now() where held_until > now()`);
    await app.sql(`
      update work set ready = true, due_at = now()
       where kind = 'notification' and not ready and worker is null and due_at < 'infinity'`);
  };
  const delivered = (n: number) =>
    eventually(
      async () => (await deliveries('?status=delivered')).meta.total as number,
      (total) => total === n,
    );
  beforeEach(async () => {
    const body = {
      name: 'soc',
      type: 'slack',
      events: ['incident.created'],
      config: { webhook_url: slack.hook },
    };
    channel = (await admin.post(PATH, body)).body.data.id;
  });
  afterEach(async () => {
    await admin.delete(`${PATH}/${channel}`);
    expect(slack.problems).toEqual([]);
    slack.forget();
  });
  it('of similar alerts causes at most two messages, and each alert is delivered', async () => {
    for (let n = 0; n < 40; n += 1) await incident({ title: `Brute force on WS-${n}` });
    await eventually(() => slack.messages.length > 0);
    await hurry();
    await delivered(40);
    // Excludes messages of the previous test, which may still arrive.
    const ofTheFlood = slack.messages.filter(({ text }) => text.includes('Brute force on WS-'));
    expect(ofTheFlood.length).toBeLessThanOrEqual(2);
    const counts = ofTheFlood.map(({ text }) =>
      Number(/(\d+) new incidents from/.exec(text)?.[1] ?? 1),
    );
    expect(counts.reduce((sum, n) => sum + n)).toBe(40);
    const { data } = await deliveries('?per_page=100');
    const carriers = data.filter((one: { carried_by?: string }) => one.carried_by === undefined);
    expect(carriers).toHaveLength(ofTheFlood.length);
  });

  it('asks for no approval that was decided while the message waited', async () => {
    const sandbox = { name: 'sandbox', type: 'sandbox', config: {} };
    await admin.post('/api/connectors', sandbox);
    await admin.put(`${PATH}/${channel}`, { events: ['action.pending_approval'] });
    slack.play(503);
    const asked = await admin.post('/api/actions/execute', {
      action: 'isolate_host',
      parameters: { host_id: 'WS-042', reason: 'It beacons.' },
    });
    const { action_id: action } = asked.body.data;
    await eventually(async () => (await deliveries()).data[0]?.last_error !== undefined);
    await admin.post(`/api/actions/${action}/reject`, { reason: 'A test.' });
    await delivered(1);
    expect(slack.messages).toEqual([]);
    expect((await deliveries()).data[0]).toMatchObject({
      status: 'delivered',
      last_error: 'Not sent: all requested approvals were decided before.',
    });
  });

  describe('a report that reopens an incident and raises its severity', () => {
    let siem: WebhookSender;

    beforeAll(async () => {
      await registerSource(admin);
      siem = new WebhookSender(app.client);
    });

    const reopenWithWorse = async (id: string) => {
      const alert = (severity: string) => ({
        event_type: 'malware',
        timestamp: '2026-01-31T09:30:00Z',
        source: 'siem-a',
        data: { alert_id: id, severity, details: { host: 'ws-1' } },
      });
      const { incident_id } = (await siem.send(alert('medium'))).body;
      await admin.put(`/api/incidents/${incident_id}`, { status: 'resolved' });
      await siem.send(alert('high'));
    };

    it('causes one message for people who receive both events', async () => {
      const events = ['incident.reopened', 'incident.severity_changed'];
      await admin.put(`${PATH}/${channel}`, { events });
      await reopenWithWorse('both');
      await delivered(1);
      expect((await deliveries()).meta.total).toBe(1);
      expect(slack.messages.map(({ text }) => text)).toEqual([
        expect.stringMatching(/^\[high\] Reopened and raised from medium to high: INC-/),
      ]);
    });

    it('causes a message for people who receive only the change of the severity', async () => {
      const events = ['incident.severity_changed'];
      await admin.put(`${PATH}/${channel}`, { events });
      await reopenWithWorse('severity');
      await delivered(1);
      expect(slack.messages.map(({ text }) => text)).toEqual([
        expect.stringMatching(/^\[high\] Severity raised from medium to high: INC-/),
      ]);
    });
  });
});
