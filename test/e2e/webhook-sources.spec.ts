import { DataSource } from 'typeorm';
import { Clock } from '../../src/platform/clock.js';
import { PRESETS } from '../../src/webhooks/mapping/presets.js';
import { SourceDirectory } from '../../src/webhooks/sources/source-directory.js';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const SECRET = 'secret-that-nobody-sees';
const DAY_MS = 24 * 60 * 60 * 1_000;

describe('/api/webhooks', () => {
  let app: TestApp;
  let admin: ApiClient;
  let names = 0;

  const body = (more: object = {}) => ({
    source: `gateway-${(names += 1)}`,
    secret: SECRET,
    ...more,
  });
  const create = (more: object = {}, headers = {}) =>
    admin.request('POST', '/api/webhooks', { body: body(more), headers });
  const created = async (more: object = {}): Promise<string> =>
    (await create(more)).body.data.source;
  const get = async (source: string) =>
    (await admin.request('GET', `/api/webhooks/${source}`)).body.data;
  const put = (source: string, change: object) =>
    admin.request('PUT', `/api/webhooks/${source}`, { body: change });
  const secretsOf = async (source: string) =>
    (await app.nest.get(SourceDirectory).find(source))?.secrets.map(({ value }) => value);
  const audited = async (source: string) => {
    const path = `/api/audit?subject=webhook_source:${source}`;
    return (await admin.request('GET', path)).body.data;
  };
  const problemsOf = (answer: { status: number; body: ReturnType<typeof JSON.parse> }) => [
    answer.status,
    ...(answer.body.error?.details?.errors ?? []).map(
      (one: { field: string; code: string }) => `${one.field}: ${one.code}`,
    ),
  ];

  beforeAll(async () => {
    app = await startTestApp();
    admin = await as(app, 'admin');
  });

  afterEach(() => jest.restoreAllMocks());
  afterAll(() => app.close());

  it('shows the same preview with an Idempotency-Key as without one', async () => {
    const path = `/api/webhooks/${await created()}/preview`;
    const event = { event_type: 'malware', data: { alert_id: 'alert-4711', severity: 'high' } };
    const plain = await admin.request('POST', path, { body: event });
    expect(plain.body.data.incidents).toHaveLength(1);
    for (let time = 0; time < 2; time += 1) {
      const headers = { 'idempotency-key': 'preview-once' };
      const answer = await admin.request('POST', path, { body: event, headers });
      expect([answer.status, answer.body]).toEqual([200, plain.body]);
    }
  });

  it('registers a source with what the specification asks for, and defaults for the rest', async () => {
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

  it('is for admins alone, reading too', async () => {
    const source = await created();
    const manager = await as(app, 'manager');
    for (const [method, path, sent] of [
      ['GET', '/api/webhooks', undefined],
      ['GET', '/api/webhooks/presets', undefined],
      ['GET', `/api/webhooks/${source}`, undefined],
      ['POST', '/api/webhooks', body()],
      ['PUT', `/api/webhooks/${source}`, { enabled: false }],
      ['DELETE', `/api/webhooks/${source}`, undefined],
    ] as const) {
      const { status } = await manager.request(method, path, { body: sent });
      expect([method, path, status]).toEqual([method, path, 403]);
    }
    expect(await get(source)).toMatchObject({ enabled: true });
  });

  it('lists sources page by page, by name and by age', async () => {
    const made = [await created(), await created(), await created()];
    const list = async (query: string) =>
      (await admin.request('GET', `/api/webhooks?${query}`)).body;
    const names = (data: { source: string }[]) => data.map(({ source }) => source);
    const newest = await list('per_page=2');
    expect(names(newest.data)).toEqual([made[2], made[1]]);
    expect(newest.meta).toMatchObject({ page: 1, per_page: 2 });
    const { data, meta } = await list('per_page=100&sort=source');
    expect(meta.total).toBe(data.length);
    expect(names(data)).toEqual(names(data).sort());
    expect(names((await list('per_page=100&sort=-source')).data)).toEqual(names(data).reverse());
    expect(names((await list('per_page=100&sort=created_at')).data).slice(-3)).toEqual(made);
    expect(await list('page=9999')).toMatchObject({ data: [], meta: { total: data.length } });
    expect((await admin.request('GET', '/api/webhooks?sort=secret')).status).toBe(422);
  });

  it('lets one of many registrations of a name at once have it', async () => {
    const twin = body();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(twin)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body.error).toMatchObject({ code: 'conflict' });
    expect(await audited(twin.source)).toHaveLength(1);
  });

  it('registers once when a request is repeated with its Idempotency-Key', async () => {
    const twin = body();
    const headers = { 'idempotency-key': 'the-key-of-a-registration' };
    const first = await create(twin, headers);
    const second = await create(twin, headers);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotency-replayed']).toBe('true');
  });

  it.each([
    ['source', { source: undefined }, 'required'],
    ['source', { source: 'Gateway' }, 'matches'],
    ['source', { source: '-gateway' }, 'matches'],
    ['source', { source: 'gate way' }, 'matches'],
    ['source', { source: 'a'.repeat(64) }, 'matches'],
    ['source', { source: '__proto__' }, 'matches'],
    ['source', { source: 'gateway\u0000' }, 'nul_character'],
    ['source', { source: 'gateway\ud800' }, 'lone_surrogate'],
    ['source', { source: 'presets' }, 'not_equals'],
    ['source', { source: ['gateway'] }, 'is_string'],
    ['secret', { secret: undefined }, 'required'],
    ['secret', { secret: 1234567890123456 }, 'is_string'],
    ['secret', { secret: 'fifteen-letters' }, 'is_length'],
    ['secret', { secret: 'x'.repeat(513) }, 'is_length'],
    ['secret', { secret: ` ${SECRET}` }, 'matches'],
    ['secret', { secret: `${SECRET}\n` }, 'matches'],
    ['secret', { secret: ' '.repeat(20) }, 'matches'],
    ['secret', { secret: 'whsec_no-base64-at-all', signature: 'standard' }, 'matches'],
    ['secret', { secret: 'two words and more', signature: 'token' }, 'matches'],
    ['enabled', { enabled: 'yes' }, 'is_boolean'],
    ['auto_triage', { auto_triage: 1 }, 'is_boolean'],
    ['playbook', { playbook: '' }, 'matches'],
    ['playbook', { playbook: ' framed ' }, 'matches'],
    ['playbook', { playbook: 'x'.repeat(101) }, 'max_length'],
    ['signature', { signature: 'md5' }, 'is_in'],
    ['format', { format: 'xml' }, 'is_in'],
    ['format', { format: 'generic', mapping: { title: '/title' } }, 'is_in'],
    ['format', { format: 'auto', preset: 'github' }, 'is_in'],
    ['mapping', { format: 'mapping' }, 'required'],
    ['mapping', { mapping: '/title' }, 'is_json_object'],
    ['mapping', { mapping: [] }, 'is_json_object'],
    ['preset', { preset: 'nothing' }, 'is_in'],
    ['preset', { preset: 7 }, 'is_in'],
    ['incident_type', { incident_type: 'Phishing' }, 'matches'],
    ['severity_mapping', { severity_mapping: ['low'] }, 'is_json_object'],
    ['severity_mapping.urgent', { severity_mapping: { urgent: 'worst' } }, 'is_in'],
    ['revoke_old_secret', { revoke_old_secret: true }, 'unknown_field'],
    ['created_by', { created_by: 'somebody' }, 'unknown_field'],
  ])('refuses a wrong %s: %j', async (field, more, code) => {
    const answer = await create(more);
    expect(problemsOf(answer)).toEqual([422, expect.stringMatching(`^${field}: `)]);
    expect(problemsOf(answer)[1]).toBe(`${field}: ${code}`);
    expect(answer.text).not.toContain(SECRET);
  });

  it('names a wrong pointer of a mapping', async () => {
    const answer = await create({ mapping: { title: 'no pointer' } });
    expect(problemsOf(answer)).toEqual([422, expect.stringMatching(/^mapping\.title: /)]);
  });

  it('takes secrets at the bounds of their length', async () => {
    for (const secret of ['sixteen-letters!', 'x'.repeat(512), 'schlüssel des tors – 東京 🔑']) {
      const source = await created({ secret });
      expect(await secretsOf(source)).toEqual([secret]);
    }
  });

  it('fills in what a preset says where the request does not say otherwise', async () => {
    const preset = PRESETS.find(({ name }) => name === 'suricata')!;
    const filled = await get(await created({ preset: preset.name }));
    expect(filled).toMatchObject({
      preset: preset.name,
      format: 'mapping',
      mapping: preset.mapping,
      severity_mapping: preset.severityMapping,
      type_mapping: {},
      signature: preset.signature,
    });
    const mapping = { title: '/title' };
    const own = await get(await created({ preset: preset.name, mapping, signature: 'body' }));
    expect(own).toMatchObject({ mapping, signature: 'body', format: 'mapping' });
    expect(own.severity_mapping).toEqual(preset.severityMapping);
  });

  it('lists the presets with what to set at the sender', async () => {
    const { body: answer } = await admin.request('GET', '/api/webhooks/presets');
    expect(answer.meta).toBeUndefined();
    expect(answer.data).toHaveLength(PRESETS.length);
    expect(answer.data[0]).toMatchObject({
      name: PRESETS[0]!.name,
      title: PRESETS[0]!.title,
      set_up: PRESETS[0]!.setUp,
      mapping: PRESETS[0]!.mapping,
    });
  });

  describe('PUT', () => {
    it('changes what is given and keeps the rest, the secret too', async () => {
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

    it('takes away by an empty text what a source may be without', async () => {
      const source = await created({ playbook: 'phishing-response', incident_type: 'phishing' });
      const { data } = (await put(source, { playbook: '', incident_type: '' })).body;
      expect(data).not.toHaveProperty('playbook');
      expect(data).not.toHaveProperty('incident_type');
    });

    it('reads by a mapping from then on, and by another format without it', async () => {
      const source = await created();
      const mapping = { title: [['/a~1b', '/c'], '/d'], lift: { host: '/host' } };
      expect((await put(source, { mapping })).body.data).toMatchObject({
        format: 'mapping',
        mapping,
      });
      expect(problemsOf(await put(source, { mapping, format: 'auto' }))).toEqual([
        422,
        'format: is_in',
      ]);
      const without = (await put(source, { format: 'auto' })).body.data;
      expect(without).toMatchObject({ format: 'auto' });
      expect(without).not.toHaveProperty('mapping');
      expect(problemsOf(await put(source, { format: 'mapping' }))).toEqual([
        422,
        'mapping: required',
      ]);
    });

    it('refuses a signature that the stored secret cannot be used for', async () => {
      const source = await created({ secret: 'whsec_and-what-is-no-base64' });
      const refused = await put(source, { signature: 'standard' });
      expect(problemsOf(refused)).toEqual([422, 'signature: matches']);
      expect(refused.text).not.toContain('and-what-is-no-base64');
      const both = { signature: 'standard', secret: `whsec_${'A'.repeat(32)}` };
      expect((await put(source, both)).body.data).toMatchObject({ signature: 'standard' });
    });

    it('refuses what changes nothing, another name, and an unknown source', async () => {
      const source = await created();
      expect(problemsOf(await put(source, {}))).toEqual([422, ': not_empty']);
      expect(problemsOf(await put(source, { source: 'other' }))).toEqual([
        422,
        'source: unknown_field',
      ]);
      expect((await put('nothing-of-this-name', { enabled: false })).status).toBe(404);
    });

    it('applies concurrent changes one after another', async () => {
      const source = await created();
      const changes = [{ enabled: false }, { auto_triage: true }, { format: 'ocsf' }];
      const answers = await Promise.all(changes.map((change) => put(source, change)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(await get(source)).toMatchObject(Object.assign({}, ...changes));
    });
  });

  describe('a new secret', () => {
    const NEW = 'secret-of-the-second-day';
    const NEWER = 'secret-of-the-third-day!';

    it('leaves the one before valid for 24 h', async () => {
      const source = await created();
      const now = new Date('2031-01-01T00:00:00.000Z');
      const clock = jest.spyOn(app.nest.get(Clock), 'now').mockReturnValue(now);
      const { data } = (await put(source, { secret: NEW })).body;
      expect(data.previous_secret_until).toBe('2031-01-02T00:00:00.000Z');
      expect(await secretsOf(source)).toEqual([NEW, SECRET]);
      clock.mockReturnValue(new Date(now.getTime() + DAY_MS - 1));
      expect(await secretsOf(source)).toEqual([NEW, SECRET]);
      clock.mockReturnValue(new Date(now.getTime() + DAY_MS));
      expect(await secretsOf(source)).toEqual([NEW]);
      expect(await get(source)).not.toHaveProperty('previous_secret_until');
    });

    it('ends the one before at once when revoke_old_secret says so', async () => {
      const source = await created();
      const { data } = (await put(source, { secret: NEW, revoke_old_secret: true })).body;
      expect(data).not.toHaveProperty('previous_secret_until');
      expect(await secretsOf(source)).toEqual([NEW]);
    });

    it('can have the one before ended later', async () => {
      const source = await created();
      await put(source, { secret: NEW });
      const { status, body: answer } = await put(source, { revoke_old_secret: true });
      expect(status).toBe(200);
      expect(answer.data).not.toHaveProperty('previous_secret_until');
      expect(await secretsOf(source)).toEqual([NEW]);
    });

    it('ends the oldest of three', async () => {
      const source = await created();
      await put(source, { secret: NEW });
      await put(source, { secret: NEWER });
      expect(await secretsOf(source)).toEqual([NEWER, NEW]);
      await put(source, { secret: SECRET, revoke_old_secret: true });
      expect(await secretsOf(source)).toEqual([SECRET]);
    });

    it('changes nothing when it is the present one', async () => {
      const source = await created();
      await put(source, { secret: NEW });
      const before = await get(source);
      expect((await put(source, { secret: NEW })).body.data).toEqual(before);
      expect(await secretsOf(source)).toEqual([NEW, SECRET]);
      expect(await audited(source)).toHaveLength(2);
    });

    it('mends a source whose stored secret was altered or is gone', async () => {
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

  it('deletes a source, whose name is free again', async () => {
    const source = await created();
    const path = `/api/webhooks/${source}`;
    const gone = await admin.request('DELETE', path);
    expect(gone.body).toEqual({ data: { id: source, deleted: true } });
    expect(await secretsOf(source)).toBeUndefined();
    for (const method of ['GET', 'DELETE']) {
      const { status, body: answer } = await admin.request(method, path);
      expect([status, answer.error.message]).toEqual([404, 'Webhook source not found.']);
    }
    expect((await create({ source })).status).toBe(201);
  });

  it.each(['A', 'x'.repeat(64), '__proto__', 'a%20b', 'a%00b', '%ff', 'ä'])(
    'answers that there is no source %s',
    async (name) => {
      const path = `/api/webhooks/${encodeURI(name).replaceAll('%25', '%')}`;
      for (const method of ['GET', 'DELETE', 'PUT']) {
        const sent = method === 'PUT' ? { body: { enabled: false } } : {};
        const { status } = await admin.request(method, path, sent);
        expect([method, status]).toEqual([method, 404]);
      }
    },
  );

  it('records each change with the names of the fields', async () => {
    const source = await created();
    await put(source, { secret: 'another-secret-of-it', auto_triage: true });
    await put(source, { revoke_old_secret: true, signature: 'token' });
    await admin.request('DELETE', `/api/webhooks/${source}`);
    const entries = (await audited(source)).reverse();
    expect(entries).toMatchObject([
      { action: 'webhook_source.created', details: { enabled: true, signature: 'timestamped' } },
      {
        action: 'webhook_source.updated',
        details: { fields: ['auto_triage', 'secret', 'previous_secret'] },
      },
      {
        action: 'webhook_source.updated',
        details: { fields: ['signature', 'previous_secret'], revoke_old_secret: true },
      },
      { action: 'webhook_source.deleted', details: { signature: 'token' } },
    ]);
  });
});
