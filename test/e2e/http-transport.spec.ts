import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { ApiClient } from '../support/api-client.js';
import { as, makeKey } from '../support/principals.js';
import { packedAnswer } from '../support/raw-http.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() => startTestApp());

const INCIDENT = { incident_type: 'phishing', severity: 'low', source: 'test', raw_data: { a: 1 } };

describe('Responses', () => {
  let admin: ApiClient;
  let key: string;

  beforeAll(async () => {
    ({ client: admin, key } = await makeKey(app, 'admin'));
    for (let count = 0; count < 20; count += 1) await create('/api/incidents', INCIDENT);
  });

  const create = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await admin.post(path, body, headers);
    expect([answer.status, answer.body.error]).toEqual([201, undefined]);
    return answer;
  };

  /** Returns the body as bytes. The client of the other tests decodes it as text. */
  const bytesOf = (method: string, path: string, headers: Record<string, string>) =>
    packedAnswer(`${app.url}${path}`, { authorization: `Bearer ${key}`, ...headers }, method);

  describe('with an ETag', () => {
    const read = (path: string, tag: string, method = 'GET') =>
      admin.request(method, path, { headers: { 'if-none-match': tag } });

    it.each([
      ['/api/incidents', INCIDENT],
      ['/api/playbooks', { name: 'tagged', steps: [] }],
    ])('are 304 without a body if the caller has the current version: %s', async (path, body) => {
      const address = `${path}/${(await create(path, body)).body.data.id}`;
      const { etag } = (await admin.get(address)).headers;
      for (const tag of [etag!, `W/${etag}`, `"other", ${etag}`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await read(address, tag, method);
          expect([answer.status, answer.text, answer.headers.etag]).toEqual([304, '', etag]);
          expect(answer.headers['content-type']).toBeUndefined();
        }
      }
      expect((await read(address, '"other"')).status).toBe(200);
      expect((await read(`${path}/00000000-0000-7000-8000-000000000000`, '*')).status).toBe(404);
    });

    it('are 200 again after a change', async () => {
      const { body } = await create('/api/incidents', INCIDENT);
      const address = `/api/incidents/${body.data.id}`;
      const { etag } = (await admin.get(address)).headers;
      const changed = await admin.put(
        address,
        { severity: 'high' },
        { 'if-match': etag!, 'if-none-match': etag! },
      );
      expect(changed.status).toBe(200);
      const again = await read(address, etag!);
      expect([again.status, again.body.data.severity]).toEqual([200, 'high']);
    });
  });

  describe('to a creation', () => {
    it.each([
      ['/api/incidents', INCIDENT],
      ['/api/users', { username: 'ada', password: 'correct horse battery', role: 'viewer' }],
      ['/api/connectors', { name: 'located', type: 'sandbox', config: {} }],
      ['/api/webhooks', { source: 'located', secret: 'a secret of the sender, long enough' }],
    ])('name the address of the new resource in Location: %s', async (path, body) => {
      const headers = { 'idempotency-key': `located-${path}` };
      const answer = await create(path, body, headers);
      const { location } = answer.headers;
      const read = await admin.get(location!);
      expect(read.status).toBe(200);
      const of = path === '/api/webhooks' ? 'source' : 'id';
      expect(read.body.data[of]).toBe(answer.body.data[of]);
      const repeated = await create(path, body, headers);
      expect([repeated.headers.location, repeated.headers['idempotency-replayed']]).toEqual([
        location,
        'true',
      ]);
    });
  });

  describe('and compression', () => {
    const LIST = '/api/incidents?per_page=20';
    const plain = async (path: string) => (await admin.get(path)).text;

    it('are compressed for a caller that accepts gzip', async () => {
      const text = await plain(LIST);
      for (const method of ['GET', 'HEAD']) {
        const accepted = { 'accept-encoding': 'br, gzip' };
        const { headers, bytes } = await bytesOf(method, LIST, accepted);
        expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
        expect(Number(headers['content-length'])).toBeLessThan(text.length / 3);
        if (method === 'GET') expect(gunzipSync(bytes).toString()).toBe(text);
      }
    });

    it('are not compressed for a caller that does not accept compression', async () => {
      const { headers, bytes } = await bytesOf('GET', LIST, { 'accept-encoding': 'gzip;q=0' });
      expect([headers['content-encoding'], headers.vary]).toEqual([undefined, 'accept-encoding']);
      expect(bytes.toString()).toBe(await plain(LIST));
    });

    it('are not compressed if they are small, are errors or streams, or have a strong ETag', async () => {
      const raw_data = { text: 'x'.repeat(5_000) };
      const { body } = await create('/api/incidents', { ...INCIDENT, raw_data });
      for (const path of [
        '/api/me',
        '/api/incidents?nonsense=1',
        `/api/incidents/${body.data.id}`,
        '/api/audit/export',
      ]) {
        const { headers } = await bytesOf('GET', path, { 'accept-encoding': 'br, gzip' });
        expect([path, headers['content-encoding']]).toEqual([path, undefined]);
      }
    });

    it('are not compressed for POST, because only responses to POST contain secrets', async () => {
      const answer = await admin.post(
        '/api/api-keys',
        { name: 'secret', role: 'viewer' },
        { 'accept-encoding': 'br, gzip' },
      );
      expect([answer.status, answer.headers['content-encoding']]).toEqual([201, undefined]);
      expect(answer.body.data.key).toMatch(/^its_/);
    });
  });
});

