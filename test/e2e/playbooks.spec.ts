import { readFileSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { PlaybooksService } from '../../src/playbooks/playbooks.service.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { makeKey, type TestKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const QUARANTINE = {
  name: 'quarantine',
  action: 'quarantine_email',
  parameters: { message_id: '{{ incident.raw_data.message_id }}', reason: 'Found by triage.' },
  condition: 'has(incident.raw_data.message_id)',
  approval_level: 'analyst',
  on_error: 'continue',
};

const WHOLE = {
  description: 'Contains phishing.',
  enabled: true,
  triggers: { incident_types: ['phishing'], severities: ['high', 'critical'], sources: ['gw'] },
  auto_run: true,
  trust_verdict: false,
  instructions: 'Invoices come from billing@example.com only.',
  variables: { channel: '#soc', limit: 3, nested: { z: [1, 2, null], a: true } },
  steps: [
    QUARANTINE,
    {
      name: 'tell',
      action: 'notify_channel',
      parameters: { channel: '{{ variables.channel }}', message: 'Done.' },
      on_error: 'stop',
    },
  ],
};

const { schemas } = (
  JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as {
    components: { schemas: Record<string, { properties: Record<string, unknown> }> };
  }
).components;

describe('/api/playbooks', () => {
  let app: TestApp;
  let senior: TestKey;
  let manager: TestKey;
  let analyst: TestKey;
  let names = 0;

  const named = (more: object = {}) => ({ name: `playbook-${(names += 1)}`, ...more });
  const create = (more: object = {}, client: ApiClient = senior.client, headers = {}) =>
    client.request('POST', '/api/playbooks', { body: named(more), headers });
  const created = async (more: object = {}) => (await create(more, manager.client)).body.data;
  const get = async (id: string) =>
    (await analyst.client.request('GET', `/api/playbooks/${id}`)).body.data;
  const put = (id: string, change: object, client = senior.client, headers = {}) =>
    client.request('PUT', `/api/playbooks/${id}`, { body: change, headers });
  const remove = (id: string, headers = {}) =>
    senior.client.request('DELETE', `/api/playbooks/${id}`, { headers });
  const audited = async (id: string) =>
    (await manager.client.request('GET', `/api/audit?subject=playbook:${id}`)).body.data;
  const problemsOf = ({ status, body }: Answer) => [
    status,
    ...(body.error?.details?.errors ?? []).map(
      (one: { field: string; code: string }) => `${one.field}: ${one.code}`,
    ),
  ];

  beforeAll(async () => {
    app = await startTestApp();
    [analyst, senior, manager] = await Promise.all([
      makeKey(app, 'analyst'),
      makeKey(app, 'senior'),
      makeKey(app, 'manager'),
    ]);
  });

  afterAll(() => app.close());

  it('creates a playbook with just what was said', async () => {
    const { name } = named();
    const made = await create({ name, ...WHOLE });
    expect(made.status).toBe(201);
    expect(made.body.data).toEqual({
      id: expect.any(String),
      name,
      version: 1,
      ...WHOLE,
      created_by: senior.name,
      created_at: expect.any(String),
      updated_by: senior.name,
      updated_at: made.body.data.created_at,
    });
    expect(await get(made.body.data.id)).toEqual(made.body.data);
    expect(await get(name)).toEqual(made.body.data);
    expect(await audited(made.body.data.id)).toEqual([
      expect.objectContaining({
        actor: senior.name,
        action: 'playbook.created',
        details: { name, version: 1, enabled: true, auto_run: true, trust_verdict: false },
      }),
    ]);
  });

  it('is tried with every field that a request may have', () => {
    const fieldsOf = (schema: string) => Object.keys(schemas[schema]!.properties).sort();
    expect(Object.keys({ name: '', ...WHOLE }).sort()).toEqual(fieldsOf('PlaybookInput'));
    expect(fieldsOf('PlaybookUpdate')).toEqual(fieldsOf('PlaybookInput'));
    expect(Object.keys(QUARANTINE).sort()).toEqual(fieldsOf('PlaybookStepInput'));
    expect(Object.keys(WHOLE.triggers).sort()).toEqual(fieldsOf('PlaybookTriggersInput'));
  });

  it('keeps parameters and variables in the order in which they were written', async () => {
    const variables = { zebra: 1, ant: 2, middle: { y: 1, b: 2 } };
    const { id } = await created({ variables });
    const { text } = await analyst.client.request('GET', `/api/playbooks/${id}`);
    expect(text).toContain(JSON.stringify(variables));
  });

  it('uses the defaults for what is left out', async () => {
    expect(await created()).toMatchObject({
      enabled: true,
      triggers: { incident_types: [], severities: [], sources: [] },
      auto_run: false,
      trust_verdict: false,
      variables: {},
      steps: [],
    });
    const [step] = (
      await created({
        steps: [{ name: 'look', action: 'lookup_ip', parameters: { ip: '192.0.2.1' } }],
      })
    ).steps;
    expect(step).toEqual({
      name: 'look',
      action: 'lookup_ip',
      parameters: { ip: '192.0.2.1' },
      on_error: 'stop',
    });
    expect((await created({ triggers: { sources: ['a b'] } })).triggers).toEqual({
      incident_types: [],
      severities: [],
      sources: ['a b'],
    });
  });

  describe('asks for a role', () => {
    it.each([
      ['viewer', 'GET', '', 200],
      ['viewer', 'GET', '/NAME', 200],
      ['viewer', 'POST', '/validate', 403],
      ['analyst', 'POST', '/validate', 200],
      ['analyst', 'POST', '', 403],
      ['analyst', 'PUT', '/NAME', 403],
      ['analyst', 'DELETE', '/NAME', 403],
      ['senior', 'POST', '', 201],
      ['senior', 'PUT', '/NAME', 200],
      ['senior', 'DELETE', '/NAME', 200],
    ] as const)('of a %s who sends %s %s', async (role, method, path, status) => {
      const { name } = await created();
      const { client } = await makeKey(app, role);
      const body = method === 'PUT' ? { description: 'New.' } : named();
      const answer = await client.request(method, `/api/playbooks${path.replace('NAME', name)}`, {
        ...(method === 'POST' || method === 'PUT' ? { body } : {}),
      });
      expect(answer.status).toBe(status);
    });
  });

  it.each([
    ['name', { name: undefined }, 'required'],
    ['name', { name: 'Phishing' }, 'matches'],
    ['name', { name: '-phishing' }, 'matches'],
    ['name', { name: 'x'.repeat(64) }, 'matches'],
    ['name', { name: 'phishing\n' }, 'matches'],
    ['name', { name: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' }, 'matches'],
    ['name', { name: '\0' }, 'nul_character'],
    ['name', { name: 7 }, 'is_string'],
    ['description', { description: 'x'.repeat(2_001) }, 'max_length'],
    ['description', { description: null }, 'is_string'],
    ['description', { description: '\ud800' }, 'lone_surrogate'],
    ['enabled', { enabled: 'yes' }, 'is_boolean'],
    ['auto_run', { auto_run: 1 }, 'is_boolean'],
    ['trust_verdict', { trust_verdict: null }, 'is_boolean'],
    ['instructions', { instructions: 'x'.repeat(8_001) }, 'max_length'],
    ['triggers', { triggers: [] }, 'is_json_object'],
    ['triggers', { triggers: null }, 'is_json_object'],
    ['triggers.types', { triggers: { types: [] } }, 'unknown_field'],
    ['triggers.incident_types', { triggers: { incident_types: 'phishing' } }, 'is_array'],
    ['triggers.incident_types', { triggers: { incident_types: ['Phishing'] } }, 'matches'],
    [
      'triggers.incident_types',
      { triggers: { incident_types: Array(51).fill('a') } },
      'array_max_size',
    ],
    ['triggers.severities', { triggers: { severities: ['worst'] } }, 'is_in'],
    ['triggers.sources', { triggers: { sources: [' '] } }, 'matches'],
    ['triggers.sources', { triggers: { sources: ['x'.repeat(256)] } }, 'max_length'],
    ['triggers.sources', { triggers: { sources: [{}] } }, 'is_string'],
    ['variables', { variables: [] }, 'is_json_object'],
    ['variables', { variables: 'channel' }, 'is_json_object'],
    ['steps', { steps: {} }, 'is_array'],
    ['steps', { steps: Array(51).fill(QUARANTINE) }, 'array_max_size'],
    ['steps.0', { steps: ['quarantine'] }, 'is_json_object'],
    ['steps.1', { steps: [QUARANTINE, null] }, 'is_json_object'],
    ['steps.1.name', { steps: [QUARANTINE, { ...QUARANTINE, name: 'Two' }] }, 'matches'],
    ['steps.0.name', { steps: [{ ...QUARANTINE, name: '__proto__' }] }, 'matches'],
    ['steps.0.action', { steps: [{ ...QUARANTINE, action: 'launch_missile' }] }, 'is_in'],
    ['steps.0.action', { steps: [{ ...QUARANTINE, action: 'toString' }] }, 'is_in'],
    ['steps.0.parameters', { steps: [{ ...QUARANTINE, parameters: [] }] }, 'is_json_object'],
    ['steps.0.condition', { steps: [{ ...QUARANTINE, condition: '' }] }, 'is_length'],
    [
      'steps.0.condition',
      { steps: [{ ...QUARANTINE, condition: 'x'.repeat(2_001) }] },
      'is_length',
    ],
    ['steps.0.condition', { steps: [{ ...QUARANTINE, condition: true }] }, 'is_string'],
    ['steps.0.approval_level', { steps: [{ ...QUARANTINE, approval_level: 'none' }] }, 'is_in'],
    ['steps.0.on_error', { steps: [{ ...QUARANTINE, on_error: 'retry' }] }, 'is_in'],
    ['steps.0.code', { steps: [{ ...QUARANTINE, code: 'rm -rf' }] }, 'unknown_field'],
    ['version', { version: 7 }, 'unknown_field'],
    ['id', { id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' }, 'unknown_field'],
  ])('refuses a wrong %s: %j', async (field, more, code) => {
    const wrong = [422, `${field}: ${code}`];
    expect(problemsOf(await create(more))).toEqual(wrong);
    const validated = await analyst.client.request('POST', '/api/playbooks/validate', {
      body: named(more),
    });
    expect(problemsOf(validated)).toEqual(wrong);
  });

  it.each([
    [
      'steps.0.condition',
      { condition: 'has(' },
      'expression',
      /^steps\.0\.condition at character \d+: /,
    ],
    [
      'steps.0.condition',
      { condition: 'incident.raw_data.matches("(a+)+$")' },
      'expression',
      /regular expressions/,
    ],
    [
      'steps.0.condition',
      { condition: 'incident.nothing == 1' },
      'expression',
      /^steps\.0\.condition at character 10: /,
    ],
    ['steps.0.condition', { condition: '"text"' }, 'expression', /true or false/],
    [
      'steps.0.condition',
      { condition: 'has(steps.quarantine.result)' },
      'expression',
      /cannot read what it comes to itself/,
    ],
    [
      'steps.0.parameters.message_id',
      { parameters: { message_id: '{{ 1 + }}' } },
      'expression',
      /./,
    ],
    [
      'steps.0.parameters.message_id',
      { parameters: { message_id: '{{ verdict.category }}' } },
      'expression',
      /verdict/,
    ],
    ['steps.0.parameters.message_id', { parameters: {} }, 'playbook', /required/],
    [
      'steps.0.parameters.host_id',
      { parameters: { message_id: '1', host_id: 'a' } },
      'playbook',
      /./,
    ],
    ['steps.0.parameters.message_id', { parameters: { message_id: 7 } }, 'playbook', /string/],
    ['steps.0.name', { name: 'in' }, 'playbook', /in\b/],
  ])(
    'names the step and the place of what is wrong in %s: %j',
    async (field, change, code, message) => {
      const answer = await create({ steps: [{ ...QUARANTINE, ...change }] });
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.errors).toEqual([
        { field, code, message: expect.stringMatching(message) },
      ]);
    },
  );

  it('refuses a step that reads a later one, a name that is there twice, and a wrong variable', async () => {
    const later = { ...QUARANTINE, condition: 'has(steps.tell.result)' };
    expect(problemsOf(await create({ ...WHOLE, steps: [later, WHOLE.steps[1]] }))).toEqual([
      422,
      'steps.0.condition: expression',
    ]);
    expect(problemsOf(await create({ steps: [QUARANTINE, QUARANTINE] }))).toEqual([
      422,
      'steps.1.name: playbook',
    ]);
    expect(problemsOf(await create({ variables: { 'Not a name': 1 } }))).toEqual([
      422,
      'variables.Not a name: playbook',
    ]);
  });

  it('looks at the whole playbook when a part of it changes', async () => {
    const { id } = await created(WHOLE);
    expect(problemsOf(await put(id, { variables: {} }))).toEqual([
      422,
      'steps.1.parameters.channel: expression',
    ]);
    expect((await get(id)).version).toBe(1);
  });

  it('refuses a playbook that is too large as a whole', async () => {
    const variables = { text: 'x'.repeat(65_536) };
    expect(problemsOf(await create({ variables }))).toEqual([422, ': playbook']);
  });

  it('refuses keys that reach a prototype, and keys that come twice', async () => {
    for (const [inside, code] of [
      ['"__proto__": 1', 'forbidden_key'],
      ['"a": 1, "a": 2', 'duplicate_key'],
    ]) {
      const body = `{"name": "mean", "variables": {${inside}}}`;
      const headers = { 'content-type': 'application/json' };
      const answer = await senior.client.request('POST', '/api/playbooks', { body, headers });
      expect(problemsOf(answer)).toEqual([422, expect.stringMatching(`: ${code}$`)]);
    }
  });

  it('lets one of many creations of a name at once have it', async () => {
    const twin = named();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(twin)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body.error).toMatchObject({ code: 'conflict' });
    expect(await audited((await get(twin.name)).id)).toHaveLength(1);
  });

  it('creates once when a request is repeated with its Idempotency-Key', async () => {
    const body = named(WHOLE);
    const headers = { 'idempotency-key': `once-${body.name}` };
    const answers = [
      await create(body, senior.client, headers),
      await create(body, senior.client, headers),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[1]!.text).toBe(answers[0]!.text);
    expect(answers[1]!.headers['idempotency-replayed']).toBe('true');
  });

  it('checks without saving', async () => {
    const body = named(WHOLE);
    const answer = await analyst.client.request('POST', '/api/playbooks/validate', { body });
    expect([answer.status, answer.body.data]).toEqual([200, { valid: true }]);
    expect((await senior.client.request('GET', `/api/playbooks/${body.name}`)).status).toBe(404);
  });

  describe('GET', () => {
    it('lists page by page, by name and by age', async () => {
      const made = [await created(), await created(), await created()];
      const list = async (query: string) =>
        (await analyst.client.request('GET', `/api/playbooks?${query}`)).body;
      const names = (data: { name: string }[]) => data.map(({ name }) => name);
      const newest = await list('per_page=2');
      expect(newest.data).toEqual([made[2], made[1]]);
      const { data, meta } = await list('per_page=100&sort=name');
      expect(meta.total).toBe(data.length);
      expect(names(data)).toEqual(names(data).sort());
      expect(names((await list('per_page=100&sort=-name')).data)).toEqual(names(data).reverse());
      expect((await list('per_page=100&sort=created_at')).data.slice(-3)).toEqual(made);
      expect(await list('page=9999')).toMatchObject({ data: [], meta: { total: data.length } });
    });

    it('filters by name, by whether it is enabled, and by whether it runs by itself', async () => {
      const off = await created({ enabled: false, auto_run: true });
      const on = await created({ enabled: true });
      const ids = async (query: string): Promise<string[]> =>
        (await analyst.client.request('GET', `/api/playbooks?per_page=100&${query}`)).body.data.map(
          ({ id }: { id: string }) => id,
        );
      expect(await ids(`name=${on.name}`)).toEqual([on.id]);
      expect(await ids('enabled=false')).toContain(off.id);
      expect(await ids('enabled=false')).not.toContain(on.id);
      expect(await ids('enabled=true&auto_run=false')).toContain(on.id);
      expect(await ids('enabled=true&auto_run=true')).not.toContain(off.id);
    });

    it.each(['enabled=yes', 'enabled=', 'auto_run=1', 'name=A', 'sort=version', 'owner=me'])(
      'refuses the list with %s',
      async (query) => {
        const answer = await analyst.client.request('GET', `/api/playbooks?${query}`);
        expect(answer.status).toBe(422);
      },
    );

    it.each([
      'nothing',
      'NOTHING',
      '%00',
      '..%2f',
      '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
      '%E2%80%AE',
    ])('does not find %s', async (id) => {
      const answer = await analyst.client.request('GET', `/api/playbooks/${id}`);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
    });
  });

  describe('PUT', () => {
    it('changes what is given, keeps the rest, and makes a version', async () => {
      const before = await created(WHOLE);
      const changed = await put(before.name, { steps: [QUARANTINE], enabled: false });
      expect(changed.status).toBe(200);
      expect(changed.headers.etag).toBe(`"${before.id}-2"`);
      expect(changed.body.data).toEqual({
        ...before,
        version: 2,
        steps: [QUARANTINE],
        enabled: false,
        updated_by: senior.name,
        updated_at: expect.any(String),
      });
      expect(await get(before.id)).toEqual(changed.body.data);
      const [entry] = await audited(before.id);
      expect(entry).toMatchObject({
        action: 'playbook.updated',
        details: { version: 2, fields: ['enabled', 'steps'] },
      });
    });

    it('makes no version of triggers that name the same more than once', async () => {
      const before = await created(WHOLE);
      const { incident_types, severities, sources } = WHOLE.triggers;
      const twice = (list: string[]) => [...list, ...list];
      const triggers = {
        incident_types: twice(incident_types),
        severities: [...severities, severities[0]],
        sources: twice(sources),
      };
      expect((await put(before.id, { triggers })).body.data).toEqual(before);
      expect((await created({ triggers })).triggers).toEqual(WHOLE.triggers);
    });

    it('makes no version of what changes nothing', async () => {
      const before = await created(WHOLE);
      const { description, triggers, steps, variables } = WHOLE;
      const same = await put(before.id, {
        name: before.name,
        description,
        triggers,
        steps,
        variables,
      });
      expect([same.status, same.body.data]).toEqual([200, before]);
      expect(await audited(before.id)).toHaveLength(1);
    });

    it('takes away by an empty text what a playbook may be without', async () => {
      const { id } = await created(WHOLE);
      const { data } = (await put(id, { description: '', instructions: '' })).body;
      expect(data).not.toHaveProperty('description');
      expect(data).not.toHaveProperty('instructions');
      expect((await put(id, { description: '' })).body.data.version).toBe(2);
    });

    it('renames, unless the name is taken', async () => {
      const [one, other] = [await created(), await created()];
      const renamed = await put(one.id, { name: `${one.name}-new` });
      expect(renamed.body.data).toMatchObject({ id: one.id, name: `${one.name}-new`, version: 2 });
      expect((await put(one.id, { name: other.name })).body.error.code).toBe('conflict');
      expect((await audited(one.id))[0].details).toMatchObject({ name_before: one.name });
    });

    it('refuses what changes nothing, what is unknown, and what is not there', async () => {
      const { id } = await created();
      expect(problemsOf(await put(id, {}))).toEqual([422, ': not_empty']);
      expect(problemsOf(await put(id, { version: 9 }))).toEqual([422, 'version: unknown_field']);
      expect(problemsOf(await put(id, { steps: null }))).toEqual([422, ': not_empty']);
      expect((await put('not-there', { enabled: false })).status).toBe(404);
    });

    it('stops a playbook that could not be saved any more', async () => {
      const { id } = await created({ ...WHOLE, auto_run: true });
      const [before] = await app.nest
        .get(DataSource)
        .query('select definition from playbooks where id = $1', [id]);
      const steps = [{ ...QUARANTINE, condition: 'what an earlier release took' }];
      const definition = JSON.stringify({ ...before.definition, steps });
      await app.nest
        .get(DataSource)
        .query('update playbooks set definition = $2 where id = $1', [id, definition]);
      expect(problemsOf(await put(id, { instructions: 'New.' }))).toEqual([
        422,
        'steps.0.condition: expression',
      ]);
      const stopped = await put(id, { enabled: false, auto_run: false, description: 'Broken.' });
      expect([stopped.status, stopped.body.data.version]).toEqual([200, 2]);
    });

    const etagOf = async (id: string) =>
      (await analyst.client.request('GET', `/api/playbooks/${id}`)).headers.etag;

    it('changes only the version that If-Match names', async () => {
      const { id } = await created();
      const etag = await etagOf(id);
      expect(etag).toBe(`"${id}-1"`);
      const first = await put(id, { enabled: false }, senior.client, { 'if-match': etag });
      const stale = await put(id, { enabled: true }, senior.client, { 'if-match': etag });
      expect([first.status, stale.status]).toEqual([200, 412]);
      expect(stale.headers.etag).toBe(`"${id}-2"`);
      expect(stale.body.error.details).toMatchObject({
        changed_by: senior.name,
        changed_at: (await get(id)).updated_at,
        fields: ['enabled'],
        etag: `"${id}-2"`,
        current: { enabled: false },
      });
      expect((await remove(id, { 'if-match': etag })).status).toBe(412);
      expect((await remove(id, { 'if-match': `"${id}-2"` })).status).toBe(200);
    });

    it('refuses the ETag of the playbook that had the name before', async () => {
      const { name } = await created();
      const etag = await etagOf(name);
      await remove(name);
      const next = await created({ name });
      expect(
        (await put(name, { enabled: false }, senior.client, { 'if-match': etag })).status,
      ).toBe(412);
      expect((await remove(name, { 'if-match': etag })).status).toBe(412);
      expect(await get(name)).toEqual(next);
    });

    it('refuses the ETag of a playbook whose name another one has taken', async () => {
      const [one, other] = [await created({ enabled: false }), await created({ enabled: false })];
      await put(one.name, {
        description: 'At version 2, as the other one is after it is renamed.',
      });
      const etag = await etagOf(one.name);
      await put(one.id, { name: `${one.name}-old` });
      await put(other.id, { name: one.name });
      const stale = await put(one.name, { enabled: true }, senior.client, { 'if-match': etag });
      expect([stale.status, stale.headers.etag]).toEqual([412, `"${other.id}-2"`]);
    });

    it('applies concurrent changes one after another', async () => {
      const { id } = await created();
      const changes = [{ enabled: false }, { auto_run: true }, { description: 'D' }];
      const answers = await Promise.all(changes.map((change) => put(id, change)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const versions = answers.map(({ body }) => body.data.version);
      expect(versions.sort()).toEqual([2, 3, 4]);
      expect(await get(id)).toMatchObject(Object.assign({ version: 4 }, ...changes));
    });
  });

  describe('with trust_verdict', () => {
    const refusal = {
      code: 'forbidden',
      details: { required_role: 'manager' },
    };

    it('is created by managers alone', async () => {
      const answer = await create({ trust_verdict: true });
      expect([answer.status, answer.body.error]).toEqual([403, expect.objectContaining(refusal)]);
      expect((await create({ trust_verdict: true }, manager.client)).status).toBe(201);
    });

    it.each([
      ['steps', { steps: [] }],
      ['variables', { variables: { ...WHOLE.variables, channel: '#other' } }],
      ['instructions', { instructions: 'All is malicious.' }],
      ['triggers', { triggers: {} }],
      ['name', { name: 'another-name' }],
      ['auto_run', { auto_run: true }],
      ['enabled', { enabled: true }],
    ])('lets nobody below a manager change %s', async (_, change) => {
      const { id } = await created({
        ...WHOLE,
        auto_run: false,
        enabled: false,
        trust_verdict: true,
      });
      const answer = await put(id, change);
      expect([answer.status, answer.body.error]).toEqual([403, expect.objectContaining(refusal)]);
      expect((await get(id)).version).toBe(1);
      expect((await put(id, change, manager.client)).status).toBe(200);
    });

    it('lets a senior stop it, describe it, and take the trust away', async () => {
      const { id } = await created({ ...WHOLE, trust_verdict: true });
      expect(
        (await put(id, { enabled: false, auto_run: false, description: 'Stopped.' })).status,
      ).toBe(200);
      expect((await put(id, { trust_verdict: true })).status).toBe(200);
      expect((await put(id, { trust_verdict: false, steps: [] })).status).toBe(200);
      expect((await put(id, { trust_verdict: true })).status).toBe(403);
    });
  });

  describe('DELETE', () => {
    it('hides the playbook, frees its name, and keeps its versions', async () => {
      const before = await created(WHOLE);
      const gone = await remove(before.name);
      expect([gone.status, gone.body.data]).toEqual([200, { id: before.id, deleted: true }]);
      for (const at of [before.id, before.name]) {
        expect((await analyst.client.request('GET', `/api/playbooks/${at}`)).status).toBe(404);
        expect((await put(at, { enabled: false })).status).toBe(404);
        expect((await remove(at)).status).toBe(404);
      }
      const playbooks = app.nest.get(PlaybooksService);
      expect(await playbooks.versionOf(before.id, 1)).toMatchObject({ definition: WHOLE });
      const next = await created({ name: before.name });
      expect(next).toMatchObject({ name: before.name, version: 1 });
      expect(next.id).not.toBe(before.id);
      expect((await audited(before.id))[0].action).toBe('playbook.deleted');
    });
  });

  it('never changes a version', async () => {
    const { id } = await created(WHOLE);
    await put(id, { steps: [] });
    const playbooks = app.nest.get(PlaybooksService);
    expect(await playbooks.versionOf(id, 1)).toMatchObject({ definition: WHOLE });
    expect(await playbooks.versionOf(id, 2)).toMatchObject({ definition: { steps: [] } });
    expect(await playbooks.versionOf(id, 3)).toBeUndefined();
    const { manager: database } = app.nest.get(DataSource);
    for (const statement of [
      `update playbook_versions set definition = '{}'`,
      'delete from playbook_versions',
      'truncate playbook_versions cascade',
    ]) {
      await expect(database.query(statement)).rejects.toThrow(/cannot change/);
    }
  });

  it('lists the versions, also of a deleted playbook by its id', async () => {
    const { id, name } = await created(WHOLE);
    await put(id, { name: `${name}-new`, steps: [] }, manager.client);
    const versions = (at: string, query = '') =>
      analyst.client.request('GET', `/api/playbooks/${at}/versions${query}`);
    const { body } = await versions(`${name}-new`);
    expect(body.meta.total).toBe(2);
    expect(body.data).toEqual([
      expect.objectContaining({ id, version: 2, steps: [], changed_by: manager.name }),
      expect.objectContaining({ id, name, version: 1, ...WHOLE }),
    ]);
    expect((await versions(id, '?sort=version&per_page=1')).body.data[0].version).toBe(1);
    await remove(id);
    expect((await versions(id)).body.data).toEqual(body.data);
    expect((await versions(`${name}-new`)).status).toBe(404);
    expect((await versions('0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e')).status).toBe(404);
    expect((await versions(id, '?sort=name')).status).toBe(422);
  });

  it('tells which playbooks run by themselves for an incident', async () => {
    const wanted = await created(WHOLE);
    const any = await created({ auto_run: true });
    await created({ ...WHOLE, auto_run: false });
    await created({ ...WHOLE, enabled: false });
    const gone = await created(WHOLE);
    await remove(gone.id);
    const playbooks = app.nest.get(PlaybooksService);
    const transactions = app.nest.get(Transactions);
    const found = async (type: string, severity: 'low' | 'high', source: string) =>
      (await transactions.run((tx) => playbooks.autoRunsFor(tx, { type, severity, source })))
        .map(({ id }) => id)
        .filter((id) => [wanted.id, any.id, gone.id].includes(id));
    expect(await found('phishing', 'high', 'gw')).toEqual([wanted.id, any.id]);
    for (const [type, severity, source] of [
      ['malware', 'high', 'gw'],
      ['phishing', 'low', 'gw'],
      ['phishing', 'high', 'GW'],
    ] as const) {
      expect(await found(type, severity, source)).toEqual([any.id]);
    }
  });
});
