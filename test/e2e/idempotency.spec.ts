import { Client } from 'pg';
import type { Answer, ApiClient } from '../support/api-client.js';
import type { BareApp } from '../support/bare-app.js';
import { eventually } from '../support/jobs/eventually.js';
import { CREATE_NOTES, heldNotes, startNotesApp } from '../support/notes-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('Idempotency-Key', () => {
  let database: TestDatabase;
  let replicas: [BareApp, BareApp];
  let db: Client;
  let ana: ApiClient;
  let used = 0;

  const newKey = () => `key-${(used += 1)}`;
  const post = (path: string, key: string | undefined, body?: unknown, by = ana): Promise<Answer> =>
    by.request('POST', path, { body, ...(key && { headers: { 'idempotency-key': key } }) });
  const count = async (text: string): Promise<number> => {
    const found = await db.query('select count(*)::int as n from notes where text = $1', [text]);
    return found.rows[0].n;
  };
  const expire = (key: string) =>
    db.query(`update idempotency_keys set kept_at = now() - interval '25 hours' where key = $1`, [
      key,
    ]);

  beforeAll(async () => {
    database = await createTestDatabase();
    db = new Client(database.url);
    await db.connect();
    await db.query(CREATE_NOTES);
    replicas = [await startNotesApp(database), await startNotesApp(database)];
    ana = replicas[0].as('ana');
  });
  afterAll(async () => {
    for (const replica of replicas) await replica.close();
    await db.end();
    await database.drop();
  });

  it('answers the same request again as it did the first time, to the letter', async () => {
    const key = newKey();
    const first = await post('/notes', key, { text: 'twice' });
    const again = await post('/notes', key, { text: 'twice' }, replicas[1].as('ana'));
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await count('twice')).toBe(1);
    const own =
      /^(date|x-request-id|x-ratelimit-remaining|x-ratelimit-reset|idempotency-replayed)$/;
    const shared = ({ headers }: Answer) =>
      Object.entries(headers).filter(([name]) => !own.test(name));
    expect(shared(again)).toEqual(shared(first));
    expect(again.headers['x-ratelimit-limit']).toBeDefined();
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  it('takes a body for the same when it says the same in other letters', async () => {
    const key = newKey();
    const send = (body: string) =>
      ana.post('/notes', body, { 'idempotency-key': key, 'content-type': 'application/json' });
    const first = await send('{"text":"caf\u00e9","ms":1}');
    const again = await send('{ "ms" : 1.0,\n "text": "caf\\u00e9" }');
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotency-replayed']).toBe('true');
    for (const other of ['{"text":"caf\u00e9","ms":2}', '{"text":["caf\u00e9"],"ms":1}', 'null']) {
      expect((await send(other)).body.error.code).toBe('idempotency_key_reused');
    }
    expect(await count('caf\u00e9')).toBe(1);
  });

  it('has one effect for fifty twins on two replicas', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        post('/notes', key, { text: 'fifty', ms: 50 }, replicas[i % 2]!.as('ana')),
      ),
    );
    expect(await count('fifty')).toBe(1);
    const done = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect(done.length).toBeGreaterThanOrEqual(1);
    expect(done.length + refused.length).toBe(50);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(done.filter(({ headers }) => !headers['idempotency-replayed'])).toHaveLength(1);
    for (const { body } of refused) expect(body.error.code).toBe('conflict');
    expect((await post('/notes', key, { text: 'fifty', ms: 50 })).status).toBe(201);
  });

  it('refuses the key for another body, query or address', async () => {
    const key = newKey();
    await post('/notes', key, { text: 'one' });
    for (const [path, body] of [
      ['/notes', { text: 'two' }],
      ['/notes', undefined],
      ['/notes?a=1', { text: 'one' }],
      ['/notes/secrets', { text: 'one' }],
    ] as const) {
      const answer = await post(path, key, body);
      expect(answer.status).toBe(422);
      expect(answer.body.error.code).toBe('idempotency_key_reused');
    }
    expect(await count('two')).toBe(0);
  });

  it('belongs to one principal', async () => {
    const key = newKey();
    for (const name of ['ana', 'ben']) {
      const answer = await post('/notes', key, { text: 'one key' }, replicas[1].as(name));
      expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([201, undefined]);
    }
    expect(await count('one key')).toBe(2);
  });

  it.each([
    ['conflict', 409],
    ['broken', 500],
  ])('frees the key when nothing took effect: %s', async (fail, status) => {
    const key = newKey();
    expect((await post('/notes', key, { text: `free ${fail}`, fail })).status).toBe(status);
    expect((await post('/notes', key, { text: 1 })).status).toBe(422);
    expect((await post('/notes', key, { text: `now ${fail}` })).status).toBe(201);
    expect([await count(`free ${fail}`), await count(`now ${fail}`)]).toEqual([0, 1]);
  });

  it('answers again whatever has become of the resource since', async () => {
    const key = newKey();
    const note = await post('/notes', undefined, { text: 'short-lived' });
    const path = `/notes/${note.body.data.id}/copies`;
    const first = await post(path, key);
    await db.query('delete from notes where text = $1', ['short-lived']);
    const again = await post(path, key);
    expect(again).toMatchObject({ status: 201, text: first.text });
    expect((await post(path, newKey())).status).toBe(404);
  });

  it('keeps answers with secrets encrypted', async () => {
    const key = newKey();
    const first = await post('/notes/secrets', key, { text: 'topsecret' });
    const { rows } = await db.query('select * from idempotency_keys where key = $1', [key]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows[0])).not.toMatch(/topsecret|"id/);
    expect(rows[0].body).toMatch(/^v1\./);
    const again = await post('/notes/secrets', key, { text: 'topsecret' }, replicas[1].as('ana'));
    expect(again).toMatchObject({ status: 201, text: first.text });
  });

  it('keeps large and odd answers', async () => {
    const key = newKey();
    const text = `${'ü€😀\\"\n'.repeat(50_000)}end`;
    const first = await post('/notes', key, { text });
    const again = await post('/notes', key, { text });
    expect(first.status).toBe(201);
    expect(again.text === first.text).toBe(true);
    expect(again.body.data.text === text).toBe(true);
  });

  it.each([
    ['with a space', 'a b'],
    ['too long', 'k'.repeat(256)],
    ['given twice', ['a', 'b']],
  ])('refuses a malformed key: %s', async (_, key) => {
    const answer = await ana.post('/notes', { text: 'bad key' }, { 'idempotency-key': key });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'bad_request' });
    expect(answer.body.error.message).toContain('Idempotency-Key');
    expect(await count('bad key')).toBe(0);
  });

  it('frees a key after 24 hours', async () => {
    const key = newKey();
    await post('/notes', key, { text: 'yesterday' });
    await expire(key);
    expect((await post('/notes', key, { text: 'today' })).status).toBe(201);
    const again = await post('/notes', key, { text: 'today' });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await post('/notes', key, { text: 'yesterday' })).status).toBe(422);
  });

  it('leaves nothing of a transaction whose connection is cut, and the key free', async () => {
    const key = newKey();
    const first = post('/notes', key, { text: 'cut', ms: 60_000 });
    await eventually(async () => {
      const { rowCount } = await db.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like 'select pg_sleep($1)' and state = 'active'`,
      );
      return rowCount === 1;
    });
    expect((await first).status).toBe(503);
    expect(await count('cut')).toBe(0);
    expect((await post('/notes', key, { text: 'cut' })).status).toBe(201);
    expect(await count('cut')).toBe(1);
  });

  describe('over several transactions', () => {
    it('refuses twins until the final answer is there', async () => {
      const key = newKey();
      const body = { text: 'slow' };
      const end = Promise.withResolvers<void>();
      heldNotes.set('slow', end.promise);
      const first = post('/notes/slow', key, body);
      await eventually(async () => (await count('slow')) === 1);
      const twin = await post('/notes/slow', key, body, replicas[1].as('ana'));
      expect(twin).toMatchObject({ status: 409 });
      expect(twin.headers['retry-after']).toBe('1');
      end.resolve();
      const done = await first;
      expect(done).toMatchObject({ status: 200, body: { data: { status: 'completed' } } });
      const again = await post('/notes/slow', key, body);
      expect(again).toMatchObject({ status: 200, text: done.text });
      expect(await count('slow')).toBe(1);
    });

    it('frees the key when the work came to nothing', async () => {
      const key = newKey();
      expect((await post('/notes/slow', key, { text: 'vain', fail: 'nothing' })).status).toBe(503);
      expect((await post('/notes/slow', key, { text: 'other body' })).status).toBe(200);
    });

    it('does not repeat work whose end is unknown, and tells later what was known', async () => {
      const key = newKey();
      const body = { text: 'unknown', fail: 'unknown' };
      expect((await post('/notes/slow', key, body)).status).toBe(500);
      expect((await post('/notes/slow', key, body)).status).toBe(409);
      await db.query('update idempotency_keys set provisional_until = now() where key = $1', [key]);
      const again = await post('/notes/slow', key, body);
      expect(again).toMatchObject({ status: 202, body: { data: { status: 'pending' } } });
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(await count('unknown')).toBe(1);
    });
  });
});
