import { Body, Controller, HttpCode, Module, Param, Post } from '@nestjs/common';
import { Requires } from '../../src/platform/access/access.js';
import {
  type Participant,
  Transactions,
  type Tx,
} from '../../src/platform/database/transactions.js';
import { AppError, NotFoundError } from '../../src/platform/errors/app-error.js';
import { AnyQuery } from '../../src/platform/http/handler-options.js';
import { type Idempotency, Idempotent } from '../../src/platform/idempotency/idempotency.js';
import { Text, WholeNumber } from '../../src/platform/validation/fields.js';
import type { Answer } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { makeKey } from '../support/principals.js';
import { useReplicas } from '../support/use-started.js';

/** Promises by text. `POST /notes/slow` waits for the promise of its text. */
const held = new Map<string, Promise<void>>();

class NoteDto {
  @Text()
  readonly text: string;

  /** Duration of the transaction, in ms. */
  @WholeNumber({ optional: true })
  readonly ms?: number;

  @Text({ optional: true })
  readonly fail?: string;
}

interface Note {
  readonly id: number;
  readonly text: string;
}

async function insert(tx: Tx, text: string): Promise<Note> {
  const statement = 'insert into notes (text) values ($1) returning id, text';
  return (await tx.query<Note[]>(statement, [text]))[0]!;
}

@Controller('notes')
@Requires('analyst')
class NotesController {
  constructor(private readonly transactions: Transactions) {}

  @Post()
  @AnyQuery()
  create(@Body() body: NoteDto, @Idempotent() idempotency: Idempotency): Promise<Note> {
    return this.write(
      body,
      idempotency.remember((note) => note),
    );
  }

  @Post('secrets')
  secret(@Body() body: NoteDto, @Idempotent() idempotency: Idempotency): Promise<Note> {
    return this.write(
      body,
      idempotency.remember((note) => note, { secret: true }),
    );
  }

  private write({ text, ms = 0, fail }: NoteDto, participant: Participant<Note>): Promise<Note> {
    return this.transactions.run(async (tx) => {
      const note = await insert(tx, text);
      if (ms > 0) await tx.query('select pg_sleep($1)', [ms / 1000]);
      if (fail === 'conflict') throw new AppError('conflict', 'The name is taken.');
      if (fail === 'broken') throw new Error('broken');
      return note;
    }, participant);
  }

  /** Waits between two transactions. If `fail` is set, the request fails with this result. */
  @Post('slow')
  @HttpCode(200)
  async slow(
    @Body() { text, fail }: NoteDto,
    @Idempotent() idempotency: Idempotency,
  ): Promise<object> {
    const provisional = idempotency.remember(({ id }: Note) => ({ id, status: 'pending' }), {
      status: () => 202,
      provisionalForMs: 2_000,
    });
    const { id } = await this.transactions.run((tx) => insert(tx, text), provisional);
    await held.get(text);
    if (fail === 'nothing') {
      await this.transactions.run(async () => undefined, idempotency.release());
      throw new AppError('ai_unavailable', 'The model does not answer.');
    }
    if (fail === 'unknown') throw new Error('broken');
    return await this.transactions.run(
      async () => ({ id, status: 'completed' }),
      idempotency.remember((result: object) => result, { status: () => 200 }),
    );
  }

  @Post(':id/copies')
  async copy(@Param('id') id: string, @Idempotent() idempotency: Idempotency): Promise<Note> {
    return await this.transactions.run(
      async (tx) => {
        const [note] = await tx.query<Note[]>('select text from notes where id = $1', [id]);
        if (!note) throw new NotFoundError('Note');
        return await insert(tx, note.text);
      },
      idempotency.remember((note) => note),
    );
  }
}

@Module({ controllers: [NotesController] })
class NotesModule {}

