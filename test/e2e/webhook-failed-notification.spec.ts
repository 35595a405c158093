import { DataSource } from 'typeorm';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { eventSchemaErrors } from '../support/notifications/event-contract.js';
import { WebhookReceiver } from '../support/notifications/webhook-receiver.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';

describe('A channel that subscribes to webhook_event.failed', () => {
  let app: TestApp;
  let admin: ApiClient;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    app = await startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
    admin = await as(app, 'admin');
    const channel = { name: 'hook', type: 'webhook', config: { url: receiver.url } };
    const body = { ...channel, events: ['webhook_event.failed'] };
    await admin.request('POST', '/api/notification-channels', { body });
    for (const source of ['siem', 'edr']) await registerSource(admin, { source });
  });
  afterAll(async () => {
    await app?.close();
    await receiver?.vendor.stop();
  });

  async function endQuietPeriod(): Promise<void> {
    const sql = `update webhook_events set processed_at = processed_at - interval '16 minutes'`;
    await app.nest.get(DataSource).query(sql);
  }

  it('receives the first failure of each source, and the next failure after a quiet period', async () => {
    const siem = new WebhookSender(app.client, 'siem');
    const { body } = await siem.send({ n: 1 });
    await siem.send({ n: 2 });
    await new WebhookSender(app.client, 'edr').send({ n: 3 });
    const told = (count: number) =>
      eventually(
        () => receiver.events,
        (events) => events.length >= count,
      );
    const events = (await told(2)).map(({ type, data }) => ({ type, data }));
    expect(events).toEqual([
      {
        type: 'webhook_event.failed',
        data: {
          webhook_event: { id: body.error.details.event_id, source: 'siem' },
          message: 'The body fits no known format.',
        },
      },
      expect.objectContaining({
        data: expect.objectContaining({
          webhook_event: expect.objectContaining({ source: 'edr' }),
        }),
      }),
    ]);
    // Ids have the time of the receipt. After a backlog each event fails long after its receipt.
    await app.nest
      .get(DataSource)
      .query(`update webhook_events set id = overlay(id::text placing '00' from 1)::uuid`);
    await siem.send({ n: 4 });
    await endQuietPeriod();
    await siem.send({ n: 1 });
    await siem.send({ n: 5 });
    expect(await told(3)).toHaveLength(3);
    await endQuietPeriod();
    await siem.send({ n: 6 });
    expect(await told(4)).toHaveLength(4);
    for (const event of receiver.events) expect(eventSchemaErrors(event)).toEqual([]);
  });

  it('receives one event when several receipts of a source fail at the same time', async () => {
    await registerSource(admin, { source: 'burst' });
    const sender = new WebhookSender(app.client, 'burst');
    await Promise.all(Array.from({ length: 8 }, (_, n) => sender.send({ n })));
    await endQuietPeriod();
    await sender.send({ n: 9 });
    const events = await eventually(
      () => receiver.events.filter(({ data }) => isOf(data, 'burst')),
      ({ length }) => length >= 2,
    );
    expect(events).toHaveLength(2);
  });
});

function isOf(data: unknown, source: string): boolean {
  return JSON.stringify(data).includes(`"source":"${source}"`);
}
