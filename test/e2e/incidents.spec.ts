import { DomainEvents } from '../../src/platform/work/domain-events.js';
import { newId } from '../../src/platform/ids.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { as, makeKey } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() => startTestApp());

const MINIMAL = { incident_type: 'phishing', source: 'email-gateway' };

const wrong = (answer: Answer): { field: string; code: string }[] =>
  answer.body.error.details.errors.map(({ field, code }: { field: string; code: string }) => ({
    field,
    code,
  }));

describe('incidents', () => {
  const viewer = useStarted(() => as(app, 'viewer'));
  let analyst: ApiClient;
  let analystName: string;
  const admin = useStarted(() => as(app, 'admin'));

  beforeAll(async () => {
    ({ client: analyst, name: analystName } = await makeKey(app, 'analyst'));
  });

  const create = async (fields: object = {}): Promise<{ id: string } & Record<string, string>> => {
    const answer = await analyst.post('/api/incidents', { ...MINIMAL, ...fields });
    expect(answer.status).toBe(201);
    return answer.body.data;
  };
  const read = async (id: string) => (await viewer.get(`/api/incidents/${id}`)).body.data;
  const put = (id: string, body: unknown, headers = {}) =>
    analyst.put(`/api/incidents/${id}`, body, headers);

  describe('create', () => {
    it('returns 201 with only id, number, status and creation time', async () => {
      const before = Date.now();
      const answer = await analyst.post('/api/incidents', MINIMAL);
      expect(answer.status).toBe(201);
      const { id, incident_number, status, created_at } = answer.body.data;
      const fields = ['created_at', 'id', 'incident_number', 'status'];
      expect(Object.keys(answer.body.data).sort()).toEqual(fields);
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
      [{}, ['incident_type', 'source']],
      [{ ...MINIMAL, incident_type: 7 }, ['incident_type']],
      [{ ...MINIMAL, id: newId() }, ['id']],
    ])('rejects the body %j with 422, and names the fields %j', async (body, fields) => {
      const answer = await analyst.post('/api/incidents', body);
      expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
      expect([...new Set(wrong(answer).map(({ field }) => field))].sort()).toEqual(fields);
    });

    it('rejects raw_data that is too large, too deep or wrong for its type', async () => {
      const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) });
      const wide = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
      await create({ raw_data: deep(32) });
      await create({ raw_data: wide(256 * 1024) });
      for (const [raw_data, code] of [
        [deep(33), 'max_depth'],
        [wide(256 * 1024 + 1), 'max_bytes'],
        [{ message_id: 1 }, 'is_string'],
        [{ received_at: '2026-02-30T00:00:00Z' }, 'is_iso_8601'],
      ] as const) {
        const answer = await analyst.post('/api/incidents', { ...MINIMAL, raw_data });
        expect([answer.status, wrong(answer)[0]?.code]).toEqual([422, code]);
      }
    });

    const createRaw = (raw: string) =>
      analyst.post('/api/incidents', `{"incident_type":"other","source":"x","raw_data":${raw}}`, {
        'content-type': 'application/json',
      });

    it.each([
      `{"n":9007199254740991,"zero":0,"f":0.1,"e":1000,"toString":null,"":"","\u2028":"é😀"}`,
      '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"a":0}}}',
    ])('keeps raw_data unchanged: %s', async (raw) => {
      const answer = await createRaw(raw);
      expect(answer.status).toBe(201);
      const { text } = await viewer.get(`/api/incidents/${answer.body.data.id}`);
      expect(text).toContain(`"raw_data":${raw}`);
      expect({}).not.toHaveProperty('isAdmin');
    });

    it('rejects raw_data with a number that JSON cannot represent exactly', async () => {
      const refused = await createRaw('{"n":9007199254740993}');
      expect(wrong(refused)).toEqual([{ field: 'raw_data.n', code: 'inexact_number' }]);
    });

    it('counts the incident in incidents_total, as `other` if its type is not documented', async () => {
      const counted = async (type: string) => {
        const { text } = await app.get('/metrics');
        const line = new RegExp(
          `^incidents_total\\{type="${type}",severity="critical"\\} (.*)$`,
          'm',
        );
        return Number(line.exec(text)?.[1] ?? 0);
      };
      const [bec, other] = [await counted('bec'), await counted('other')];
      await create({ incident_type: 'bec', severity: 'critical' });
      await create({ incident_type: 'my_own_type', severity: 'critical' });
      expect([await counted('bec'), await counted('other')]).toEqual([bec + 1, other + 1]);
    });
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

    it('counts as a manual triage if it has a verdict', async () => {
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

    it.each([
      [{}, ''],
      [{ source: 'x' }, 'source'],
      [{ verdict: { classification: 'benign', toString: 'x' } }, 'verdict.toString'],
      [{ verdict: { classification: 'benign', decided_by: 'alice' } }, 'verdict.decided_by'],
    ])('refuses the update %j with 422, and names the field %j', async (body, field) => {
      const { id } = await create();
      const answer = await put(id, body);
      expect(answer.status).toBe(422);
      expect(wrong(answer)[0]!.field).toBe(field);
      expect((await read(id)).updated_at).toBe((await read(id)).created_at);
    });

    it('honours If-Match', async () => {
      const { id } = await create();
      for (const [tag, status] of [
        ['"1"', 200],
        ['"1"', 412],
        ['W/"2"', 412],
        ['"7", "2"', 200],
        ['*', 200],
        ['nonsense', 400],
      ] as const)
        expect((await put(id, { severity: 'low' }, { 'if-match': tag })).status).toBe(status);
      expect((await put(newId(), { severity: 'low' }, { 'if-match': '"1"' })).status).toBe(404);
      expect((await put(newId(), {}, { 'if-match': '"1"' })).status).toBe(422);
    });

    it('answers a stale If-Match with the changes since then and the current values', async () => {
      const { id } = await create();
      await put(id, { severity: 'critical' });
      const resolved = (await put(id, { status: 'resolved', resolution: 'Blocked.' })).body.data;
      const stale = await put(id, { severity: 'low' }, { 'if-match': '"2"' });
      expect(stale.body.error).toMatchObject({
        code: 'precondition_failed',
        details: {
          changed_by: resolved.resolved_by,
          fields: ['status', 'resolution'],
          etag: '"3"',
          current: { status: 'resolved', resolution: 'Blocked.' },
        },
      });
      expect(stale.headers.etag).toBe('"3"');
      expect(stale.body.error.details.changed_at).toBe((await read(id)).updated_at);
      const removed = await admin.delete(`/api/incidents/${id}`, { 'if-match': '"1"' });
      expect(removed.body.error.details.fields).toEqual(['severity', 'status', 'resolution']);
    });

    it('changes nothing if all given values equal the stored values', async () => {
      const { id } = await create();
      const values = {
        title: 'Invoice',
        severity: 'high',
        status: 'resolved',
        resolution: 'Blocked.',
        verdict: { classification: 'benign', indicators: [{ type: 'ip', value: '203.0.113.9' }] },
        recommended_actions: ['block_sender'],
      };
      const before = await put(id, values);
      const records = async () => [
        (await viewer.request('GET', `/api/incidents/${id}/timeline`)).body,
        (await admin.request('GET', `/api/audit?subject=incident:${id}`)).body.meta,
      ];
      const recorded = await records();
      const events = jest.spyOn(app.nest.get(DomainEvents), 'record');
      for (const same of [values, { verdict: values.verdict }, { status: 'resolved' }]) {
        const answer = await put(id, same, { 'if-match': '"2"' });
        expect([answer.status, answer.headers.etag]).toEqual([200, '"2"']);
        expect(answer.body).toEqual(before.body);
      }
      expect(await records()).toEqual(recorded);
      expect(events).not.toHaveBeenCalled();
      events.mockRestore();
    });

    it('accepts only one of several simultaneous updates of the same version', async () => {
      const { id } = await create();
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          put(id, { resolution: `by ${n}` }, { 'if-match': '"1"' }),
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
      const list = async () => (await viewer.get('/api/incidents?source=to-be-deleted')).body;
      expect((await list()).meta.total).toBe(1);
      const answer = await admin.delete(`/api/incidents/${id.toUpperCase()}`);
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
      const audit = await admin.get(`/api/audit?subject=incident:${id}`);
      const actions = audit.body.data.map(({ action }: { action: string }) => action).sort();
      expect(actions).toEqual(['incident.created', 'incident.deleted']);
    });

    it('honours If-Match', async () => {
      const { id } = await create();
      const remove = (tag: string) => admin.delete(`/api/incidents/${id}`, { 'if-match': tag });
      expect((await remove('"2"')).status).toBe(412);
      expect((await remove('"1"')).status).toBe(200);
    });
  });

  describe('timeline', () => {
    it('lists entries, oldest first, page by page', async () => {
      const { id, created_at } = await create();
      await put(id, { severity: 'critical' });
      await put(id, { verdict: { classification: 'malicious', category: 'bec' } });
      await put(id, { status: 'resolved', resolution: 'Done.' });
      const { body } = await viewer.get(`/api/incidents/${id}/timeline`);
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
      const second = await viewer.get(`/api/incidents/${id}/timeline?page=2&per_page=3`);
      expect(second.body.data).toEqual(body.data.slice(3));
      const path = `/api/incidents/${id}/timeline?sort=-at`;
      expect((await viewer.get(path)).body.data).toEqual(body.data.toReversed());
      const past = await viewer.get(`/api/incidents/${id}/timeline?page=9`);
      expect(past.body).toEqual({ data: [], meta: { page: 9, per_page: 20, total: 4 } });
    });
  });

  describe('roles', () => {
    it('answers 403 before 422, and 422 before 404', async () => {
      expect((await viewer.post('/api/incidents', {})).status).toBe(403);
      expect((await put(newId(), { colour: 'red' })).status).toBe(422);
    });
  });
});

