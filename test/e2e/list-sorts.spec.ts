import { readFileSync } from 'node:fs';
import { DataSource } from 'typeorm';
import type { ApiClient } from '../support/api-client.js';
import { as, inSession, logIn, makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly schema: { readonly type?: string; readonly items?: { readonly $ref: string } };
}

const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'));

/** The lists that take several fields, with their words. */
const LISTS = Object.entries<Record<string, { parameters?: Parameter[] }>>(document.paths)
  .flatMap(([path, { get }]) => (get?.parameters ?? []).map((sort) => ({ path, sort })))
  .filter(({ sort }) => sort.name === 'sort' && sort.schema.type === 'array')
  .map(({ path, sort }) => ({
    path: path.replace('{id}', '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e'),
    words: document.components.schemas[sort.schema.items!.$ref.split('/').at(-1)!].enum as string[],
  }));

/** Lists of what people set up: where, the table, and the name by which they tell one from another. */
const SET_UP = [
  ['/api/users', 'users', 'username', 'username'],
  ['/api/api-keys', 'api_keys', 'name', 'name'],
  ['/api/connectors', 'connectors', 'name', 'name'],
  ['/api/notification-channels', 'notification_channels', 'name', 'name'],
  ['/api/playbooks', 'playbooks', 'name', 'name'],
  ['/api/webhooks', 'webhook_sources', 'source', 'source'],
] as const;

const NAMES = ['delta', 'alpha', 'echo', 'bravo', 'charlie'];

const BODIES: Readonly<Record<string, (name: string) => object>> = {
  '/api/users': (username) => ({ username, password: 'a long pass phrase', role: 'viewer' }),
  '/api/api-keys': (name) => ({ name, role: 'viewer' }),
  '/api/connectors': (name) => ({ name, type: 'sandbox', config: {} }),
  '/api/notification-channels': (name) => ({
    name,
    type: 'slack',
    config: { webhook_url: 'https://hooks.example.com/services/T/B/x' },
    events: ['incident.created'],
  }),
  '/api/playbooks': (name) => ({ name, steps: [] }),
  '/api/webhooks': (source) => ({ source, secret: 'sixteen characters' }),
};

describe('lists that are sorted by several fields', () => {
  let app: TestApp;
  let admin: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    admin = await as(app, 'admin');
  });
  afterAll(() => app?.close());

  it('are all but those that have one order', () => {
    expect(LISTS.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        '/api/incidents',
        '/api/actions',
        '/api/me/sessions',
        ...SET_UP.map(([path]) => path),
      ]),
    );
  });

  it.each(LISTS)('refuse what is no list of up to three of their fields: $path', async (list) => {
    const [first, reversed, second] = list.words as [string, string, string];
    const many = list.words.filter((word) => !word.startsWith('-')).slice(0, 4);
    for (const words of [
      [first, reversed],
      [first, first],
      [second, first, `-${second}`],
      [first, ''],
      ['', first],
      [first, ` ${second}`],
      [first, 'secret'],
      [first, `-${reversed}`],
      ...(many.length > 3 ? [many] : [[...many, first]]),
    ]) {
      const query = `sort=${encodeURIComponent(words.join(','))}`;
      const { status, body } = await admin.request('GET', `${list.path}?${query}`);
      expect([words, status, body.error?.details?.errors?.[0]?.field]).toEqual([
        words,
        422,
        'sort',
      ]);
    }
    const repeated = await admin.request('GET', `${list.path}?sort=${first}&sort=${reversed}`);
    expect(repeated.body.error.details.errors).toEqual([
      { field: 'sort', code: 'words', message: 'sort must name no field twice.' },
    ]);
  });

  it.each(SET_UP)('sort by the second field what is equal in the first: %s', async (...list) => {
    const [path, table, field, word] = list;
    for (const name of NAMES) {
      const made = await admin.request('POST', path, { body: BODIES[path]!(name) });
      expect([name, made.status]).toEqual([name, 201]);
    }
    const client = app.nest.get(DataSource);
    const column = field;
    const later = `'2100-01-01T00:00:00Z'::timestamptz`;
    // Two moments: that of three of them, and a later one.
    await client.query(
      `update ${table} set created_at = ${later} + (case when ${column} in ('alpha', 'echo') then 1 else 0 end) * interval '1 hour'
        where ${column} = any($1)`,
      [NAMES],
    );
    const sorted = async (sort: string) => {
      const pages: string[] = [];
      for (let page = 1; page <= 3; page += 1) {
        const answer = await admin.request('GET', `${path}?sort=${sort}&per_page=2&page=${page}`);
        expect(answer.status).toBe(200);
        pages.push(...answer.body.data.map((item: Record<string, string>) => item[field]));
      }
      return pages.slice(0, NAMES.length);
    };
    const inTime = ['alpha', 'echo', 'bravo', 'charlie', 'delta'];
    expect(await sorted(`-created_at,${word}`)).toEqual(inTime);
    expect(await sorted(`-created_at,-${word}`)).toEqual([
      'echo',
      'alpha',
      'delta',
      'charlie',
      'bravo',
    ]);
    const repeated = await admin.request('GET', `${path}?sort=-created_at&sort=${word}&per_page=5`);
    expect(repeated.body.data.map((item: Record<string, string>) => item[field])).toEqual(inTime);
  });

  it.each([
    ['/api/users', 'username', 'name'],
    ['/api/actions', 'requested_at', 'created_at'],
  ])('refuse two names of one field, as a field twice: %s by %s and %s', async (...list) => {
    const [path, name, other] = list;
    for (const sort of [`${name},${other}`, `-${other},${name}`, `${other},-${name}`]) {
      const { status, body } = await admin.request('GET', `${path}?sort=${sort}`);
      expect([sort, status, body.error?.details.errors]).toEqual([
        sort,
        422,
        [{ field: 'sort', code: 'words', message: 'sort must name no field twice.' }],
      ]);
    }
  });

  it('take two names of one field for the same', async () => {
    const names = async (sort: string) =>
      (await admin.request('GET', `/api/users?sort=${sort}&per_page=100`)).body.data.map(
        ({ username }: { username: string }) => username,
      );
    const up = await names('username');
    expect(up.length).toBeGreaterThan(4);
    expect(await names('name')).toEqual(up);
    expect(await names('-name,created_at')).toEqual(up.toReversed());
  });

  it("sort a person's sessions", async () => {
    const user = await makeUser(app, 'viewer');
    await logIn(app, user);
    await logIn(app, user);
    const client = await inSession(app, user);
    // The request refreshes the newest session, which is the client's own.
    await app.nest.get(DataSource).query(
      `update sessions session set created_at = date_trunc('day', created_at),
         last_seen_at = last_seen_at - ('x1' || substr(id::text, 36, 1))::bit(8)::int * interval '1 minute'
           * (select count(*) from sessions newer where newer.user_id = $1 and newer.id > session.id)
        where user_id = $1`,
      [user.id],
    );
    const seen = async (sort: string) =>
      (await client.request('GET', `/api/me/sessions?sort=${sort}`)).body.data.map(
        ({ last_seen_at }: { last_seen_at: string }) => last_seen_at,
      );
    const up = await seen('created_at,last_seen_at');
    expect(up).toHaveLength(3);
    expect(up).toEqual(up.toSorted());
    expect(await seen('created_at,-last_seen_at')).toEqual(up.toReversed());
  });
});
