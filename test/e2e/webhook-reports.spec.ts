import { DataSource } from 'typeorm';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';

let nextId = 0;

function alertOf(details: object, severity = 'medium', id = `case-${(nextId += 1)}`) {
  return {
    event_type: 'malware',
    timestamp: '2026-01-31T09:30:00Z',
    source: 'siem-a',
    data: { alert_id: id, severity, details },
  };
}

describe('later events about an incident', () => {
  let app: TestApp;
  let keeping: TestApp;
  let admin: ApiClient;
  let analyst: ApiClient;
  let siem: WebhookSender;

  beforeAll(async () => {
    app = await startTestApp({ settings: { TRIAGE_PROVIDER: 'rules' } });
    keeping = await startTestApp({
      database: app.database,
      settings: { REOPEN_ON_UPDATE: 'false' },
    });
    admin = await as(app, 'admin');
    analyst = await as(app, 'analyst');
    await registerSource(admin);
    siem = new WebhookSender(app.client);
  });
  afterAll(async () => {
    await keeping?.close();
    await app?.close();
  });

  const read = async (id: string, part = '') =>
    (await analyst.request('GET', `/api/incidents/${id}${part}`)).body;
  const timelineOf = async (id: string): Promise<{ event: string; actor: string }[]> =>
    (await read(id, '/timeline?per_page=100')).data;
  const resolve = async (id: string) => {
    const body = { status: 'resolved', resolution: 'Nothing was found.' };
    expect((await analyst.request('PUT', `/api/incidents/${id}`, { body })).status).toBe(200);
  };
  const create = async (alert: object, sender = siem): Promise<string> =>
    (await sender.send(alert)).body.incident_id;

  it('keeps each of them as a report, exactly as it came, and fills absent fields', async () => {
    const first = alertOf({ host: 'ws-1' });
    const id = await create(first);
    const { alert_id } = first.data;
    const text = JSON.stringify(alertOf({ host: 'ws-9', user: 'mia' }, 'critical', alert_id));
    const exact = text.replace('"user"', '"size":1.50000000000000000001,"user"');
    expect((await siem.send(exact)).body).toMatchObject({ updated: true });
    expect((await siem.send(exact)).body).toMatchObject({ duplicate: true });

    const answer = await analyst.request('GET', `/api/incidents/${id}/reports`);
    expect(answer.body.meta).toEqual({ page: 1, per_page: 20, total: 1 });
    expect(answer.body.data[0]).toMatchObject({ source: 'siem', severity: 'critical' });
    expect(answer.text).toContain(`"raw_data":${exact}`);
    expect((await read(id)).data).toMatchObject({
      severity: 'critical',
      raw_data: first,
      fields: { host: 'ws-1', user: 'mia' },
    });
    const missing = '/api/incidents/0193f2b6-0000-7000-8000-000000000000/reports';
    expect((await analyst.request('GET', missing)).status).toBe(404);
  });

  it('keeps as many as one answer may hold, the newest ones', async () => {
    const first = alertOf({ host: 'ws-1' });
    const id = await create(first);
    for (let n = 0; n < 12; n += 1) {
      const text = `${n} `.padEnd(900_000, 'x');
      const large = alertOf({ host: 'ws-1', text }, 'medium', first.data.alert_id);
      expect((await siem.send(large)).body).toMatchObject({ updated: true });
    }
    const answer = await analyst.request('GET', `/api/incidents/${id}/reports?per_page=100`);
    expect(answer.text.length).toBeLessThan(9 * 1024 * 1024);
    expect(answer.body.data.at(-1).raw_data.data.details.text).toMatch(/^11 x/);
    expect(answer.body.meta.total).toBe(9);
  });

  it('is told to channels that follow updates, also where no field changes', async () => {
    await app.nest.get(DataSource).query(
      `insert into notification_channels (id, name, name_key, type, enabled, events, min_severity, config, created_by)
       values (gen_random_uuid(), 'told', 'told', 'webhook', true, '{incident.updated}', 'low', '{}', 'test')`,
    );
    const first = alertOf({ host: 'ws-1', stage: 'seen' });
    const { alert_id } = first.data;
    const id = await create(first);
    await siem.send(alertOf({ host: 'ws-1', stage: 'executed' }, 'medium', alert_id));
    await siem.send(alertOf({ host: 'ws-1', stage: 'executed', user: 'mia' }, 'high', alert_id));
    const told = await app.nest
      .get(DataSource)
      .query<{ payload: object }[]>(
        `select payload from notification_deliveries where subject_id = $1 order by position`,
        [id],
      );
    expect(told.map(({ payload }) => payload)).toMatchObject([
      { updated_by: 'webhook:siem', changed: [] },
      { updated_by: 'webhook:siem', changed: ['severity', 'fields'] },
    ]);
  });

  it('changes updated_at of the incident when one of them says more, and not for counts alone', async () => {
    const first = alertOf({ host: 'ws-1', stage: 'seen' });
    const { alert_id } = first.data;
    const id = await create(first);
    const versionOf = async () =>
      (await analyst.request('GET', `/api/incidents/${id}`)).headers['etag'];
    const before = await versionOf();
    await siem.send(alertOf({ host: 'ws-1', stage: 'seen', count: 7 }, 'medium', alert_id));
    expect(await versionOf()).toBe(before);
    await siem.send(alertOf({ host: 'ws-1', stage: 'executed' }, 'medium', alert_id));
    expect(await versionOf()).not.toBe(before);
    const { updated_at, created_at } = (await read(id)).data;
    expect(updated_at > created_at).toBe(true);
  });

  it('reopens a resolved incident as system when one of them says more', async () => {
    const first = alertOf({ host: 'ws-1' });
    const id = await create(first);
    await resolve(id);
    await siem.send(alertOf({ host: 'ws-1', verdict: 'confirmed' }, 'medium', first.data.alert_id));
    expect((await read(id)).data).toMatchObject({ status: 'open', severity: 'medium' });
    const [said, reopened] = (await timelineOf(id)).slice(-2);
    expect(said).toMatchObject({ event: 'event_updated', actor: 'webhook:siem' });
    expect(reopened).toMatchObject({ event: 'updated', actor: 'system' });
  });

  it.each([
    ['counts and times alone', { host: 'ws-1', count: 9, seen: '2026-02-01T10:00:00Z' }],
    ['an alert that its tool has closed', { host: 'ws-1', status: 'closed' }],
  ])('leaves a resolved incident resolved for %s', async (_, details) => {
    const first = alertOf({ host: 'ws-1' });
    const id = await create(first);
    await resolve(id);
    const answer = await siem.send(alertOf(details, 'medium', first.data.alert_id));
    expect(answer.body).toMatchObject({ updated: true });
    expect((await read(id)).data.status).toBe('resolved');
    expect((await read(id, '/reports')).meta.total).toBe(1);
  });

  it('reopens for a higher severity even if the tool calls the alert closed', async () => {
    const first = alertOf({ host: 'ws-1' });
    const id = await create(first);
    await resolve(id);
    await siem.send(alertOf({ status: 'closed' }, 'critical', first.data.alert_id));
    expect((await read(id)).data).toMatchObject({ status: 'open', severity: 'critical' });
  });

  it('keeps it resolved with REOPEN_ON_UPDATE=false, raises it, and says so in the timeline', async () => {
    const sender = new WebhookSender(keeping.client);
    const first = alertOf({ host: 'ws-1' });
    const id = await create(first, sender);
    await resolve(id);
    await sender.send(alertOf({ host: 'ws-2' }, 'critical', first.data.alert_id));
    expect((await read(id)).data).toMatchObject({ status: 'resolved', severity: 'critical' });
    expect((await timelineOf(id)).map(({ event }) => event)).toContain('update_of_resolved');
  });

  it('triages again, with the later event, where the source wants triage', async () => {
    await registerSource(admin, { source: 'auto', auto_triage: true });
    const auto = new WebhookSender(app.client, 'auto');
    const runsOf = async (id: string): Promise<{ status: string }[]> =>
      (await read(id, '/triage')).data;
    const completed = async (id: string, count: number) =>
      await eventually(
        () => runsOf(id),
        (runs) => runs.length === count && runs.every(({ status }) => status === 'completed'),
      );
    const first = alertOf({ host: 'ws-1', note: 'seen before' });
    const id = await create(first, auto);
    await completed(id, 1);
    await auto.send(
      alertOf({ host: 'ws-1', threat: 'ransomware' }, 'critical', first.data.alert_id),
    );
    await completed(id, 2);
    const { verdict } = (await read(id)).data;
    const pointers = verdict.evidence.map(({ pointer }: { pointer: string }) => pointer);
    // The word of the first event is out of date.
    expect(pointers).toContain('/latest_report/data/severity');
    expect(pointers).not.toContain('/data/severity');
  });

  it('never joins events of different sources by an id that a stranger can choose', async () => {
    await registerSource(admin, { source: 'other' });
    const same = alertOf({ message_id: '<chosen@example.net>' });
    const id = await create(same);
    const { body } = await new WebhookSender(app.client, 'other').send(same);
    expect(body).not.toMatchObject({ incident_id: id });
    expect(body).not.toHaveProperty('duplicate');
  });
});
