import { DataSource } from 'typeorm';
import { type ApiClient, problemsOf } from '../support/api-client.js';
import { makeKey, type TestKey } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() => startTestApp());

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

describe('/api/playbooks', () => {
  let senior: TestKey;
  let manager: TestKey;
  let analyst: TestKey;
  let names = 0;

  const named = (more: object = {}) => ({ name: `playbook-${(names += 1)}`, ...more });
  const create = (more: object = {}, client: ApiClient = senior.client, headers = {}) =>
    client.post('/api/playbooks', named(more), headers);
  const created = async (more: object = {}) => (await create(more, manager.client)).body.data;
  const get = async (id: string) => (await analyst.client.get(`/api/playbooks/${id}`)).body.data;
  const put = (id: string, change: object, client = senior.client, headers = {}) =>
    client.put(`/api/playbooks/${id}`, change, headers);
  const remove = (id: string, headers = {}) =>
    senior.client.delete(`/api/playbooks/${id}`, headers);
  const audited = async (id: string) =>
    (await manager.client.get(`/api/audit?subject=playbook:${id}`)).body.data;

  beforeAll(async () => {
    [analyst, senior, manager] = await Promise.all([
      makeKey(app, 'analyst'),
      makeKey(app, 'senior'),
      makeKey(app, 'manager'),
    ]);
  });

  it('creates a playbook with the given fields', async () => {
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

  it('keeps parameters and variables in the order in which they were written', async () => {
    const variables = { zebra: 1, ant: 2, middle: { y: 1, b: 2 } };
    const { id } = await created({ variables });
    const { text } = await analyst.client.get(`/api/playbooks/${id}`);
    expect(text).toContain(JSON.stringify(variables));
  });

  it('uses the defaults of absent fields', async () => {
    expect(await created()).toMatchObject({
      enabled: true,
      triggers: { incident_types: [], severities: [], sources: [] },
      auto_run: false,
      trust_verdict: false,
      variables: {},
      steps: [],
    });
    const step = { name: 'look', action: 'lookup_ip', parameters: { ip: '192.0.2.1' } };
    expect((await created({ steps: [step] })).steps).toEqual([{ ...step, on_error: 'stop' }]);
    expect((await created({ triggers: { sources: ['a b'] } })).triggers).toEqual({
      incident_types: [],
      severities: [],
      sources: ['a b'],
    });
  });

  it.each([
    ['name', { name: undefined }, 'required'],
    ['name', { name: '\0' }, 'nul_character'],
    ['triggers.types', { triggers: { types: [] } }, 'unknown_field'],
    ['triggers.severities', { triggers: { severities: ['worst'] } }, 'is_in'],
    ['steps', { steps: Array(51).fill(QUARANTINE) }, 'array_max_size'],
    ['steps.0.on_error', { steps: [{ ...QUARANTINE, on_error: 'retry' }] }, 'is_in'],
  ])('rejects the wrong field %s: %j', async (field, more, code) => {
    const wrong = [422, `${field}: ${code}`];
    expect(problemsOf(await create(more))).toEqual(wrong);
    const validated = await analyst.client.post('/api/playbooks/validate', named(more));
    expect(problemsOf(validated)).toEqual(wrong);
  });

  it('checks the whole playbook if a part of it changes', async () => {
    const { id } = await created(WHOLE);
    expect(problemsOf(await put(id, { variables: {} }))).toEqual([
      422,
      'steps.1.parameters.channel: expression',
    ]);
    expect((await get(id)).version).toBe(1);
  });

  it('checks a playbook without saving the playbook', async () => {
    const body = named(WHOLE);
    const answer = await analyst.client.post('/api/playbooks/validate', body);
    expect([answer.status, answer.body.data]).toEqual([200, { valid: true }]);
    expect((await senior.client.get(`/api/playbooks/${body.name}`)).status).toBe(404);
  });

  describe('GET', () => {
    it('filters by name, enabled and auto_run', async () => {
      const off = await created({ enabled: false, auto_run: true });
      const on = await created({ enabled: true });
      const ids = async (query: string): Promise<string[]> =>
        (await analyst.client.get(`/api/playbooks?per_page=100&${query}`)).body.data.map(
          ({ id }: { id: string }) => id,
        );
      expect(await ids(`name=${on.name}`)).toEqual([on.id]);
      expect(await ids('enabled=false')).toContain(off.id);
      expect(await ids('enabled=false')).not.toContain(on.id);
      expect(await ids('enabled=true&auto_run=false')).toContain(on.id);
      expect(await ids('enabled=true&auto_run=true')).not.toContain(off.id);
    });
  });

  describe('PUT', () => {
    it('changes the given fields and creates a version', async () => {
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

    it('creates no version if nothing changes', async () => {
      const before = await created(WHOLE);
      const { description, triggers, steps, variables } = WHOLE;
      const body = { name: before.name, description, triggers, steps, variables };
      const same = await put(before.id, body);
      expect([same.status, same.body.data]).toEqual([200, before]);
      expect(await audited(before.id)).toHaveLength(1);
    });

    it('renames a playbook, unless the name is taken', async () => {
      const [one, other] = [await created(), await created()];
      const renamed = await put(one.id, { name: `${one.name}-new` });
      expect(renamed.body.data).toMatchObject({ id: one.id, name: `${one.name}-new`, version: 2 });
      expect((await put(one.id, { name: other.name })).body.error.code).toBe('conflict');
      expect((await audited(one.id))[0].details).toMatchObject({ name_before: one.name });
    });

    it('rejects an empty change, an unknown field, and an unknown playbook', async () => {
      const { id } = await created();
      expect(problemsOf(await put(id, {}))).toEqual([422, ': not_empty']);
      expect(problemsOf(await put(id, { version: 9 }))).toEqual([422, 'version: unknown_field']);
      expect(problemsOf(await put(id, { steps: null }))).toEqual([422, ': not_empty']);
      expect((await put('not-there', { enabled: false })).status).toBe(404);
    });

    const etagOf = async (id: string) =>
      (await analyst.client.get(`/api/playbooks/${id}`)).headers.etag;

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

    it('rejects the ETag of the playbook that had the name before', async () => {
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
  });

  describe('with trust_verdict', () => {
    const refusal = {
      code: 'forbidden',
      details: { required_role: 'manager' },
    };

    it('lets only managers create a playbook', async () => {
      const answer = await create({ trust_verdict: true });
      expect([answer.status, answer.body.error]).toEqual([403, expect.objectContaining(refusal)]);
      expect((await create({ trust_verdict: true }, manager.client)).status).toBe(201);
    });

    it.each([
      ['steps', { steps: [] }],
      ['enabled', { enabled: true }],
    ])('rejects a change of %s by a senior', async (_, change) => {
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

    it('responds with 403 before 422, and with 422 before 412', async () => {
      const steps = [{ ...QUARANTINE, condition: 'incident.unknown' }];
      expect((await create({ trust_verdict: true, steps })).status).toBe(403);
      const { id } = await created({ trust_verdict: true });
      expect((await put(id, { steps })).status).toBe(403);
      const stale = { 'if-match': `"${id}-9"` };
      expect((await put(id, { steps }, manager.client, stale)).status).toBe(422);
    });

    it('lets a senior disable the playbook, describe it, and set trust_verdict to false', async () => {
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
    it('hides the playbook and frees its name', async () => {
      const before = await created(WHOLE);
      const gone = await remove(before.name);
      expect([gone.status, gone.body.data]).toEqual([200, { id: before.id, deleted: true }]);
      for (const at of [before.id, before.name]) {
        expect((await analyst.client.get(`/api/playbooks/${at}`)).status).toBe(404);
        expect((await put(at, { enabled: false })).status).toBe(404);
        expect((await remove(at)).status).toBe(404);
      }
      const next = await created({ name: before.name });
      expect(next).toMatchObject({ name: before.name, version: 1 });
      expect(next.id).not.toBe(before.id);
      expect((await audited(before.id))[0].action).toBe('playbook.deleted');
    });
  });

  it('lists the versions, even of a deleted playbook by its id, and never changes a version', async () => {
    const { id, name } = await created(WHOLE);
    await put(id, { name: `${name}-new`, steps: [] }, manager.client);
    const versions = (at: string, query = '') =>
      analyst.client.get(`/api/playbooks/${at}/versions${query}`);
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
    const database = app.nest.get(DataSource);
    for (const statement of [
      `update playbook_versions set definition = '{}'`,
      'delete from playbook_versions',
      'truncate playbook_versions cascade',
    ]) {
      await expect(database.query(statement)).rejects.toThrow(/cannot change/);
    }
  });
});