describe('Idempotency-Key', () => {
  const replicas = useReplicas({
    modules: [NotesModule],
    undocumented: /^\/notes/,
    settings: { DATABASE_POOL_SIZE: '10' },
  });
  const [app] = replicas;
  let ana: string;
  let used = 0;

  const newKey = () => `key-${(used += 1)}`;
  const post = (
    path: string,
    key: string | undefined,
    body?: unknown,
    { at = app, by = ana } = {},
  ) =>
    at.post(path, body, {
      authorization: `Bearer ${by}`,
      ...(key && { 'idempotency-key': key }),
    });
  const count = async (text: string): Promise<number> => {
    const [found] = await app.sql('select count(*)::int as n from notes where text = $1', [text]);
    return found.n;
  };
  const expire = (key: string) =>
    app.sql(`update idempotency_keys set kept_at = now() - interval '25 hours' where key = $1`, [
      key,
    ]);

  beforeAll(async () => {
    await app.sql('create table notes (id serial primary key, text text)');
    ana = (await makeKey(app, 'analyst')).key;
  });

  it('repeats the response to the same request, byte for byte', async () => {
    const key = newKey();
    const first = await post('/notes', key, { text: 'twice' });
    const again = await post('/notes', key, { text: 'twice' }, { at: replicas[1] });
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

  it('treats bodies with the same JSON content as the same request', async () => {
    const key = newKey();
    const send = (body: string) =>
      app.post('/notes', body, {
        authorization: `Bearer ${ana}`,
        'idempotency-key': key,
        'content-type': 'application/json',
      });
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

  it('executes one of fifty simultaneous requests on two replicas', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        post('/notes', key, { text: 'fifty', ms: 50 }, { at: replicas[i % 2] }),
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

  it('rejects the key in a request with another body, query or address', async () => {
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

  it('keeps the keys of two principals separate', async () => {
    const key = newKey();
    for (const by of [ana, (await makeKey(app, 'analyst')).key]) {
      const answer = await post('/notes', key, { text: 'one key' }, { by });
      expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([201, undefined]);
    }
    expect(await count('one key')).toBe(2);
  });

  it.each([
    ['conflict', 409],
    ['broken', 500],
  ])('releases the key if the request failed without an effect: %s', async (fail, status) => {
    const key = newKey();
    expect((await post('/notes', key, { text: `free ${fail}`, fail })).status).toBe(status);
    expect((await post('/notes', key, { text: 1 })).status).toBe(422);
    expect((await post('/notes', key, { text: `now ${fail}` })).status).toBe(201);
    expect([await count(`free ${fail}`), await count(`now ${fail}`)]).toEqual([0, 1]);
  });

  it('repeats the response after the resource was deleted', async () => {
    const key = newKey();
    const note = await post('/notes', undefined, { text: 'short-lived' });
    const path = `/notes/${note.body.data.id}/copies`;
    const first = await post(path, key);
    await app.sql(`delete from notes where text = 'short-lived'`);
    expect(await post(path, key)).toMatchObject({ status: 201, text: first.text });
    expect((await post(path, newKey())).status).toBe(404);
  });

  it('stores responses with secrets encrypted', async () => {
    const key = newKey();
    const first = await post('/notes/secrets', key, { text: 'topsecret' });
    const rows = await app.sql('select * from idempotency_keys where key = $1', [key]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows[0])).not.toMatch(/topsecret|"id/);
    expect(rows[0].body).toMatch(/^v1\./);
    const again = await post('/notes/secrets', key, { text: 'topsecret' }, { at: replicas[1] });
    expect(again).toMatchObject({ status: 201, text: first.text });
  });

  it('repeats large responses and special characters', async () => {
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
  ])('rejects a malformed key: %s', async (_, key) => {
    const headers = { authorization: `Bearer ${ana}`, 'idempotency-key': key };
    const answer = await app.post('/notes', { text: 'bad key' }, headers);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'bad_request' });
    expect(answer.body.error.message).toContain('Idempotency-Key');
    expect(await count('bad key')).toBe(0);
  });

  it('releases a key after 24 hours', async () => {
    const key = newKey();
    await post('/notes', key, { text: 'yesterday' });
    await expire(key);
    expect((await post('/notes', key, { text: 'today' })).status).toBe(201);
    const again = await post('/notes', key, { text: 'today' });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await post('/notes', key, { text: 'yesterday' })).status).toBe(422);
  });

  it('rolls back a transaction whose connection is cut, and releases the key', async () => {
    const key = newKey();
    const first = post('/notes', key, { text: 'cut', ms: 60_000 });
    await eventually(async () => {
      const ended = await app.sql(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like 'select pg_sleep($1)' and state = 'active'`,
      );
      return ended.length === 1;
    });
    expect((await first).status).toBe(503);
    expect(await count('cut')).toBe(0);
    expect((await post('/notes', key, { text: 'cut' })).status).toBe(201);
    expect(await count('cut')).toBe(1);
  });

  describe('over several transactions', () => {
    it('rejects a second request until the final response exists', async () => {
      const key = newKey();
      const body = { text: 'slow' };
      const end = Promise.withResolvers<void>();
      held.set('slow', end.promise);
      const first = post('/notes/slow', key, body);
      await eventually(async () => (await count('slow')) === 1);
      const twin = await post('/notes/slow', key, body, { at: replicas[1] });
      expect(twin).toMatchObject({ status: 409 });
      expect(twin.headers['retry-after']).toBe('1');
      end.resolve();
      const done = await first;
      expect(done).toMatchObject({ status: 200, body: { data: { status: 'completed' } } });
      expect(await post('/notes/slow', key, body)).toMatchObject({ status: 200, text: done.text });
      expect(await count('slow')).toBe(1);
    });

    it('releases the key if the work ended without an effect', async () => {
      const key = newKey();
      expect((await post('/notes/slow', key, { text: 'vain', fail: 'nothing' })).status).toBe(503);
      expect((await post('/notes/slow', key, { text: 'other body' })).status).toBe(200);
    });

    it('does not repeat work with an unknown outcome, and later returns the provisional response', async () => {
      const key = newKey();
      const body = { text: 'unknown', fail: 'unknown' };
      expect((await post('/notes/slow', key, body)).status).toBe(500);
      expect((await post('/notes/slow', key, body)).status).toBe(409);
      await app.sql('update idempotency_keys set provisional_until = now() where key = $1', [key]);
      const again = await post('/notes/slow', key, body);
      expect(again).toMatchObject({ status: 202, body: { data: { status: 'pending' } } });
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(await count('unknown')).toBe(1);
    });
  });
});