describe('null in a body', () => {
  interface Schema {
    readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly required?: readonly string[];
  }

  const { schemas } = (
    JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as {
      components: { schemas: Readonly<Record<string, Schema>> };
    }
  ).components;

  /** Returns an object with null for every optional field of the schema. */
  const nulls = (schema: string): object => {
    const { properties, required = [] } = schemas[schema]!;
    const fields = Object.keys(properties).filter((field) => !required.includes(field));
    return Object.fromEntries(fields.map((field) => [field, null]));
  };

  /** Resources with a value in each list and object, each with a change of one field. */
  const RESOURCES = [
    {
      update: 'IncidentUpdate',
      path: '/api/incidents',
      body: { incident_type: 'phishing', source: 'gateway', title: 'Invoice fraud' },
      before: { recommended_actions: ['block_sender'], severity: 'high' },
      change: { title: 'CEO fraud' },
    },
    {
      update: 'PlaybookUpdate',
      path: '/api/playbooks',
      body: {
        name: 'null-in-bodies',
        triggers: { incident_types: ['phishing'] },
        variables: { channel: '#soc' },
        steps: [{ name: 'ticket', action: 'create_ticket', parameters: { title: 'Look' } }],
      },
      change: { description: 'For what people report.' },
    },
    {
      update: 'ConnectorUpdate',
      path: '/api/connectors',
      body: { name: 'Sandbox of a team', type: 'sandbox', config: { latency_ms: 1 } },
      change: { priority: 7 },
    },
    {
      update: 'NotificationChannelUpdate',
      path: '/api/notification-channels',
      body: {
        name: 'Null in bodies',
        type: 'slack',
        config: { webhook_url: 'https://hooks.slack.com/services/T1/B2/c3' },
        events: ['incident.created'],
      },
      change: { min_severity: 'high' },
    },
    {
      update: 'UserUpdate',
      path: '/api/users',
      body: { username: 'null.updates', password: 'orchid-Kayak7-lantern', role: 'viewer' },
      change: { role: 'analyst' },
    },
    {
      update: 'WebhookSourceUpdate',
      path: '/api/webhooks',
      key: 'source',
      body: {
        source: 'null-in-bodies',
        secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd',
        severity_mapping: { urgent: 'critical' },
        type_mapping: { mail: 'phishing' },
      },
      change: { auto_triage: true },
    },
  ];
  const admin = useStarted(() => as(app, 'admin'));

  const put = (path: string, body: object) => admin.put(path, body);
  const read = async (path: string) => (await admin.get(path)).body.data;

  const created = async ({ path, key = 'id', body, before }: (typeof RESOURCES)[number]) => {
    const made = await admin.post(path, body);
    expect(made.status).toBe(201);
    const address = `${path}/${made.body.data[key]}`;
    if (before) expect((await put(address, before)).status).toBe(200);
    return address;
  };

  describe.each(RESOURCES)('for $update', (resource) => {
    const { update, change } = resource;

    it('keeps the stored value of its field, and other fields change', async () => {
      const address = await created(resource);
      const before = await read(address);
      expect((await put(address, { ...nulls(update), ...change })).status).toBe(200);
      const after = await read(address);
      const { updated_at, version } = after;
      expect(after).toEqual({ ...before, ...change, updated_at, ...(version && { version }) });
    });

    it('counts as an absent field, so that a body of nulls is rejected as empty', async () => {
      const [address] = (await read(resource.path)).map(
        (one: Record<string, string>) => `${resource.path}/${one[resource.key ?? 'id']}`,
      );
      const { status, body } = await put(address, nulls(update));
      expect([status, body.error.details.errors[0].code]).toEqual([422, 'not_empty']);
    });

    it('is documented for each field that may be left out', () => {
      const { properties } = schemas[update]!;
      const silent = Object.keys(nulls(update)).filter((field) => {
        const { nullable, 'x-nullable': nullableReference } = properties[field]!;
        return !(nullable ?? nullableReference);
      });
      expect(silent).toEqual([]);
    });
  });

  it.each([
    [
      '/api/notification-channels',
      'name',
      {
        type: 'slack',
        config: { webhook_url: 'https://hooks.slack.com/services/T1/B2/c3' },
      },
      { events: null, min_severity: null },
      'events',
    ],
    [
      '/api/webhooks',
      'source',
      { secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd', preset: 'wazuh' },
      { severity_mapping: null, type_mapping: null, enabled: null },
      'severity_mapping',
    ],
  ])('means the default in a new resource: %s', async (path, name, given, unset, field) => {
    const valueOf = async (body: object) => {
      const made = await admin.post(path, { ...given, ...body });
      expect(made.status).toBe(201);
      return made.body.data[field] as object;
    };
    const byDefault = await valueOf({ [name]: 'default' });
    expect(Object.keys(byDefault)).not.toEqual([]);
    expect(await valueOf({ [name]: 'with-nulls', ...unset })).toEqual(byDefault);
  });
});

describe('lists that are sorted by several fields', () => {
  interface Parameter {
    readonly $ref?: string;
    readonly name: string;
    readonly schema: { readonly type?: string; readonly items?: { readonly $ref: string } };
  }

  const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'));

  /** Lists with several sort fields, and their fields. */
  const LISTS = Object.entries<Record<string, { parameters?: Parameter[] }>>(document.paths)
    .flatMap(([path, { get }]) => (get?.parameters ?? []).map((sort) => ({ path, sort })))
    .filter(({ sort }) => sort.name === 'sort' && sort.schema.type === 'array')
    .map(({ path, sort }) => ({
      path: path.replace('{id}', '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e'),
      words: document.components.schemas[sort.schema.items!.$ref.split('/').at(-1)!]
        .enum as string[],
    }));

  /**
   * Lists of configured resources. Each entry has the path, the table, the field with the name, and the other fields of
   * a new resource.
   */
  const SET_UP: readonly [string, string, string, object][] = [
    ['/api/users', 'users', 'username', { password: 'a long pass phrase', role: 'viewer' }],
    ['/api/api-keys', 'api_keys', 'name', { role: 'viewer' }],
    ['/api/connectors', 'connectors', 'name', { type: 'sandbox', config: {} }],
    [
      '/api/notification-channels',
      'notification_channels',
      'name',
      {
        type: 'slack',
        config: { webhook_url: 'https://hooks.example.com/services/T/B/x' },
        events: ['incident.created'],
      },
    ],
    ['/api/playbooks', 'playbooks', 'name', { steps: [] }],
    ['/api/webhooks', 'webhook_sources', 'source', { secret: 'sixteen characters' }],
  ];

  const NAMES = ['delta', 'alpha', 'echo', 'bravo', 'charlie'];
  const admin = useStarted(() => as(app, 'admin'));

  it.each(LISTS)('accept only a list of up to three of their fields: $path', async (list) => {
    const [first, reversed] = list.words as [string, string];
    const many = list.words.filter((word) => !word.startsWith('-')).slice(0, 4);
    for (const words of [
      [first, reversed],
      [first, first],
      [first, ''],
      [first, 'secret'],
      ...(many.length > 3 ? [many] : [[...many, first]]),
    ]) {
      const query = `sort=${encodeURIComponent(words.join(','))}`;
      const { status, body } = await admin.get(`${list.path}?${query}`);
      expect([words, status, body.error?.details?.errors?.[0]?.field]).toEqual([
        words,
        422,
        'sort',
      ]);
    }
    const repeated = await admin.get(`${list.path}?sort=${first}&sort=${reversed}`);
    expect(repeated.body.error.details.errors).toEqual([
      { field: 'sort', code: 'words', message: 'sort must name no field twice.' },
    ]);
  });

  it.each(SET_UP)('sort by the second field if the first field is equal: %s', async (...list) => {
    const [path, table, field, more] = list;
    for (const name of NAMES) {
      const made = await admin.post(path, { [field]: name, ...more });
      expect([name, made.status]).toEqual([name, 201]);
    }
    // Sets one time for three rows, and a later time for the others.
    await app.sql(
      `update ${table} set created_at = '2100-01-01T00:00:00Z'::timestamptz
          + (case when ${field} in ('alpha', 'echo') then 1 else 0 end) * interval '1 hour'
        where ${field} = any($1)`,
      [NAMES],
    );
    const sorted = async (sort: string) => {
      const pages: string[] = [];
      for (let page = 1; page <= 3; page += 1) {
        const answer = await admin.get(`${path}?sort=${sort}&per_page=2&page=${page}`);
        expect(answer.status).toBe(200);
        pages.push(...answer.body.data.map((item: Record<string, string>) => item[field]));
      }
      return pages.slice(0, NAMES.length);
    };
    const inTime = ['alpha', 'echo', 'bravo', 'charlie', 'delta'];
    expect(await sorted(`-created_at,${field}`)).toEqual(inTime);
    const reversed = ['echo', 'alpha', 'delta', 'charlie', 'bravo'];
    expect(await sorted(`-created_at,-${field}`)).toEqual(reversed);
    const repeated = await admin.get(`${path}?sort=-created_at&sort=${field}&per_page=5`);
    expect(repeated.body.data.map((item: Record<string, string>) => item[field])).toEqual(inTime);
  });

  it.each([
    ['/api/users', 'username', 'name'],
    ['/api/actions', 'requested_at', 'created_at'],
  ])('reject two names of one field like a repeated field: %s by %s and %s', async (...list) => {
    const [path, name, other] = list;
    for (const sort of [`${name},${other}`, `-${other},${name}`, `${other},-${name}`]) {
      const { status, body } = await admin.get(`${path}?sort=${sort}`);
      expect([sort, status, body.error?.details.errors]).toEqual([
        sort,
        422,
        [{ field: 'sort', code: 'words', message: 'sort must name no field twice.' }],
      ]);
    }
  });
});
