import type { ApiClient } from '../support/api-client.js';
import { ChangeReader } from '../support/change-reader.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';

const event = (id: string, status: string, more: object = {}) => ({
  id,
  name: 'Host does not answer',
  level: 'critical',
  status,
  ...more,
});

describe('what a tool says of the status of its alert', () => {
  let app: TestApp;
  let analyst: ApiClient;
  let sender: WebhookSender;

  beforeAll(async () => {
    app = await startTestApp();
    analyst = await as(app, 'analyst');
    const mapping = { title: '/name', severity: '/level', event_id: '/id' };
    const more = { format: 'mapping', mapping, min_severity: 'high' };
    await registerSource(await as(app, 'admin'), more);
    sender = new WebhookSender(app.client);
  });
  afterAll(() => app?.close());

  const sent = async (body: object): Promise<string> =>
    (await sender.send(body)).body.incident_id as string;
  const read = async (id: string, part = '') =>
    (await analyst.request('GET', `/api/incidents/${id}${part}`)).body.data;
  const timelineOf = async (id: string): Promise<string[]> => {
    const entries: { event: string; summary: string }[] = await read(id, '/timeline?per_page=100');
    return entries.map((entry) => `${entry.event}: ${entry.summary}`);
  };

  it('is a field, a change that readers are told of, and a line of the timeline', async () => {
    const reader = new ChangeReader(analyst);
    await reader.next('&from=now');
    const id = await sent(event('a-1', 'firing'));
    const before = await read(id);
    expect(before).toMatchObject({ severity: 'critical', status: 'open' });
    expect(before).not.toHaveProperty('source_status');
    expect(await sent(event('a-1', 'resolved'))).toBe(id);
    const after = await read(id);
    expect(after).toMatchObject({
      severity: 'critical',
      status: 'open',
      source_status: 'resolved',
    });
    expect(after.updated_at > before.updated_at).toBe(true);
    expect(await timelineOf(id)).toContain(
      'source_resolved: siem says that its alert is over (resolved).',
    );
    await reader.toTheEnd();
    expect(reader.changes.at(-1)).toMatchObject({
      event: 'incident.updated',
      changed: ['source_status'],
      incident: { source_status: 'resolved' },
    });
    const { body } = await analyst.request('GET', '/api/incidents?sort=-updated_at&per_page=1');
    expect(body.data).toMatchObject([{ id, source_status: 'resolved' }]);
  });

  it('is open again when the tool reports the same alert as open', async () => {
    const id = await sent(event('a-2', 'firing'));
    await sent(event('a-2', 'resolved'));
    await sent(event('a-2', 'firing', { count: 2 }));
    expect(await read(id)).toMatchObject({ source_status: 'open', status: 'open' });
    expect(await timelineOf(id)).toContain('source_open: siem says that its alert is open again.');
  });

  it.each([
    ['alone', (one: object) => one],
    ['in a list', (one: object) => [one, event('other', 'firing')]],
  ])('opens no critical incident of an unknown alert that is over, sent %s', async (how, body) => {
    const eventId = `b-${how}`;
    const id = await sent(body(event(eventId, 'Closed')));
    expect(await read(id)).toMatchObject({ severity: 'high', source_status: 'resolved' });
    expect(await timelineOf(id)).toContain(
      'source_resolved: siem says that its alert is over (Closed): its severity critical counts as high here.',
    );
    await sent(event(eventId, 'firing'));
    expect(await read(id)).toMatchObject({ severity: 'critical', source_status: 'open' });
  });

  it('is shown by a preview', async () => {
    const admin = await as(app, 'admin');
    const { body } = await admin.request('POST', '/api/webhooks/siem/preview', {
      body: event('c-1', 'resolved'),
    });
    expect(body.data).toMatchObject({ incidents: [{ severity: 'high' }] });
  });

  it('is not read from what a log line says', async () => {
    const line = { status: 'closed', message: 'from a stranger' };
    const id = await sent(event('d-1', 'firing', { data: line, details: line }));
    expect(await read(id)).toMatchObject({ severity: 'critical' });
    expect(await read(id)).not.toHaveProperty('source_status');
    const resolved = { status: 'resolved', resolution: 'x' };
    await analyst.request('PUT', `/api/incidents/${id}`, { body: resolved });
    await sent(event('d-1', 'firing', { data: { ...line, ran: 'mimikatz' } }));
    expect(await read(id)).toMatchObject({ status: 'open' });
  });
});