describe('titles of incidents', () => {
  const MALWARE = {
    incident_type: 'malware',
    source: 'edr',
    raw_data: { threat_name: 'Emotet', hostname: 'WS-7' },
  };
  const DERIVED = 'Malware: Emotet on WS-7';

  /** The audit trail contains only a digest of the text. */
  const viewer = useStarted(() => as(app, 'viewer'));
  const analyst = useStarted(() => as(app, 'analyst'));
  const admin = useStarted(() => as(app, 'admin'));

  const post = (fields: object, headers = {}): Promise<Answer> =>
    analyst.post('/api/incidents', { ...MALWARE, ...fields }, headers);
  const put = (id: string, body: object): Promise<Answer> =>
    analyst.put(`/api/incidents/${id}`, body);
  const create = async (fields: object = {}, headers = {}): Promise<string> => {
    const answer = await post(fields, headers);
    expect(answer.status).toBe(201);
    return answer.body.data.id;
  };
  /** Returns the title. The incident and its item in the list must have the same title. */
  const titleOf = async (id: string): Promise<string> => {
    const { title } = (await viewer.get(`/api/incidents/${id}`)).body.data;
    const { data } = (await viewer.get('/api/incidents?per_page=100')).body;
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

  it.each([
    ['turns the direction of writing', 'A \u202egnp.exe\u2066 ok', 'A gnp.exe ok'],
    ['has several lines and spaces around', ' Emotet again\u2028\r\n"✓" ', 'Emotet again "✓"'],
  ])('are one line of visible characters if a given title %s', async (_, title, shown) => {
    expect(await titleOf(await create({ title }))).toBe(shown);
    const id = await create();
    const { status, body } = await put(id, { title });
    expect([status, body.data.title]).toEqual([200, shown]);
  });

  it.each([
    ['of spaces alone', ' \t\n\u3000'],
    ['too long', 'x'.repeat(201)],
    ['with half of a surrogate pair', '\ud83d'],
  ])('are rejected with 422 if they are %s', async (_, title) => {
    const id = await create();
    for (const answer of [await post({ title }), await put(id, { title })]) {
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.errors[0].field).toBe('title');
    }
    expect(await titleOf(id)).toBe(DERIVED);
  });

  it('change by PUT, with entries in the timeline and the audit trail', async () => {
    const id = await create();
    const answer = await put(id, { title: 'Emotet, second wave' });
    expect([answer.status, answer.body.data.title]).toEqual([200, 'Emotet, second wave']);
    expect(await titleOf(id)).toBe('Emotet, second wave');
    expect((await viewer.get(`/api/incidents/${id}/timeline`)).body.data[1]).toMatchObject({
      event: 'updated',
      summary: `Changed title from "${DERIVED}" to "Emotet, second wave".`,
    });
    const audit = await admin.get(`/api/audit?subject=incident:${id}`);
    const updated = audit.body.data.find(
      ({ action }: { action: string }) => action === 'incident.updated',
    );
    expect(updated.details).toEqual({
      version: 2,
      changed: ['title'],
    });
  });
});
