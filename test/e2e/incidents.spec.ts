import { newId } from '../../src/platform/ids.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { as, makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const MINIMAL = { incident_type: 'phishing', source: 'email-gateway' };

const wrong = (answer: Answer): { field: string; code: string }[] =>
  answer.body.error.details.errors.map(({ field, code }: { field: string; code: string }) => ({
    field,
    code,
  }));

describe('incidents', () => {
  let app: TestApp;
  let viewer: ApiClient;
  let analyst: ApiClient;
  let analystName: string;
  let admin: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    viewer = await as(app, 'viewer');
    ({ client: analyst, name: analystName } = await makeKey(app, 'analyst'));
    admin = await as(app, 'admin');
  });
  afterAll(() => app?.close());

  const create = async (fields: object = {}): Promise<{ id: string } & Record<string, string>> => {
    const answer = await analyst.request('POST', '/api/incidents', {
      body: { ...MINIMAL, ...fields },
    });
    expect(answer.status).toBe(201);
    return answer.body.data;
  };
  const read = async (id: string) =>
    (await viewer.request('GET', `/api/incidents/${id}`)).body.data;
  const put = (id: string, body: unknown, headers = {}) =>
    analyst.request('PUT', `/api/incidents/${id}`, { body, headers });

  describe('create', () => {
    it('answers 201 with id, number, status and creation time, and nothing else', async () => {
      const before = Date.now();
      const answer = await analyst.request('POST', '/api/incidents', { body: MINIMAL });
      expect(answer.status).toBe(201);
      const { id, incident_number, status, created_at } = answer.body.data;
      expect(Object.keys(answer.body.data).sort()).toEqual([
        'created_at',
        'id',
        'incident_number',
        'status',
      ]);
      expect(status).toBe('open');
      expect(incident_number).toMatch(new RegExp(`^INC-${new Date().getUTCFullYear()}-\\d{4,}$`));
      expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before);
      expect(parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Date.parse(created_at));
    });

    it('returns the documented defaults, and omits absent fields', async () => {
      const { id, created_at, incident_number } = await create();
      expect(await read(id)).toEqual({
        id,
        incident_number,
        incident_type: 'phishing',
        severity: 'medium',
        status: 'open',
        source: 'email-gateway',
        title: 'Phishing from email-gateway',
        raw_data: {},
        fields: {},
        recommended_actions: [],
        created_at,
        updated_at: created_at,
      });
    });

    it.each([
      ['nothing', {}, ['incident_type', 'source']],
      ['no source', { incident_type: 'spam' }, ['source']],
      ['an upper-case type', { ...MINIMAL, incident_type: 'Phishing' }, ['incident_type']],
      ['a long type', { ...MINIMAL, incident_type: 'a'.repeat(65) }, ['incident_type']],
      ['a type with a line end', { ...MINIMAL, incident_type: 'spam\n' }, ['incident_type']],
      ['a number as type', { ...MINIMAL, incident_type: 7 }, ['incident_type']],
      ['a blank source', { ...MINIMAL, source: '  ' }, ['source']],
      ['a long source', { ...MINIMAL, source: 'x'.repeat(256) }, ['source']],
      ['an unknown severity', { ...MINIMAL, severity: 'urgent' }, ['severity']],
      ['null as severity', { ...MINIMAL, severity: null }, ['severity']],
      ['a list as raw_data', { ...MINIMAL, raw_data: [] }, ['raw_data']],
      ['text as raw_data', { ...MINIMAL, raw_data: '{}' }, ['raw_data']],
      ['null as raw_data', { ...MINIMAL, raw_data: null }, ['raw_data']],
      ['an id', { ...MINIMAL, id: newId() }, ['id']],
      ['its own number', { ...MINIMAL, incident_number: 'INC-2026-0001' }, ['incident_number']],
      ['a creation time', { ...MINIMAL, created_at: '2026-01-01T00:00:00Z' }, ['created_at']],
      ['a status', { ...MINIMAL, status: 'resolved' }, ['status']],
      ['a verdict', { ...MINIMAL, verdict: { classification: 'benign' } }, ['verdict']],
      [
        'an inherited name',
        '{"incident_type":"spam","source":"x","constructor":1}',
        ['constructor'],
      ],
    ])('refuses a body with %s with 422, and names the fields', async (_, body, fields) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await analyst.request('POST', '/api/incidents', { body, headers });
      expect(answer.status).toBe(422);
      expect(answer.body.error.code).toBe('validation_error');
      expect([...new Set(wrong(answer).map(({ field }) => field))].sort()).toEqual(fields);
    });

    it('reports each missing field once', async () => {
      const answer = await analyst.request('POST', '/api/incidents', { body: {} });
      expect(answer.body.error.details.errors).toEqual([
        { field: 'incident_type', code: 'required', message: 'incident_type is required.' },
        { field: 'source', code: 'required', message: 'source is required.' },
      ]);
    });

    it('accepts any type of the documented format', async () => {
      const { id } = await create({ incident_type: 'z'.repeat(64) });
      expect((await read(id)).incident_type).toBe('z'.repeat(64));
    });

    it('checks present phishing keys, for the type phishing only', async () => {
      const raw_data = {
        message_id: 1,
        sender: null,
        received_at: '2026-02-30T00:00:00Z',
        other: 1,
      };
      const answer = await analyst.request('POST', '/api/incidents', {
        body: { ...MINIMAL, raw_data },
      });
      expect(answer.status).toBe(422);
      expect(wrong(answer)).toEqual([
        { field: 'raw_data.message_id', code: 'is_string' },
        { field: 'raw_data.sender', code: 'is_string' },
        { field: 'raw_data.received_at', code: 'is_iso_8601' },
      ]);
      await create({ raw_data: { received_at: '20260228T093000' } });
      const { id } = await create({ incident_type: 'malware', raw_data });
      expect((await read(id)).raw_data).toEqual(raw_data);
    });

    it('keeps raw_data unchanged, including all digits of numbers', async () => {
      const raw = `{"n":9007199254740991,"zero":0,"negative":-0,"f":0.1,"e":1e3,"constructor":[],"toString":null,"":"","\u2028":"é😀"}`;
      const body = `{"incident_type":"other","source":"x","raw_data":${raw}}`;
      const headers = { 'content-type': 'application/json' };
      const answer = await analyst.request('POST', '/api/incidents', { body, headers });
      expect(answer.status).toBe(201);
      const { text } = await viewer.request('GET', `/api/incidents/${answer.body.data.id}`);
      expect(JSON.parse(text).data.raw_data).toEqual(JSON.parse(raw));
      expect(text).toContain('"negative":-0,');
      expect(text).toContain('"n":9007199254740991');
    });

    it.each([
      ['an integer beyond 2^53', '{"n":9007199254740993}'],
      ['a NUL', '{"s":"a\\u0000b"}'],
      ['a NUL in a key', '{"a\\u0000b":1}'],
      ['half a surrogate pair', '{"s":"\\ud800"}'],
    ])('refuses raw_data with %s with 422', async (_, raw) => {
      const body = `{"incident_type":"other","source":"x","raw_data":${raw}}`;
      const headers = { 'content-type': 'application/json' };
      const answer = await analyst.request('POST', '/api/incidents', { body, headers });
      expect(answer.status).toBe(422);
    });

    it('keeps keys such as __proto__ as plain data', async () => {
      const raw = '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"a":-0}}}';
      const body = `{"incident_type":"phishing","source":"waf","raw_data":${raw}}`;
      const headers = { 'content-type': 'application/json' };
      const answer = await analyst.request('POST', '/api/incidents', { body, headers });
      expect(answer.status).toBe(201);
      const { text } = await viewer.request('GET', `/api/incidents/${answer.body.data.id}`);
      expect(text).toContain(`"raw_data":${raw},`);
      expect({}).not.toHaveProperty('isAdmin');
      const beside = body.replace('"source"', '"__proto__":{},"source"');
      const refused = await analyst.request('POST', '/api/incidents', { body: beside, headers });
      expect(wrong(refused)).toEqual([{ field: '__proto__', code: 'forbidden_key' }]);
    });

    it('accepts at most 256 KiB of raw_data and 32 levels', async () => {
      const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) });
      const wide = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
      await create({ raw_data: deep(32) });
      await create({ raw_data: wide(256 * 1024) });
      await create({ incident_type: 'other', raw_data: { a: 'é'.repeat(131_000) } });
      for (const [raw_data, code] of [
        [deep(33), 'max_depth'],
        [{ a: Array.from({ length: 32 }).reduce((inner) => [inner], 1) }, 'max_depth'],
        [wide(256 * 1024 + 1), 'max_bytes'],
        [{ a: 'é'.repeat(132_000) }, 'max_bytes'],
      ] as const) {
        const answer = await analyst.request('POST', '/api/incidents', {
          body: { ...MINIMAL, raw_data },
        });
        expect([answer.status, answer.body.error.details?.errors[0].code]).toEqual([422, code]);
      }
      const abyss = `{"incident_type":"other","source":"x","raw_data":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`;
      const headers = { 'content-type': 'application/json' };
      expect(
        (await analyst.request('POST', '/api/incidents', { body: abyss, headers })).status,
      ).toBeGreaterThanOrEqual(400);
    });

    it('gives numbers that rise one by one while nobody else creates', async () => {
      const numbers = [];
      for (let i = 0; i < 3; i += 1) numbers.push((await create())['incident_number']!);
      const sequence = numbers.map((number) => Number(number.split('-')[2]));
      expect(sequence).toEqual([sequence[0], sequence[0]! + 1, sequence[0]! + 2]);
    });

    it('has one effect for an Idempotency-Key', async () => {
      const headers = { 'idempotency-key': newId() };
      const total = async () => (await viewer.request('GET', '/api/incidents')).body.meta.total;
      const before = await total();
      const send = () => analyst.request('POST', '/api/incidents', { body: MINIMAL, headers });
      const first = await send();
      const second = await send();
      expect(second.text).toBe(first.text);
      expect(second.headers['idempotency-replayed']).toBe('true');
      expect(await total()).toBe(before + 1);
    });

    it('counts it in incidents_total, as `other` if its type is not documented', async () => {
      const counted = async (type: string) => {
        const { text } = await app.request('GET', '/metrics');
        const line = text
          .split('\n')
          .find((one) => one.startsWith(`incidents_total{type="${type}",severity="critical"}`));
        return Number(line?.split(' ')[1] ?? 0);
      };
      const [bec, other] = [await counted('bec'), await counted('other')];
      await create({ incident_type: 'bec', severity: 'critical' });
      await create({ incident_type: 'my_own_type', severity: 'critical' });
      expect([await counted('bec'), await counted('other')]).toEqual([bec + 1, other + 1]);
    });
  });

  describe('read', () => {
    it('returns the properties in the order of the contract', async () => {
      const { id } = await create({ raw_data: { a: 1 } });
      const verdict = { classification: 'benign' };
      await put(id, { verdict, status: 'resolved', resolution: 'Nothing.' });
      expect(Object.keys(await read(id))).toEqual([
        'id',
        'incident_number',
        'incident_type',
        'severity',
        'status',
        'source',
        'title',
        'raw_data',
        'fields',
        'verdict',
        'recommended_actions',
        'resolution',
        'created_at',
        'updated_at',
        'triaged_at',
        'resolved_at',
        'resolved_by',
      ]);
    });

    it('sends a strong ETag that changes with the incident', async () => {
      const { id } = await create();
      const first = await viewer.request('GET', `/api/incidents/${id}`);
      expect(first.headers['etag']).toBe('"1"');
      expect(first.headers['content-type']).toBe('application/json; charset=utf-8');
      expect((await put(id, { severity: 'low' })).headers['etag']).toBe('"2"');
      expect((await viewer.request('GET', `/api/incidents/${id}`)).headers['etag']).toBe('"2"');
    });

    it.each([newId(), 'nonsense', '1', "'; drop table incidents; --", '%00'])(
      'answers 404 for the unknown id %s',
      async (id) => {
        for (const path of [`/api/incidents/${id}`, `/api/incidents/${id}/timeline`]) {
          const answer = await viewer.request('GET', encodeURI(path).replace('%2500', '%00'));
          expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
        }
      },
    );
  });

  describe('update', () => {
    it('changes the given fields, keeps the rest and returns the whole incident', async () => {
      const { id } = await create({ severity: 'low', raw_data: { a: 1 } });
      const before = await read(id);
      const answer = await put(id, { status: 'resolved', resolution: 'Blocked.' });
      expect(answer.status).toBe(200);
      expect(answer.body.data).toEqual({
        ...before,
        status: 'resolved',
        resolution: 'Blocked.',
        updated_at: answer.body.data.updated_at,
        resolved_at: answer.body.data.updated_at,
        resolved_by: analystName,
      });
      expect(Date.parse(answer.body.data.updated_at)).toBeGreaterThanOrEqual(
        Date.parse(before.updated_at),
      );
      expect(await read(id)).toEqual(answer.body.data);
    });

    it('allows every change of status', async () => {
      const { id } = await create();
      for (const status of [
        'resolved',
        'open',
        'triaged',
        'open',
        'resolved',
        'triaged',
        'triaged',
      ]) {
        const answer = await put(id, { status, reopen: true });
        expect([answer.status, answer.body.data.status]).toEqual([200, status]);
      }
    });

    it('counts as manual triage if a verdict is given', async () => {
      const { id } = await create();
      const verdict = {
        classification: 'malicious',
        confidence: 0.9,
        category: 'spear_phishing',
        reasoning: 'It asks for money.',
        indicators: [{ type: 'url', value: 'https://example.net', found_in: '/subject' }],
        mitre_techniques: ['T1566.001'],
        evidence: [{ source: 'raw_data', pointer: '/sender', value: 'a@b.c' }],
      };
      const answer = await put(id, { verdict, recommended_actions: ['block_sender'] });
      expect(answer.status).toBe(200);
      const { data } = answer.body;
      expect(data.verdict).toEqual({ ...verdict, decided_by: analystName });
      expect(data.status).toBe('triaged');
      expect(data.recommended_actions).toEqual(['block_sender']);
      expect(data.triaged_at).toBe(data.updated_at);
      expect(await read(id)).toEqual(data);
    });

    it('counts as manual triage if the status is set, and keeps a resolved incident resolved', async () => {
      const { id } = await create();
      const triaged = (await put(id, { status: 'triaged' })).body.data;
      expect(triaged.triaged_at).toBeDefined();
      expect(triaged.verdict).toBeUndefined();
      await put(id, { status: 'resolved' });
      const resolved = (await put(id, { verdict: { classification: 'benign' } })).body.data;
      expect(resolved.status).toBe('resolved');
      expect(resolved.verdict).toEqual({ classification: 'benign', decided_by: analystName });
    });

    it.each([
      ['nothing', {}, ''],
      ['an unknown field', { colour: 'red' }, 'colour'],
      ['a source', { source: 'x' }, 'source'],
      ['raw_data', { raw_data: {} }, 'raw_data'],
      ['a triage time', { triaged_at: '2026-01-01T00:00:00Z' }, 'triaged_at'],
      ['a bad status', { status: 'closed' }, 'status'],
      ['null', { resolution: null }, ''],
      ['an empty verdict', { verdict: {} }, 'verdict.classification'],
      [
        'an inherited name',
        { verdict: { classification: 'benign', toString: 'x' } },
        'verdict.toString',
      ],
      ['a list as verdict', { verdict: [] }, 'verdict'],
      ['a bad classification', { verdict: { classification: 'evil' } }, 'verdict.classification'],
      [
        'too much confidence',
        { verdict: { classification: 'benign', confidence: 1.01 } },
        'verdict.confidence',
      ],
      [
        'confidence in words',
        { verdict: { classification: 'benign', confidence: 'high' } },
        'verdict.confidence',
      ],
      [
        'a decider',
        { verdict: { classification: 'benign', decided_by: 'alice' } },
        'verdict.decided_by',
      ],
      [
        'a bad category',
        { verdict: { classification: 'benign', category: 'Not A Word' } },
        'verdict.category',
      ],
      ['an unknown action', { recommended_actions: ['launch_rocket'] }, 'recommended_actions'],
      ['one action that is no list', { recommended_actions: 'block_ip' }, 'recommended_actions'],
    ])('refuses a body with %s with 422, and names the field', async (_, body, field) => {
      const { id } = await create();
      const answer = await put(id, body);
      expect(answer.status).toBe(422);
      expect(wrong(answer)[0]!.field).toBe(field);
      expect((await read(id)).updated_at).toBe((await read(id)).created_at);
    });

    it('honours If-Match', async () => {
      const { id } = await create();
      expect((await put(id, { severity: 'low' }, { 'if-match': '"1"' })).status).toBe(200);
      const stale = await put(id, { severity: 'high' }, { 'if-match': '"1"' });
      expect([stale.status, stale.body.error.code]).toEqual([412, 'precondition_failed']);
      expect((await put(id, { severity: 'high' }, { 'if-match': 'W/"2"' })).status).toBe(412);
      expect((await put(id, { severity: 'high' }, { 'if-match': '"7", "2"' })).status).toBe(200);
      expect((await put(id, { severity: 'low' }, { 'if-match': '*' })).status).toBe(200);
      expect((await put(id, { severity: 'low' }, { 'if-match': 'nonsense' })).status).toBe(400);
      expect((await put(newId(), { severity: 'low' }, { 'if-match': '"1"' })).status).toBe(404);
      expect((await put(newId(), {}, { 'if-match': '"1"' })).status).toBe(422);
    });

    it('answers a stale If-Match with the changes since then and the current values', async () => {
      const { id } = await create();
      await put(id, { severity: 'critical' });
      const resolved = (await put(id, { status: 'resolved', resolution: 'Blocked.' })).body.data;
      await put(id, { recommended_actions: [] });
      const stale = await put(id, { severity: 'low' }, { 'if-match': '"2"' });
      expect(stale.body.error).toMatchObject({
        code: 'precondition_failed',
        details: {
          changed_by: resolved.resolved_by,
          fields: ['status', 'resolution'],
          etag: '"4"',
          current: { status: 'resolved', resolution: 'Blocked.' },
        },
      });
      expect(stale.headers.etag).toBe('"4"');
      expect(stale.body.error.details.changed_at).toBe((await read(id)).updated_at);
      const removed = await admin.request('DELETE', `/api/incidents/${id}`, {
        headers: { 'if-match': '"1"' },
      });
      expect(removed.body.error.details.fields).toEqual(['severity', 'status', 'resolution']);
    });

    it('answers an If-Match with an unknown tag with the last change', async () => {
      const { id } = await create();
      const first = await put(id, { severity: 'low' }, { 'if-match': '"abc"' });
      expect(first.body.error.details).toMatchObject({ etag: '"1"', fields: [], current: {} });
      await put(id, { severity: 'high' });
      const second = await put(id, { severity: 'low' }, { 'if-match': '"99"' });
      expect(second.body.error.details).toMatchObject({ current: { severity: 'high' } });
    });

    it('lets one of two updates of the same version win', async () => {
      const { id } = await create();
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          put(id, { resolution: `by ${index}` }, { 'if-match': '"1"' }),
        ),
      );
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 412)).toHaveLength(9);
      expect((await read(id)).resolution).toBe(won[0]!.body.data.resolution);
    });
  });

  describe('delete', () => {
    it('hides the incident everywhere, and keeps its audit trail', async () => {
      const { id } = await create({ source: 'to-be-deleted' });
      const list = async () =>
        (await viewer.request('GET', '/api/incidents?source=to-be-deleted')).body;
      expect((await list()).meta.total).toBe(1);
      const answer = await admin.request('DELETE', `/api/incidents/${id}`);
      expect([answer.status, answer.body.data]).toEqual([200, { id, deleted: true }]);
      expect(await list()).toEqual({ data: [], meta: { page: 1, per_page: 20, total: 0 } });
      for (const [client, method, path, body] of [
        [viewer, 'GET', `/api/incidents/${id}`, undefined],
        [viewer, 'GET', `/api/incidents/${id}/timeline`, undefined],
        [analyst, 'PUT', `/api/incidents/${id}`, { severity: 'low' }],
        [admin, 'DELETE', `/api/incidents/${id}`, undefined],
      ] as const) {
        expect((await client.request(method, path, { body })).status).toBe(404);
      }
      const audit = await admin.request('GET', `/api/audit?subject=incident:${id}`);
      const actions = audit.body.data.map(({ action }: { action: string }) => action).sort();
      expect(actions).toEqual(['incident.created', 'incident.deleted']);
    });

    it('honours If-Match', async () => {
      const { id } = await create();
      const remove = (tag: string) =>
        admin.request('DELETE', `/api/incidents/${id}`, { headers: { 'if-match': tag } });
      expect((await remove('"2"')).status).toBe(412);
      expect((await remove('"1"')).status).toBe(200);
    });

    it('takes place before or after a concurrent update', async () => {
      for (let round = 0; round < 10; round += 1) {
        const { id } = await create();
        const [removed, updated] = await Promise.all([
          admin.request('DELETE', `/api/incidents/${id}`),
          put(id, { severity: 'critical' }),
        ]);
        expect(removed.status).toBe(200);
        expect([200, 404]).toContain(updated.status);
        expect((await viewer.request('GET', `/api/incidents/${id}`)).status).toBe(404);
      }
    });
  });

  describe('timeline', () => {
    it('lists entries, oldest first, page by page', async () => {
      const { id, created_at } = await create();
      await put(id, { severity: 'critical' });
      await put(id, { verdict: { classification: 'malicious', category: 'bec' } });
      await put(id, { status: 'resolved', resolution: 'Done.' });
      const { body } = await viewer.request('GET', `/api/incidents/${id}/timeline`);
      expect(body.meta).toEqual({ page: 1, per_page: 20, total: 4 });
      expect(
        body.data.map(({ event, summary }: Record<string, string>) => [event, summary]),
      ).toEqual([
        ['created', 'Created from email-gateway.'],
        ['updated', 'Changed severity from medium to critical.'],
        ['triaged', 'Triaged as malicious (bec).'],
        ['resolved', 'Resolved: Done.'],
      ]);
      expect(body.data[0]).toMatchObject({ at: created_at, actor: analystName });
      const second = await viewer.request('GET', `/api/incidents/${id}/timeline?page=2&per_page=3`);
      expect(second.body.data).toEqual(body.data.slice(3));
      const sorted = async (sort: string): Promise<unknown[]> =>
        (await viewer.request('GET', `/api/incidents/${id}/timeline?sort=${sort}`)).body.data;
      expect(await sorted('at')).toEqual(body.data);
      expect(await sorted('created_at')).toEqual(body.data);
      expect(await sorted('-at')).toEqual(body.data.toReversed());
      expect(await sorted('-created_at')).toEqual(body.data.toReversed());
      const unknown = await viewer.request('GET', `/api/incidents/${id}/timeline?sort=actor`);
      expect(unknown.status).toBe(422);
      const past = await viewer.request('GET', `/api/incidents/${id}/timeline?page=9`);
      expect(past.body).toEqual({ data: [], meta: { page: 9, per_page: 20, total: 4 } });
    });

    it.each(['at', '-at'])('pages without gap or overlap when sorted by %s', async (sort) => {
      const { id } = await create();
      for (const severity of ['low', 'high', 'low', 'high']) await put(id, { severity });
      const timeline = async (query: string): Promise<unknown[]> => {
        const path = `/api/incidents/${id}/timeline?sort=${sort}&${query}`;
        const { data, meta } = (await viewer.request('GET', path)).body;
        expect(meta.total).toBe(5);
        return data;
      };
      const whole = await timeline('per_page=100');
      expect(whole).toHaveLength(5);
      for (const size of [1, 2, 3, 5]) {
        const pages: unknown[] = [];
        for (let page = 1; page <= 6; page += 1) {
          pages.push(...(await timeline(`per_page=${size}&page=${page}`)));
        }
        expect(pages).toEqual(whole);
      }
    });
  });

  describe('roles', () => {
    it('lets viewers read, analysts write and admins delete', async () => {
      const { id } = await create();
      const path = `/api/incidents/${id}`;
      const tried = async (client: ApiClient, method: string, at: string, body?: unknown) =>
        (await client.request(method, at, { body })).status;
      expect(await tried(viewer, 'POST', '/api/incidents', MINIMAL)).toBe(403);
      expect(await tried(viewer, 'PUT', path, { severity: 'low' })).toBe(403);
      for (const role of ['viewer', 'analyst', 'senior', 'manager'] as const) {
        const answer = await (await as(app, role)).request('DELETE', path);
        expect(answer.status).toBe(403);
        expect(answer.body.error.details).toEqual({ required_role: 'admin' });
      }
      expect(await tried(app.client, 'GET', '/api/incidents')).toBe(401);
    });

    it('answers 403 before 422, and 422 before 404', async () => {
      expect((await viewer.request('POST', '/api/incidents', { body: {} })).status).toBe(403);
      expect((await put(newId(), { colour: 'red' })).status).toBe(422);
    });
  });
});
