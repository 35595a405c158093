import { ChangeReader } from '../support/change-reader.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() => startTestApp({ settings: { TRIAGE_PROVIDER: 'rules' } }));

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
  const admin = useStarted(() => as(app, 'admin'));
  const analyst = useStarted(() => as(app, 'analyst'));
  let siem: WebhookSender;

  beforeAll(async () => {
    await registerSource(admin);
    siem = new WebhookSender(app.client);
  });

  const read = async (id: string, part = '') =>
    (await analyst.get(`/api/incidents/${id}${part}`)).body;
  const timelineOf = async (id: string): Promise<{ event: string; actor: string }[]> =>
    (await read(id, '/timeline?per_page=100')).data;
  const resolve = async (id: string) => {
    const body = { status: 'resolved', resolution: 'Nothing was found.' };
    expect((await analyst.put(`/api/incidents/${id}`, body)).status).toBe(200);
  };
  const create = async (alert: object, sender = siem): Promise<string> =>
    (await sender.send(alert)).body.incident_id;

  it('are kept as reports with their exact bytes, and fill absent fields', async () => {
    const first = alertOf({ host: 'ws-1' });
    const id = await create(first);
    const { alert_id } = first.data;
    const text = JSON.stringify(alertOf({ host: 'ws-9', user: 'mia' }, 'critical', alert_id));
    const exact = text.replace('"user"', '"size":1.50000000000000000001,"user"');
    expect((await siem.send(exact)).body).toMatchObject({ updated: true });
    expect((await siem.send(exact)).body).toMatchObject({ duplicate: true });

    const answer = await analyst.get(`/api/incidents/${id}/reports`);
    expect(answer.body.meta).toEqual({ page: 1, per_page: 20, total: 1 });
    expect(answer.body.data[0]).toMatchObject({ source: 'siem', severity: 'critical' });
    expect(answer.text).toContain(`"raw_data":${exact}`);
    expect((await read(id)).data).toMatchObject({
      severity: 'critical',
      raw_data: first,
      fields: { host: 'ws-1', user: 'mia' },
    });
    const missing = '/api/incidents/0193f2b6-0000-7000-8000-000000000000/reports';
    expect((await analyst.get(missing)).status).toBe(404);
  });

  it('are kept only up to the size of one response, newest first', async () => {
    const first = alertOf({ host: 'ws-1' });
    const id = await create(first);
    for (let n = 0; n < 12; n += 1) {
      const text = `${n} `.padEnd(900_000, 'x');
      const large = alertOf({ host: 'ws-1', text }, 'medium', first.data.alert_id);
      expect((await siem.send(large)).body).toMatchObject({ updated: true });
    }
    const answer = await analyst.get(`/api/incidents/${id}/reports?per_page=100`);
    expect(answer.text.length).toBeLessThan(9 * 1024 * 1024);
    expect(answer.body.data.at(-1).raw_data.data.details.text).toMatch(/^11 x/);
    expect(answer.body.meta.total).toBe(9);
  });

  it('replace the title if they raise the severity, unless a person wrote the title', async () => {
    const first = alertOf({ host: 'ws-1', rule: 'Unusual sign-in' });
    const { alert_id } = first.data;
    const worse = (severity: string, rule: string) =>
      alertOf({ host: 'ws-1', rule }, severity, alert_id);
    const id = await create(first);
    const titleOf = async () => (await read(id)).data.title;
    const harmless = await titleOf();
    expect(harmless).toContain('Unusual sign-in');
    await siem.send(worse('medium', 'Another word'));
    expect(await titleOf()).toBe(harmless);
    await siem.send(worse('high', 'Credential dump'));
    const raised = await titleOf();
    expect(raised).toContain('Credential dump');
    expect(await timelineOf(id)).toContainEqual(
      expect.objectContaining({
        event: 'updated',
        actor: 'webhook:siem',
        summary: `Changed title from "${harmless}" to "${raised}", severity from medium to high.`,
      }),
    );
    const body = { title: 'Mia tests her scripts' };
    expect((await analyst.put(`/api/incidents/${id}`, body)).status).toBe(200);
    await siem.send(worse('critical', 'Backups deleted'));
    expect((await read(id)).data).toMatchObject({ severity: 'critical', ...body });
  });

  it('are named in the response to a stale If-Match', async () => {
    const first = alertOf({ host: 'ws-1' });
    const id = await create(first);
    await siem.send(alertOf({ host: 'ws-1', user: 'mia' }, 'critical', first.data.alert_id));
    const answer = await analyst.request('PUT', `/api/incidents/${id}`, {
      body: { severity: 'low' },
      headers: { 'if-match': '"1"' },
    });
    expect(answer.body.error.details.fields).toEqual(['title', 'severity', 'fields']);
  });

  it('are sent to channels that subscribe to updates, even if no field changes', async () => {
    await app.sql(
      `insert into notification_channels (id, name, type, audience, enabled, events, min_severity, config, created_by)
       values (gen_random_uuid(), 'told', 'webhook', 'programs', true, '{incident.updated}', 'low', '{}', 'test')`,
    );
    const first = alertOf({ host: 'ws-1', stage: 'seen' });
    const { alert_id } = first.data;
    const id = await create(first);
    await siem.send(alertOf({ host: 'ws-1', stage: 'executed' }, 'medium', alert_id));
    await siem.send(alertOf({ host: 'ws-1', stage: 'executed', user: 'mia' }, 'high', alert_id));
    const told = await app.sql<{ payload: object }[]>(
      `select payload from notification_deliveries where subject_id = $1 order by position`,
      [id],
    );
    expect(told.map(({ payload }) => payload)).toMatchObject([
      { updated_by: 'webhook:siem', changed: [] },
      { updated_by: 'webhook:siem', changed: ['title', 'severity', 'fields'] },
    ]);
  });

  it.each([
    ['reopens', 'says more', { host: 'ws-1', verdict: 'confirmed' }, 'medium'],
    ['reopens', 'raises the severity of a closed alert', { status: 'closed' }, 'critical'],
    ['keeps', 'has other counts and times only', { host: 'ws-1', count: 9 }, 'medium'],
    ['keeps', 'says that its tool closed the alert', { status: 'closed' }, 'medium'],
  ])(
    'have the effect "%s a resolved incident" if the report %s',
    async (outcome, _, details, severity) => {
      const first = alertOf({ host: 'ws-1' });
      const id = await create(first);
      await resolve(id);
      const answer = await siem.send(alertOf(details, severity, first.data.alert_id));
      expect(answer.body).toMatchObject({ updated: true });
      const status = outcome === 'keeps' ? 'resolved' : 'open';
      expect((await read(id)).data).toMatchObject({ status, severity });
      expect((await read(id, '/reports')).meta.total).toBe(1);
      const entries = (await timelineOf(id)).map(({ event, actor }) => `${event} ${actor}`);
      expect(entries).toContain('event_updated webhook:siem');
      expect(entries.includes('reopened system')).toBe(outcome === 'reopens');
    },
  );

  describe('of a source with automatic triage', () => {
    let auto: WebhookSender;

    beforeAll(async () => {
      await registerSource(admin, { source: 'auto', auto_triage: true });
      auto = new WebhookSender(app.client, 'auto');
    });

    const completed = async (id: string, count: number) =>
      await eventually(
        async (): Promise<{ status: string }[]> => (await read(id, '/triage')).data,
        (runs) => runs.length === count && runs.every(({ status }) => status === 'completed'),
      );

    it('trigger another triage with the later event', async () => {
      const first = alertOf({ host: 'ws-1', note: 'seen before' });
      const id = await create(first, auto);
      await completed(id, 1);
      await auto.send(
        alertOf({ host: 'ws-1', threat: 'ransomware' }, 'critical', first.data.alert_id),
      );
      await completed(id, 2);
      const { verdict } = (await read(id)).data;
      const [report] = (await read(id, '/reports')).data;
      const severities = verdict.evidence.filter(
        ({ pointer }: { pointer: string }) => pointer === '/data/severity',
      );
      // The severity in the first event is outdated, so it is no evidence.
      expect(severities).toEqual([
        { source: `report/${report.id}`, pointer: '/data/severity', value: 'critical' },
      ]);
    });

    it('are judged by the most severe event, in any order', async () => {
      const first = alertOf({ host: 'ws-1', note: 'seen before' });
      const { alert_id } = first.data;
      const id = await create(first, auto);
      await completed(id, 1);
      const worse = { host: 'ws-1', cmd: 'vssadmin delete shadows' };
      await auto.send([
        alertOf(worse, 'critical', alert_id),
        alertOf({ host: 'ws-1', cmd: 'ipconfig', note: 'nothing' }, 'low', alert_id),
      ]);
      await completed(id, 2);
      const { verdict } = (await read(id)).data;
      const [report] = (await read(id, '/reports')).data;
      expect(verdict).toMatchObject({ classification: 'malicious', category: 'ransomware' });
      expect(verdict.reasoning).toContain('critical ("severity: critical")');
      const { source, pointer } = verdict.evidence[0];
      expect([source, pointer]).toEqual([`report/${report.id}`, '/data/details/cmd']);
    });
  });

  describe('after a person judged the incident benign', () => {
    const outdated = async (id: string): Promise<object[]> => {
      const { items } = (await analyst.get('/api/attention?kind=verdict_outdated')).body.data;
      return items.filter((item: { id: string }) => item.id === `verdict_outdated.${id}`);
    };
    const judge = async (id: string, body: object) => {
      const verdict = { classification: 'benign', reasoning: 'A test of ours.' };
      expect((await analyst.put(`/api/incidents/${id}`, { verdict, ...body })).status).toBe(200);
    };

    it('keep the verdict of the person, propose the later verdict and list it under attention', async () => {
      await registerSource(admin, { source: 'judged', auto_triage: true });
      const judged = new WebhookSender(app.client, 'judged');
      const first = alertOf({ host: 'ws-1', note: 'seen before' });
      const id = await create(first, judged);
      const triagedTimes = (count: number) =>
        eventually(
          () => read(id, '/triage'),
          ({ data }) =>
            data.length === count &&
            data.every((run: { completed_at?: string }) => run.completed_at),
        );
      await triagedTimes(1);
      await app.sql(
        `insert into notification_channels (id, name, type, audience, enabled, events, min_severity, config, created_by)
         values (gen_random_uuid(), 'reopened', 'webhook', 'programs', true, '{incident.reopened}', 'low', '{}', 'test')`,
      );
      await judge(id, { status: 'resolved', resolution: 'A test of ours.' });
      expect(await outdated(id)).toEqual([]);

      const threat = { host: 'ws-1', threat: 'RansomwareFileEncryption', verdict: 'malicious' };
      await judged.send(alertOf(threat, 'critical', first.data.alert_id));
      const { data: runs } = await triagedTimes(2);
      const last = runs.find(({ not_applied }: { not_applied?: string }) => not_applied);
      expect(last).toMatchObject({ status: 'completed', not_applied: 'verdict_by_person' });
      const { data } = await read(id);
      expect(data).toMatchObject({
        status: 'triaged',
        severity: 'critical',
        verdict: { classification: 'benign', reasoning: 'A test of ours.' },
      });
      expect(data.verdict.proposed).toMatchObject({ triage_id: last.triage_id });
      expect(data.verdict.proposed.classification).not.toBe('benign');
      const timeline = (await read(id, '/timeline?per_page=100')).data;
      const said = timeline.map(({ summary }: { summary: string }) => summary).join('\n');
      expect(said).toContain(
        'judged it benign. The verdict stays, and no playbook runs by itself, until a person judges again.',
      );
      const [message] = await app.sql<{ payload: { because: string } }[]>(
        `select payload from notification_deliveries where subject_id = $1 and type = 'incident.reopened'`,
        [id],
      );
      expect(message!.payload.because).toMatch(
        /severity critical\. key:\S+ judged it benign\. The verdict stays, and no playbook runs/,
      );
      expect(said).toContain('before this report. That verdict stays');
      expect(said).not.toMatch(/Not triaged|the model/);
      expect(await outdated(id)).toMatchObject([
        { name: 'judged', role: 'analyst', incident: { id, severity: 'critical' } },
      ]);

      await judge(id, { verdict: { classification: 'malicious' } });
      expect(await outdated(id)).toEqual([]);
    });

    it('are listed even without automatic triage, until the incident is resolved again', async () => {
      const first = alertOf({ host: 'ws-1' });
      const id = await create(first);
      await judge(id, {});
      await siem.send(alertOf({ host: 'ws-1', count: 9 }, 'medium', first.data.alert_id));
      await siem.send(alertOf({ status: 'closed' }, 'medium', first.data.alert_id));
      expect(await outdated(id)).toEqual([]);
      await siem.send(alertOf({ stage: 'executed' }, 'medium', first.data.alert_id));
      expect(await outdated(id)).toHaveLength(1);
      await resolve(id);
      expect(await outdated(id)).toEqual([]);
    });
  });
});

