import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { DataSource } from 'typeorm';
import { Clock } from '../../src/platform/clock.js';
import { WebhookSourcesService } from '../../src/webhooks/sources/webhook-sources.service.js';
import { problemsOf } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() =>
  startTestApp({
    settings: { TRUST_PROXY: '127.0.0.1/32', LOG_LEVEL: 'trace' },
    log: { write: (line) => log.push(line) },
  }),
);
const log: string[] = [];

const SECRET = 'secret-that-nobody-sees';
const DAY_MS = 24 * 60 * 60 * 1_000;

describe('/api/webhooks', () => {
  const admin = useStarted(() => as(app, 'admin'));
  let names = 0;

  const body = (more: object = {}) => ({
    source: `gateway-${(names += 1)}`,
    secret: SECRET,
    ...more,
  });
  const create = (more: object = {}, headers = {}) =>
    admin.post('/api/webhooks', body(more), headers);
  const created = async (more: object = {}): Promise<string> =>
    (await create(more)).body.data.source;
  const get = async (source: string) => (await admin.get(`/api/webhooks/${source}`)).body.data;
  const put = (source: string, change: object) => admin.put(`/api/webhooks/${source}`, change);
  const secretsOf = async (source: string) =>
    (await app.nest.get(WebhookSourcesService).find(source))?.secrets.map(({ value }) => value);
  const audited = async (source: string) => {
    return (await admin.get(`/api/audit?subject=webhook_source:${source}`)).body.data;
  };

  afterEach(() => jest.restoreAllMocks());

  it('registers a source with the required fields, and defaults for the other fields', async () => {
    const { source } = body();
    const made = await create({
      source,
      auto_triage: true,
      playbook: 'phishing-response',
      severity_mapping: { low: 'low', medium: 'medium', high: 'high', critical: 'critical' },
    });
    expect(made.status).toBe(201);
    expect(made.body.data).toEqual({
      source,
      enabled: true,
      type_mapping: {},
      incident_type_fixed: false,
      min_severity: 'low',
      signature: 'timestamped',
      format: 'auto',
      severity_mapping: { low: 'low', medium: 'medium', high: 'high', critical: 'critical' },
      auto_triage: true,
      playbook: 'phishing-response',
      created_by: expect.stringMatching(/^key:admin/),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(await get(source)).toEqual(made.body.data);
    expect(await secretsOf(source)).toEqual([SECRET]);
  });

  it.each([
    ['source', { source: undefined }, 'required'],
    ['source', { source: 'gateway\u0000' }, 'nul_character'],
    ['source', { source: 'presets' }, 'not_equals'],
    ['secret', { secret: ` ${SECRET}` }, 'matches'],
    ['format', { format: 'xml' }, 'is_in'],
    ['mapping', { format: 'mapping' }, 'required'],
    ['severity_mapping.urgent', { severity_mapping: { urgent: 'worst' } }, 'is_in'],
  ])('refuses a wrong %s: %j', async (field, more, code) => {
    const answer = await create(more);
    expect(problemsOf(answer)).toEqual([422, `${field}: ${code}`]);
    expect(answer.text).not.toContain(SECRET);
  });

  describe('PUT', () => {
    it('changes the given fields and keeps the other fields and the secret', async () => {
      const source = await created({ playbook: 'phishing-response', incident_type: 'phishing' });
      const before = await get(source);
      const changed = await put(source, { enabled: false, severity_mapping: { urgent: 'high' } });
      expect(changed.status).toBe(200);
      expect(changed.body.data).toEqual({
        ...before,
        enabled: false,
        severity_mapping: { urgent: 'high' },
        updated_at: expect.any(String),
      });
      expect(await get(source)).toEqual(changed.body.data);
      expect(await secretsOf(source)).toEqual([SECRET]);
    });

    it('rejects a signature scheme that cannot use the stored secret', async () => {
      const source = await created({ secret: 'whsec_and-what-is-no-base64' });
      const refused = await put(source, { signature: 'standard' });
      expect(problemsOf(refused)).toEqual([422, 'signature: matches']);
      expect(refused.text).not.toContain('and-what-is-no-base64');
      const both = { signature: 'standard', secret: `whsec_${'A'.repeat(32)}` };
      expect((await put(source, both)).body.data).toMatchObject({ signature: 'standard' });
    });

    it('rejects an empty change, another name, and an unknown source', async () => {
      const source = await created();
      expect(problemsOf(await put(source, {}))).toEqual([422, ': not_empty']);
      expect(problemsOf(await put(source, { source: 'other' }))).toEqual([
        422,
        'source: unknown_field',
      ]);
      expect((await put('nothing-of-this-name', { enabled: false })).status).toBe(404);
    });

    it('rejects wrong fields before it looks for the source', async () => {
      const mapping = { title: 'no pointer' };
      expect(problemsOf(await put('nothing-of-this-name', { mapping }))).toEqual([
        422,
        'mapping.title: json_pointer',
      ]);
    });
  });

  describe('a new secret', () => {
    const NEW = 'secret-of-the-second-day';

    it('leaves the previous secret valid for 24 h', async () => {
      const source = await created();
      const now = new Date('2031-01-01T00:00:00.000Z');
      const until = new Date(now.getTime() + DAY_MS);
      jest.spyOn(app.nest.get(Clock), 'now').mockReturnValue(now);
      const { data } = (await put(source, { secret: NEW })).body;
      expect(data.previous_secret_until).toBe(until.toISOString());
      expect((await app.nest.get(WebhookSourcesService).find(source))!.secrets).toEqual([
        { value: NEW },
        { value: SECRET, until },
      ]);
    });

    it('revokes the previous secret immediately with revoke_old_secret', async () => {
      const source = await created();
      const { data } = (await put(source, { secret: NEW, revoke_old_secret: true })).body;
      expect(data).not.toHaveProperty('previous_secret_until');
      expect(await secretsOf(source)).toEqual([NEW]);
    });

    it('accepts a new secret for a source whose stored secret is damaged or missing', async () => {
      const dataSource = app.nest.get(DataSource);
      const source = await created();
      await dataSource.query(`update webhook_sources set secret = 'altered' where source = $1`, [
        source,
      ]);
      const mended = await put(source, { secret: NEW });
      expect(mended.status).toBe(200);
      expect(mended.body.data).not.toHaveProperty('previous_secret_until');
      expect(await secretsOf(source)).toEqual([NEW]);

      await dataSource.query(
        `update webhook_sources set secret = null, enabled = false where source = $1`,
        [source],
      );
      expect(problemsOf(await put(source, { enabled: true }))).toEqual([422, 'secret: required']);
      expect((await put(source, { enabled: true, secret: SECRET })).status).toBe(200);
      expect(await secretsOf(source)).toEqual([SECRET]);
    });
  });

  it('deletes a source and frees its name', async () => {
    const source = await created();
    const path = `/api/webhooks/${source}`;
    expect((await admin.delete(path)).body).toEqual({ data: { id: source, deleted: true } });
    expect(await secretsOf(source)).toBeUndefined();
    for (const method of ['GET', 'DELETE']) {
      const { status, body: answer } = await admin.request(method, path);
      expect([status, answer.error.message]).toEqual([404, 'Webhook source not found.']);
    }
    expect((await create({ source })).status).toBe(201);
  });

  it('records each change with the names of the fields', async () => {
    const source = await created();
    await put(source, { secret: 'another-secret-of-it', auto_triage: true });
    await put(source, { revoke_old_secret: true, signature: 'token' });
    await admin.delete(`/api/webhooks/${source}`);
    const entries = (await audited(source)).reverse();
    expect(entries).toMatchObject([
      { action: 'webhook_source.created', details: { enabled: true, signature: 'timestamped' } },
      {
        action: 'webhook_source.updated',
        details: { fields: ['secret', 'auto_triage'] },
      },
      {
        action: 'webhook_source.updated',
        details: { fields: ['revoke_old_secret', 'signature'] },
      },
      { action: 'webhook_source.deleted', details: { signature: 'token' } },
    ]);
  });
});

describe('The webhook sources of two replicas', () => {
  const SECRET = 'secret-of-the-first-day!';
  const NEW = 'secret-of-the-second-day';

  const there = useStarted(() => startTestApp({ database: app.database }));
  const admin = useStarted(() => as(app, 'admin'));

  const find = (app: TestApp, source: string) => app.nest.get(WebhookSourcesService).find(source);
  const secrets = async (app: TestApp, source: string) =>
    (await find(app, source))?.secrets.map(({ value }) => value);

  const seen = (look: () => Promise<unknown>, expected: unknown) =>
    eventually(look, (now) => isDeepStrictEqual(now, expected));

  it('are available on both replicas after a creation or a change', async () => {
    const known = async (app: TestApp) => {
      const source = await find(app, 'gateway');
      return source && [source.enabled, ...source.secrets.map(({ value }) => value)];
    };
    expect(await known(there)).toBeUndefined();
    const body = { source: 'gateway', secret: SECRET };
    expect((await admin.post('/api/webhooks', body)).status).toBe(201);
    // The other replica reads the sources again within 500 ms.
    await seen(() => known(there), [true, SECRET]);
    for (const [change, expected] of [
      [{ secret: NEW }, [true, NEW, SECRET]],
      [{ revoke_old_secret: true }, [true, NEW]],
      [{ enabled: false }, [false, NEW]],
    ] as const) {
      await admin.put('/api/webhooks/gateway', change);
      expect(await known(app)).toEqual(expected);
      await seen(() => known(there), [...expected]);
    }
    await admin.delete('/api/webhooks/gateway');
    expect(await known(app)).toBeUndefined();
    await seen(() => known(there), undefined);
  });

  it('are registered once if both replicas register a name simultaneously', async () => {
    const elsewhere = await as(there, 'admin');
    for (let round = 0; round < 2; round += 1) {
      const body = { source: `twin-${round}`, secret: SECRET };
      const answers = await Promise.all(
        [admin, elsewhere].map((client) => client.post('/api/webhooks', body)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
      await seen(() => secrets(app, body.source), [SECRET]);
    }
  });
});

describe("Okta's verification of an event hook", () => {
  const SECRET = 'a-secret-of-okta-long-enough';
  const admin = useStarted(() => as(app, 'admin'));
  let tests = 0;

  beforeAll(async () => {
    await registerSource(admin, { source: 'okta', preset: 'okta', secret: SECRET });
    await registerSource(admin, { source: 'signed' });
    const disabled = { source: 'disabled', preset: 'okta', enabled: false, secret: SECRET };
    await registerSource(admin, disabled);
  });
  beforeEach(() => {
    tests += 1;
  });

  const ask = (source: string, challenge: string | string[], method = 'GET') =>
    app.request(method, `/api/webhooks/${source}`, {
      headers: {
        'x-forwarded-for': `198.51.100.${tests}`,
        'x-okta-verification-challenge': challenge,
      },
    });

  it('gets only the challenge for a source of the Okta preset', async () => {
    const answer = await ask('okta', 'Yd0iGk3CvZq7Wm2x_-.~+/=');
    expect([answer.status, answer.text]).toEqual([
      200,
      '{"verification":"Yd0iGk3CvZq7Wm2x_-.~+/="}',
    ]);
    expect(answer.headers['content-type']).toMatch(/^application\/json;/);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    const event = await app.post(
      '/api/webhooks/okta',
      readFileSync('test/fixtures/webhooks/presets/okta/two-events.json'),
      { 'x-webhook-token': SECRET },
    );
    expect([event.status, event.body.incidents.length]).toEqual([200, 2]);
  });

  it('gets 404 unknown_source for a source that is unknown, disabled or signed', async () => {
    for (const source of ['nobody', 'disabled', 'signed', 'Not_A_Name']) {
      const { status, body } = await ask(source, 'challenge');
      expect([source, status, body.error.code]).toEqual([source, 404, 'unknown_source']);
    }
  });

  it.each([
    ['markup', '<script>alert(1)</script>'],
    ['nothing', ''],
    ['more than 256 characters', 'a'.repeat(257)],
    ['two challenges', ['one', 'two']],
  ])(
    'gets 400 if the challenge is %s, and the response does not contain the challenge',
    async (_, challenge) => {
      const { status, text } = await ask('okta', challenge);
      expect([status, text.includes('script'), text.includes('aaaa')]).toEqual([400, false, false]);
    },
  );

  it('counts for the address like a rejected request, but not for the source', async () => {
    for (let asked = 0; asked < 60; asked += 1) await ask('okta', 'challenge');
    const refused = await ask('okta', 'challenge');
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, expect.any(String)]);
    tests += 1;
    expect((await ask('okta', 'challenge')).status).toBe(200);
  });

  it('is the only request to the source that needs no key', async () => {
    expect((await app.get('/api/webhooks/okta')).status).toBe(401);
    expect((await admin.get('/api/webhooks/okta')).body.data.source).toBe('okta');
    expect((await ask('okta', 'challenge', 'PUT')).status).toBe(401);
    expect((await ask('okta', 'challenge', 'DELETE')).status).toBe(401);
  });
});

describe('The secrets of webhook sources', () => {
  const SECRETS = ['secret-of-the-first-day!', 'secret-of-the-second-day'] as const;
  const admin = useStarted(() => as(app, 'admin'));

  it('are in no response, no log line and no database column in plain text', async () => {
    const [secret, later] = SECRETS;
    const seen: string[] = [];
    const send = async (method: string, path: string, body?: object, headers = {}) => {
      const answer = await admin.request(method, path, { body, headers });
      seen.push(answer.text, JSON.stringify(answer.headers));
      return answer.status;
    };
    const gateway = { source: 'sealed', secret };
    const key = { 'idempotency-key': 'one-registration' };
    expect(await send('POST', '/api/webhooks', gateway, key)).toBe(201);
    expect(await send('POST', '/api/webhooks', gateway, key)).toBe(201);
    expect(await send('POST', '/api/webhooks', gateway)).toBe(409);
    expect(await send('POST', '/api/webhooks', { ...gateway, enabled: 1 })).toBe(422);
    expect(await send('POST', '/api/webhooks', { ...gateway, secret: ` ${secret}` })).toBe(422);
    expect(await send('PUT', '/api/webhooks/sealed', { secret: later })).toBe(200);
    const list = { secret: [secret], revoke_old_secret: later };
    expect(await send('PUT', '/api/webhooks/sealed', list)).toBe(422);
    for (const path of ['/api/webhooks', '/api/webhooks/sealed', '/api/audit?per_page=100']) {
      expect(await send('GET', path)).toBe(200);
    }
    const database = app.nest.get(DataSource);
    const tables = await database.query<{ name: string }[]>(
      `select relname as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
    );
    for (const { name } of tables) {
      seen.push(JSON.stringify(await database.query(`select t::text as row from ${name} t`)));
    }
    const everything = [...seen, ...log].join('\n');
    expect(log.length).toBeGreaterThan(0);
    expect(everything).toContain('webhook_source.updated');
    expect(SECRETS.filter((one) => everything.includes(one))).toEqual([]);
  });
});
