import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { KNOWN_INCIDENT_TYPES } from '../../src/incidents/incident.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const MALWARE = {
  incident_type: 'malware',
  source: 'edr',
  raw_data: { threat_name: 'Emotet', hostname: 'WS-7' },
};
const DERIVED = 'Malware: Emotet on WS-7';

/** The audit trail shows which text it was, and not the text. */
const digestOf = (text: string) => ({
  sha256: createHash('sha256').update(text).digest('hex'),
  length: text.length,
});

describe('titles of incidents', () => {
  let app: TestApp;
  let database: Client;
  let viewer: ApiClient;
  let analyst: ApiClient;
  let admin: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    database = new Client(app.database.url);
    await database.connect();
    viewer = await as(app, 'viewer');
    analyst = await as(app, 'analyst');
    admin = await as(app, 'admin');
  });
  afterAll(async () => {
    await database?.end();
    await app?.close();
  });

  const post = (fields: object, headers = {}): Promise<Answer> =>
    analyst.request('POST', '/api/incidents', { body: { ...MALWARE, ...fields }, headers });
  const put = (id: string, body: object): Promise<Answer> =>
    analyst.request('PUT', `/api/incidents/${id}`, { body });
  const create = async (fields: object = {}, headers = {}): Promise<string> => {
    const answer = await post(fields, headers);
    expect(answer.status).toBe(201);
    return answer.body.data.id;
  };
  /** As the incident itself and the list show it, which must be the same. */
  const titleOf = async (id: string): Promise<string> => {
    const { title } = (await viewer.request('GET', `/api/incidents/${id}`)).body.data;
    const { data } = (await viewer.request('GET', '/api/incidents?per_page=100')).body;
    expect(data.find((item: { id: string }) => item.id === id).title).toBe(title);
    return title;
  };

  it('are generated from type and raw data by default, alone or in a batch', async () => {
    expect(await titleOf(await create())).toBe(DERIVED);
    expect(await titleOf(await create({}, { 'idempotency-key': 'titled-once' }))).toBe(DERIVED);
    const hosts = ['WS-1', 'WS-2', 'WS-3', 'WS-4'];
    const ids = await Promise.all(
      hosts.map((hostname) => create({ raw_data: { threat_name: 'Emotet', hostname } })),
    );
    const titles = await Promise.all(ids.map(titleOf));
    expect(titles).toEqual(hosts.map((host) => `Malware: Emotet on ${host}`));
  });

  describe.each(KNOWN_INCIDENT_TYPES)('of thirty incidents of the type %s', (type) => {
    const EVENTS = Array.from({ length: 30 }, (_, n) => ({
      rule: 'One rule for all',
      user: { name: `user${n % 6}` },
      details: { sourceIp: `203.0.113.${n % 5}`, host: `\u202eWS-${n % 5}` },
      mail: { from: `sender${n % 6}@example.net`, to: [`person${n % 5}@example.com`] },
    }));
    const titlesOf = async (source: string): Promise<string[]> => {
      const answer = await viewer.request('GET', `/api/incidents?source=${source}&per_page=100`);
      return answer.body.data.map(({ title }: { title: string }) => title);
    };
    const areApart = (titles: readonly string[]) => {
      expect(new Set(titles).size).toBe(30);
      const wrong = titles.filter((title) => title.length > 200 || title.includes('\u202e'));
      expect(wrong).toEqual([]);
    };

    it('differ for different incidents created by people or programs', async () => {
      const source = `by-hand-${type}`;
      await Promise.all(EVENTS.map((raw_data) => post({ incident_type: type, source, raw_data })));
      areApart(await titlesOf(source));
    });

    it('differ for events of a tool with the same words', async () => {
      const source = type.replaceAll('_', '-');
      const secret = 'sixteen-characters';
      const mapping = { items: '/alerts', title: '/rule' };
      const registration = { source, secret, signature: 'token', format: 'mapping', mapping };
      const made = await admin.request('POST', '/api/webhooks', {
        body: { ...registration, incident_type: type },
      });
      expect([made.status, made.body.error]).toEqual([201, undefined]);
      const received = await app.request('POST', `/api/webhooks/${source}`, {
        headers: { 'x-webhook-token': secret },
        body: { alerts: EVENTS },
      });
      expect(received.status).toBe(200);
      const titles = await titlesOf(source);
      areApart(titles);
      expect(titles.filter((title) => !title.startsWith('One rule for all '))).toEqual([]);
    });
  });

  it('keep the given text', async () => {
    for (const title of ['x', '😀'.repeat(200), 'Emotet again · "✓"']) {
      expect(await titleOf(await create({ title }))).toBe(title);
    }
  });

  it.each([
    ['turns the direction of writing', 'A \u202egnp.exe\u2066 ok', 'A gnp.exe ok'],
    ['has control characters', 'a\u001b[31m\u009bred', 'a [31m red'],
    ['has several lines and spaces around', ' Emotet again\u2028\r\n"✓" ', 'Emotet again "✓"'],
    ['has characters without width', 'Emo\u200btet\u{e0041}', 'Emotet'],
  ])('are one line of visible characters if a given title %s', async (_, title, shown) => {
    expect(await titleOf(await create({ title }))).toBe(shown);
    const id = await create();
    const { status, body } = await put(id, { title });
    expect([status, body.data.title]).toEqual([200, shown]);
  });

  it('come from raw data of any content, as one line', async () => {
    const raw_data = { threat_name: 'a\r\nb\u202e\tc', hostname: ['W'.repeat(100_000)] };
    expect(await titleOf(await create({ raw_data }))).toMatch(/^Malware: a b c on W{59}…$/);
    const deep = { subject: { subject: { title: {} } }, title: [], name: null, host: 7 };
    expect(await titleOf(await create({ raw_data: deep }))).toBe('Malware on 7');
  });

  it.each([
    ['empty', ''],
    ['of spaces alone', ' \t\n\u3000'],
    ['of characters that nobody sees', '\u202e\u200b\u2800\u00ad'],
    ['too long', 'x'.repeat(201)],
    ['a number', 7],
    ['a list', ['x']],
    ['with half of a surrogate pair', '\ud83d'],
    ['with a NUL', 'a\u0000b'],
  ])('are rejected with 422 if they are %s', async (_, title) => {
    const id = await create();
    for (const answer of [await post({ title }), await put(id, { title })]) {
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.errors[0].field).toBe('title');
    }
    expect(await titleOf(id)).toBe(DERIVED);
  });

  it('are rejected as null in a new incident, and stay if a change has null', async () => {
    const refused = await post({ title: null });
    expect([refused.status, refused.body.error.details.errors[0].field]).toEqual([422, 'title']);
    const id = await create({ title: 'Kept' });
    expect((await put(id, { title: null, severity: 'high' })).status).toBe(200);
    expect(await titleOf(id)).toBe('Kept');
  });

  it('change by PUT, with entries in the timeline and the audit trail', async () => {
    const id = await create();
    const answer = await put(id, { title: 'Emotet, second wave' });
    expect([answer.status, answer.body.data.title]).toEqual([200, 'Emotet, second wave']);
    expect(await titleOf(id)).toBe('Emotet, second wave');
    const timeline = await viewer.request('GET', `/api/incidents/${id}/timeline`);
    expect(timeline.body.data[1]).toMatchObject({
      event: 'updated',
      summary: `Changed title from "${DERIVED}" to "Emotet, second wave".`,
    });
    const audit = await admin.request('GET', `/api/audit?subject=incident:${id}`);
    const updated = audit.body.data.find(
      ({ action }: { action: string }) => action === 'incident.updated',
    );
    expect(updated.details).toEqual({
      version: 2,
      changed: ['title'],
      title: { from: digestOf(DERIVED), to: digestOf('Emotet, second wave') },
    });
  });

  it('stay if the type or another field changes', async () => {
    const id = await create();
    const answer = await put(id, { incident_type: 'ransomware', severity: 'critical' });
    expect([answer.body.data.incident_type, answer.body.data.title]).toEqual([
      'ransomware',
      DERIVED,
    ]);
    expect(await titleOf(id)).toBe(DERIVED);
  });

  it('name type and source of an incident without title, also after its type changes', async () => {
    const id = await create();
    await database.query('update incidents set title = null where id = $1', [id]);
    expect(await titleOf(id)).toBe('Malware from edr');
    expect((await put(id, { incident_type: 'ransomware' })).body.data.title).toBe(
      'Malware from edr',
    );
    expect(await titleOf(id)).toBe('Malware from edr');
  });

  it('are shown with the actions of the incident, also if it has no title', async () => {
    const id = await create();
    const shown = async (): Promise<string> => {
      const { data } = (await viewer.request('GET', `/api/actions?incident_id=${id}`)).body;
      return data[0].incident.title;
    };
    const sandbox = { name: 'sandbox', type: 'sandbox', config: {} };
    await admin.request('POST', '/api/connectors', { body: sandbox });
    const body = { action: 'isolate_host', parameters: { host_id: 'WS-7' } };
    const requested = await analyst.request('POST', `/api/incidents/${id}/actions`, { body });
    expect(requested.status).toBe(202);
    expect(await shown()).toBe(DERIVED);
    await database.query('update incidents set title = null where id = $1', [id]);
    expect(await shown()).toBe('Malware from edr');
  });
});