describe('the alert status that a tool reports', () => {
  const event = (id: string, status: string, more: object = {}) => ({
    id,
    name: 'Host does not answer',
    level: 'critical',
    status,
    ...more,
  });
  const analyst = useStarted(() => as(app, 'analyst'));
  let sender: WebhookSender;

  beforeAll(async () => {
    const mapping = { title: '/name', severity: '/level', event_id: '/id' };
    const more = { format: 'mapping', mapping, min_severity: 'high' };
    await registerSource(await as(app, 'admin'), { ...more, source: 'monitor' });
    sender = new WebhookSender(app.client, 'monitor');
  });

  const sent = async (body: object): Promise<string> =>
    (await sender.send(body)).body.incident_id as string;
  const read = async (id: string, part = '') =>
    (await analyst.get(`/api/incidents/${id}${part}`)).body.data;
  const timelineOf = async (id: string): Promise<string[]> => {
    const entries: { event: string; summary: string }[] = await read(id, '/timeline?per_page=100');
    return entries.map((entry) => `${entry.event}: ${entry.summary}`);
  };

  it('is shown in the incident, in the feed and in the timeline', async () => {
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
      'source_resolved: monitor says that its alert is over (resolved).',
    );
    await reader.toTheEnd();
    expect(reader.changes.at(-1)).toMatchObject({
      event: 'incident.updated',
      changed: ['source_status'],
      incident: { source_status: 'resolved' },
    });
    const { body } = await analyst.get('/api/incidents?sort=-updated_at&per_page=1');
    expect(body.data).toMatchObject([{ id, source_status: 'resolved' }]);
  });

  it('is open again when the tool reports the same alert as open', async () => {
    const id = await sent(event('a-2', 'firing'));
    await sent(event('a-2', 'resolved'));
    await sent(event('a-2', 'firing', { count: 2 }));
    expect(await read(id)).toMatchObject({ source_status: 'open', status: 'open' });
    expect(await timelineOf(id)).toContain(
      'source_open: monitor says that its alert is open again.',
    );
  });

  it('is not read from the text of a log line', async () => {
    const line = { status: 'closed', message: 'from a stranger' };
    const id = await sent(event('d-1', 'firing', { data: line, details: line }));
    expect(await read(id)).toMatchObject({ severity: 'critical' });
    expect(await read(id)).not.toHaveProperty('source_status');
    const resolved = { status: 'resolved', resolution: 'x' };
    await analyst.put(`/api/incidents/${id}`, resolved);
    await sent(event('d-1', 'firing', { data: { ...line, ran: 'mimikatz' } }));
    expect(await read(id)).toMatchObject({ status: 'open' });
  });
});
