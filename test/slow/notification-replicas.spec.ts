import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { sealedColumns } from '../../src/app.schema.js';
import { loadSettings } from '../../src/platform/config/settings.js';
import { loadSecretKeys, resealAll } from '../../src/platform/secrets/secret-keys.js';
import { SecretBox } from '../../src/platform/secrets/secret-box.js';
import { eventually } from '../support/jobs/eventually.js';
import { lostKeySql } from '../support/lost-key.js';
import { isSignedBy, WebhookReceiver } from '../support/notifications/webhook-receiver.js';
import { as } from '../support/principals.js';
import { SmtpServer } from '../support/vendors/smtp-server.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const PATH = '/api/notification-channels';
const [OLD_KEY, NEW_KEY] = [0, 0].map(() => randomBytes(32).toString('base64')) as [string, string];

describe('notifications of several replicas', () => {
  const app = useStarted(() => replica());
  const admin = useStarted(() => as(app, 'admin'));
  let receiver: WebhookReceiver;

  const replica = (SECRETS_KEY = OLD_KEY, more: Partial<Parameters<typeof startTestApp>[0]> = {}) =>
    startTestApp({
      settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', SECRETS_KEY },
      ...more,
    });
  const channel = async () => {
    const body = { name: 'hook', type: 'webhook', config: { url: receiver.url } };
    return (await admin.post(PATH, body)).body.data as {
      readonly id: string;
      readonly secret: string;
    };
  };
  const incidents = async (n: number): Promise<void> => {
    const body = { incident_type: 'malware', source: 'edr' };
    const made = () => admin.post('/api/incidents', body);
    await Promise.all(Array.from({ length: n }, made));
  };
  const ofStatus = async (id: string, status: string): Promise<number> =>
    (await admin.get(`${PATH}/${id}/deliveries?status=${status}`)).body.meta.total;
  const leased = async () => {
    const rows = await app.sql<{ attempts: number }[]>(
      `select attempts from work where kind = 'notification' and worker is not null and not ready`,
    );
    return rows.length;
  };
  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
  });
  afterEach(async () => {
    const { body } = await admin.get(PATH);
    for (const { id } of body.data) await admin.delete(`${PATH}/${id}`);
    // Ends calls that hang.
    await receiver.stop();
    await eventually(leased, (n) => n === 0);
  });

  it('are sent once by one of the replicas', async () => {
    const second = await replica(OLD_KEY, { database: app.database });
    try {
      const { id } = await channel();
      await incidents(60);
      await eventually(async () => (await ofStatus(id, 'delivered')) === 60);
      expect(new Set(receiver.events.map((event) => event.id)).size).toBe(60);
      expect(receiver.events).toHaveLength(60);
    } finally {
      await second.close();
    }
  });

  it('do not delay the shutdown of a replica, which gives back hanging deliveries', async () => {
    const second = await replica(OLD_KEY, { database: app.database });
    receiver.vendor.behave('hang');
    await channel();
    await incidents(140);
    await eventually(leased, (n) => n === 140);
    await second.close();
    // The first replica has 128 slots. It takes the deliveries of the second replica before their leases end.
    await eventually(leased, (n) => n <= 128);
  });

  describe('by mail that one recipient refuses', () => {
    const [ada, bob] = ['ada@example.com', 'bob@example.com'] as const;
    const made = { incident_type: 'malware', source: 'edr' };
    let mailServer: SmtpServer;
    beforeEach(async () => {
      mailServer = await SmtpServer.start();
      mailServer.rejections.set(bob, '550 5.1.1 no such user');
    });
    afterEach(() => mailServer.stop());

    const mailChannel = async (...events: string[]): Promise<string> => {
      const config = { host: '127.0.0.1', port: mailServer.port, from: ada, to: [ada, bob] };
      const body = { name: randomBytes(4).toString('hex'), type: 'email', events, config };
      return (await admin.post(PATH, body)).body.data.id;
    };

    it('leave the channel healthy', async () => {
      const id = await mailChannel('incident.resolved');
      for (let n = 0; n < 4; n += 1) {
        const incident = (await admin.post('/api/incidents', made)).body.data;
        await admin.put(`/api/incidents/${incident.id}`, { status: 'resolved' });
      }
      await eventually(async () => (await ofStatus(id, 'dead')) === 4);
      expect((await admin.get(`${PATH}/${id}`)).body.data).toMatchObject({ status: 'healthy' });
      expect(mailServer.mails).toHaveLength(4);
    });

    it('are sent once if one mail is about several incidents', async () => {
      const id = await mailChannel('incident.created');
      for (let n = 0; n < 3; n += 1) await admin.post('/api/incidents', made);
      await eventually(async () => (await ofStatus(id, 'pending')) === 0);
      expect([await ofStatus(id, 'dead'), await ofStatus(id, 'delivered')]).toEqual([1, 2]);
      expect(mailServer.mails).toHaveLength(1);
    });
  });

  it('fail after the loss of the key, until the channel gets new secrets', async () => {
    const { id } = await channel();
    const lost = loadSecretKeys(loadSettings({ SECRETS_KEY: OLD_KEY })).ids[0]!;
    await app.sql(lostKeySql(lost).secrets);
    const shown = await admin.get(`${PATH}/${id}`);
    expect(shown.body.data).toMatchObject({ enabled: false, secrets_set: [] });
    const again = { enabled: true, rotate_secret: true };
    const { body } = await admin.put(`${PATH}/${id}`, again);
    expect(body.data).toMatchObject({ enabled: true, secret: expect.stringMatching(/^whsec_/) });
  });

  it('do not slow down the kill switch while every channel hangs', async () => {
    receiver.vendor.behave('hang');
    const { id } = await channel();
    await incidents(140);
    await eventually(leased, (n) => n === 128);
    const on = await admin.post('/api/kill-switch/activate', { reason: 'An exercise.' });
    expect(on.body.data).toMatchObject({ active: true, in_flight: 0 });
    const off = await admin.post('/api/kill-switch/deactivate', { reason: 'It is over.' });
    expect(off.body.data.active).toBe(false);
    expect(await ofStatus(id, 'pending')).toBe(142);
  });

  it('are signed with the same secret after the secret was sealed with another key', async () => {
    const { id, secret } = await channel();
    await admin.put(`${PATH}/${id}`, { rotate_secret: true });
    const both = loadSecretKeys(loadSettings({ SECRETS_KEY: `${NEW_KEY},${OLD_KEY}` }));
    const box = new SecretBox(both);
    // Two secrets: the current and the previous one.
    expect(await resealAll(app.nest.get(DataSource), sealedColumns, box, both.ids[0]!)).toBe(2);
    await using after = await replica(NEW_KEY, { database: app.database });
    const other = await as(after, 'admin');
    expect((await other.post(`${PATH}/${id}/test`)).body.data).toMatchObject({ success: true });
    expect(isSignedBy(secret, receiver.requests[0]!)).toBe(true);
  });
});
