import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { ECHO_PATHS, EchoModule } from '../support/echo.module.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as, makeKey } from '../support/principals.js';
import { expectErrorOutsideRouting, RawConnection } from '../support/raw-http.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const LIMIT = 65_536;
const JSON_TYPE = { 'content-type': 'application/json' };

describe('request bodies', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({
      modules: [EchoModule],
      undocumented: ECHO_PATHS,
      settings: { BODY_LIMIT_BYTES: String(LIMIT) },
    });
  });
  afterAll(() => app.close());

  const post = (
    path: string,
    body: unknown,
    headers: Record<string, string | undefined> = JSON_TYPE,
  ) => app.request('POST', path, { body, headers: { ...headers } });
  const codeOf = async (
    path: string,
    body: unknown,
    headers?: Record<string, string | undefined>,
  ) => {
    const answer = await post(path, body, headers);
    return [answer.status, answer.body.error?.code];
  };

  describe('by their type', () => {
    it.each([
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ])('takes %s', async (type) => {
      const answer = await post('/test-only/echo', '{"text":"é"}', { 'content-type': type });
      expect([answer.status, answer.body.data]).toEqual([200, { body: { text: 'é' } }]);
    });

    it.each([
      'text/plain',
      'application/vnd.x+json',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-16',
      'application/json, text/plain',
      'json',
      '/',
      '',
    ])('refuses %j with 415', async (type) => {
      expect(await codeOf('/test-only/echo', '{"text":"a"}', { 'content-type': type })).toEqual([
        415,
        'unsupported_media_type',
      ]);
    });

    it('refuses a body without a type, and compressed ones', async () => {
      expect(await codeOf('/test-only/echo', '{}', {})).toEqual([415, 'unsupported_media_type']);
      const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' };
      expect(await codeOf('/test-only/echo', gzipSync('{}'), headers)).toEqual([
        415,
        'unsupported_media_type',
      ]);
    });

    it('takes an empty body for none, whatever its type', async () => {
      for (const type of ['application/json', 'text/plain', undefined]) {
        expect((await post('/test-only/echo', undefined, { 'content-type': type })).status).toBe(
          200,
        );
        expect((await post('/test-only/echo', '', { 'content-type': type })).status).toBe(200);
      }
      const headers = JSON_TYPE;
      expect((await app.request('DELETE', '/test-only/echo/1', { headers })).status).toBe(200);
      expect((await app.request('PUT', '/test-only/echo/1', { headers })).status).toBe(200);
    });

    it('ignores what comes with a GET', async () => {
      expect(
        (await app.request('GET', '/test-only/echo', { body: '{', headers: JSON_TYPE })).status,
      ).toBe(200);
    });

    it('takes forms where they are declared, strictly', async () => {
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await post('/test-only/form', 'name=a+b%26', form);
      expect(answer.body.data).toEqual({ form: { name: 'a b&' } });
      expect(await codeOf('/test-only/form', 'name=a&name=b', form)).toEqual([
        422,
        'validation_error',
      ]);
      expect(await codeOf('/test-only/form', 'name=%00', form)).toEqual([422, 'validation_error']);
      expect(await codeOf('/test-only/form', 'name=a&__proto__=b', form)).toEqual([
        422,
        'validation_error',
      ]);
      expect(await codeOf('/test-only/form', 'name=a&constructor=b', form)).toEqual([
        422,
        'validation_error',
      ]);
      expect(await codeOf('/test-only/form', 'name=%ff', form)).toEqual([400, 'bad_request']);
      expect(await codeOf('/test-only/form', Buffer.from([0x6e, 0x3d, 0xff]), form)).toEqual([
        400,
        'bad_request',
      ]);
    });

    it('leaves raw bytes as they are, whatever their type', async () => {
      const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a]);
      for (const type of ['application/json', 'nonsense', undefined]) {
        const answer = await post('/test-only/raw', bytes, { 'content-type': type });
        expect(answer.body.data).toEqual({ bytes: 'ff000d0a' });
      }
    });
  });

  describe('by their content', () => {
    it.each(['{', '{"a":1', '\ufeff{}', "{'a':1}", 'undefined', ' '])(
      'refuses %j with 400',
      async (body) => {
        expect(await codeOf('/test-only/echo', body)).toEqual([400, 'bad_request']);
      },
    );

    it.each(['null', ' null\n'])('takes %j for no body at all', async (body) => {
      for (const [method, path] of [
        ['POST', '/test-only/echo'],
        ['PUT', '/test-only/echo/1'],
        ['POST', '/test-only/forbidden'],
      ] as const) {
        const given = await app.request(method, path, { body, headers: JSON_TYPE });
        const none = await app.request(method, path);
        expect([path, given.status, given.body.data]).toEqual([path, none.status, none.body.data]);
      }
    });

    it.each(['[]', '[{}]', '1', '"text"', 'true', '1e400'])(
      'refuses %s, which is no object, with 422',
      async (body) => {
        expect(await codeOf('/test-only/echo', body)).toEqual([422, 'validation_error']);
        expect(
          (await app.request('PUT', '/test-only/echo/1', { body, headers: JSON_TYPE })).status,
        ).toBe(422);
      },
    );

    it.each([
      ['{"free":{"a":"\\u0000"}}', 'free.a', 'nul_character'],
      ['{"text":"\\ud800"}', 'text', 'lone_surrogate'],
      ['{"free":{"a":{"b":1,"b":2}}}', 'free.a.b', 'duplicate_key'],
      ['{"free":{"__proto__":{"admin":true}}}', 'free.__proto__', 'forbidden_key'],
      ['{"free":{"constructor":{"prototype":{}}}}', 'free.constructor.prototype', 'forbidden_key'],
      ['{"free":{"n":9007199254740993}}', 'free.n', 'inexact_number'],
      ['{"inner":[{"name":"a"}]}', 'inner', 'is_json_object'],
      ['{"inner":[]}', 'inner', 'is_json_object'],
      ['{"inner":{"name":"a","x":1}}', 'inner.x', 'unknown_field'],
      ['{"inner":{}}', 'inner.name', 'required'],
      ['{"list":{"name":"a"}}', 'list', 'is_array'],
      ['{"list":[[{}]]}', 'list.0', 'is_json_object'],
      ['{"list":[null]}', 'list.0', 'is_json_object'],
      ['{"list":[{"name":"a"},{"name":1}]}', 'list.1.name', 'is_string'],
      ['{"list":[{},{},{},{}]}', 'list', 'array_max_size'],
      ['{"free":[]}', 'free', 'is_json_object'],
      ['{"free":null}', 'free', 'is_json_object'],
      ['{"text":null}', 'text', 'is_string'],
      ['{"inner":null}', 'inner', 'is_json_object'],
      ['{"list":null}', 'list', 'is_array'],
      ['{"flag":"true"}', 'flag', 'is_boolean'],
      ['{"flag":0}', 'flag', 'is_boolean'],
      ['{"inner":{"name":"a","count":1.5}}', 'inner.count', 'is_int'],
      ['{"inner":{"name":"a","count":"1"}}', 'inner.count', 'is_int'],
      ['{"at":"2026-02-30T00:00:00Z"}', 'at', 'is_iso_time'],
      ['{"at":"2026-01-01"}', 'at', 'is_iso_time'],
      ['{"other":1}', 'other', 'unknown_field'],
      ['{"constructor":1}', 'constructor', 'unknown_field'],
      ['{"toString":1}', 'toString', 'unknown_field'],
    ])('refuses %s with 422 and its place', async (body, field, code) => {
      const { status, body: answer } = await post('/test-only/echo', body);
      expect([status, answer.error.code]).toEqual([422, 'validation_error']);
      expect(answer.error.details.errors).toContainEqual({
        field,
        code,
        message: expect.any(String),
      });
    });

    it('keeps free objects as they were sent', async () => {
      const free = {
        constructor: { name: 'x' },
        toString: 1,
        nested: [{ a: null }, []],
        '': '',
        n: -0.5,
      };
      const answer = await post('/test-only/echo', { free });
      expect(answer.body.data.body.free).toEqual(free);
    });

    it('refuses fields of a handler that takes none', async () => {
      const answer = await app.request('PUT', '/test-only/echo/1', { body: { a: 1 } });
      expect([answer.status, answer.body.error.details.errors[0].field]).toEqual([422, 'a']);
      expect((await app.request('PUT', '/test-only/echo/1', { body: {} })).status).toBe(200);
    });

    it('refuses deep nesting with 422, however deep', async () => {
      for (const depth of [65, 1_000, 20_000]) {
        const deep = `{"free":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
        expect(await codeOf('/test-only/echo', deep)).toEqual([422, 'validation_error']);
      }
      const deepest = `{"free":{"a":${'['.repeat(62)}${']'.repeat(62)}}}`;
      expect((await post('/test-only/echo', deepest)).status).toBe(200);
    });

    it('says 400 before the role is looked at, and 422 after it', async () => {
      const viewer = await as(app, 'viewer');
      const told = async (
        body: string,
        type = 'application/json',
        query = '',
      ): Promise<unknown> => {
        const headers = { 'content-type': type };
        const path = `/test-only/forbidden${query}`;
        return (await viewer.request('POST', path, { body, headers })).body.error?.code;
      };
      expect(await told('{')).toBe('bad_request');
      expect(await told('{}', 'text/plain')).toBe('unsupported_media_type');
      for (const body of ['{"text":"\\u0000"}', '[]', 'null', '{"other":1}']) {
        expect(await told(body)).toBe('forbidden');
      }
      expect(await told('{}', 'application/json', '?undeclared=1')).toBe('forbidden');
    });
  });

  describe('over the limit', () => {
    const text = (size: number) => `{"text":"${'x'.repeat(size - 11)}"}`;

    it('takes a body of exactly the limit and refuses one byte more', async () => {
      expect((await post('/test-only/echo', text(LIMIT))).status).toBe(200);
      expect(await codeOf('/test-only/echo', text(LIMIT + 1))).toEqual([413, 'payload_too_large']);
      expect(await codeOf('/test-only/raw', text(LIMIT + 1))).toEqual([413, 'payload_too_large']);
    });

    it('lets a client that sends all of a far bigger one read the answer', async () => {
      expect(await codeOf('/test-only/echo', text(6_000_000))).toEqual([413, 'payload_too_large']);
    });

    it('counts the bytes of a chunked body', async () => {
      const connection = await RawConnection.open(app.port);
      connection.send(head('Transfer-Encoding: chunked'));
      const chunk = 'x'.repeat(0x8000);
      for (let i = 0; i < 3; i += 1) connection.send(`8000\r\n${chunk}\r\n`);
      connection.send('0\r\n\r\n', 'GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await connection.answer()).body.error.code).toBe('payload_too_large');
      // The body came to its end, so what follows is a request of its own.
      expect((await connection.answer()).body).toEqual({ status: 'alive' });
      connection.close();
    });

    it('answers within seconds and closes when the rest does not come', async () => {
      for (const announced of [
        'Content-Length: 100000',
        'Content-Length: 1000000000',
        'Transfer-Encoding: chunked',
      ]) {
        const connection = await RawConnection.open(app.port);
        connection.send(head(announced));
        if (announced.startsWith('Transfer'))
          connection.send(`11000\r\n${'x'.repeat(0x11000)}\r\n`);
        const answer = await connection.answer();
        expect(answer.body.error.code).toBe('payload_too_large');
        expect(answer.headers.connection).toBe('close');
        await connection.untilClosed();
      }
    });

    it('never takes the rest of a refused body for a request', async () => {
      const connection = await RawConnection.open(app.port);
      connection.send(head('Content-Length: 1000000000'), 'GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await connection.answer()).status).toBe(413);
      await expect(connection.answer()).rejects.toThrow(/^Closed after: $/);
    });

    it('does not invite a body that it would refuse', async () => {
      const connection = await RawConnection.open(app.port);
      connection.send(head('Expect: 100-continue', 'Content-Length: 100000'));
      expect((await connection.answer()).status).toBe(413);
      connection.close();
    });
  });

  describe('before anybody wants them', () => {
    it('are not waited for: who may come in is decided first, and of what type the body is', async () => {
      const key = (await makeKey(app, 'admin')).key;
      const started = (path: string, type: string, authorization = '') =>
        RawConnection.open(app.port).then((connection) =>
          connection.send(
            `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 60000\r\n${authorization}\r\n{"text":`,
          ),
        );
      for (const [path, type, authorization, code] of [
        ['/test-only/forbidden', 'application/json', '', 'unauthorized'],
        [
          '/test-only/forbidden',
          'text/plain',
          `Authorization: Bearer ${key}\r\n`,
          'unsupported_media_type',
        ],
        ['/api/nowhere', 'application/json', '', 'unauthorized'],
        ['/nowhere', 'application/json', '', 'not_found'],
      ] as const) {
        const connection = await started(path, type, authorization);
        const answer = await connection.answer();
        expect([answer.body.error.code, answer.headers.connection]).toEqual([code, 'close']);
        await connection.untilClosed();
      }
    });

    it('leave the connection as it was when they arrive whole', async () => {
      const connection = await RawConnection.open(app.port);
      const body = 'x'.repeat(200_000);
      const refused = `POST /test-only/forbidden HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
      connection.send(refused, body, 'GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await connection.answer()).status).toBe(401);
      expect((await connection.answer()).body).toEqual({ status: 'alive' });
      connection.close();
    });

    it('are small where no credential is needed', async () => {
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const json = JSON.stringify({ username: 'a', password: 'b', next: 'x'.repeat(16_384) });
      for (const path of ['/login', '/logout']) {
        expect((await post(path, json)).body.error.code).toBe('payload_too_large');
        const answer = await post(path, `next=${'x'.repeat(16_384)}`, form);
        expect(answer.status).toBe(413);
      }
      const small = JSON.stringify({ username: 'a', password: 'b', next: 'x'.repeat(16_000) });
      expect((await post('/login', small)).status).toBe(401);
    });
  });

  describe('of many small parts', () => {
    it('are refused for their number', async () => {
      const keys = (count: number) =>
        JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0])));
      const codesOf = async (body: string) =>
        (await post('/test-only/echo', body)).body.error?.details.errors[0].code as unknown;
      expect(await codesOf(`{"free":${keys(4_900)}}`)).toBeUndefined();
      expect(await codesOf(`{"free":${keys(5_000)}}`)).toBe('too_many_values');
      expect(await codesOf(`{"free":{"a":[${'0,'.repeat(19_000)}0]}}`)).toBeUndefined();
      expect(await codesOf(`{"free":{"a":[${'0,'.repeat(20_000)}0]}}`)).toBe('too_many_values');
    });

    it('are refused for their number in a form', async () => {
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await post('/test-only/form', `name=a${'&a'.repeat(100)}`, form);
      expect(answer.body.error.details.errors).toEqual([
        { field: '', code: 'too_many_fields', message: expect.any(String) },
      ]);
    });
  });

  it('have a bound together, and nobody can take the room of the others', async () => {
    const bounded = await startTestApp({
      modules: [EchoModule],
      undocumented: ECHO_PATHS,
      settings: { BODY_LIMIT_BYTES: String(LIMIT), BODIES_LIMIT_BYTES: String(8 * LIMIT) },
    });
    const held: RawConnection[] = [];
    /** A large body that never ends. */
    const hold = async (key?: string): Promise<void> => {
      const connection = await RawConnection.open(bounded.port);
      const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
      connection.send(
        `POST /test-only/${key === undefined ? 'echo' : 'forbidden'} HTTP/1.1\r\nHost: x\r\n${authorization}`,
        `Content-Type: application/json\r\nContent-Length: ${LIMIT}\r\n\r\n{"text":"${'x'.repeat(LIMIT - 100)}`,
      );
      held.push(connection);
    };
    const statusOf = async (client: ApiClient, path: string, text = 'a') => {
      const { status, headers } = await client.request('POST', path, { body: { text } });
      if (status === 503) expect(headers['retry-after']).toBe('1');
      return status;
    };
    const until = async (status: number, ask: () => Promise<number>) => {
      await eventually(ask, (seen) => seen === status);
    };
    try {
      const keys = await Promise.all([1, 2, 3, 4].map(() => makeKey(bounded, 'admin')));
      const small = (at: number) => () => statusOf(keys[at]!.client, '/test-only/forbidden');
      const large = (at: number) => () =>
        statusOf(keys[at]!.client, '/test-only/forbidden', 'x'.repeat(LIMIT - 100));
      const byStranger = () => statusOf(bounded.client, '/test-only/echo');

      // A quarter each.
      for (const at of [0, 0]) await hold(keys[at]!.key);
      await until(503, small(0));
      expect([await small(1)(), await large(1)(), await byStranger()]).toEqual([201, 201, 200]);

      // What is large leaves a quarter to what is small and of somebody known.
      for (const at of [1, 1, 2, 2]) await hold(keys[at]!.key);
      await until(503, large(3));
      expect([await small(3)(), await byStranger()]).toEqual([201, 503]);

      for (const connection of held.splice(0)) connection.reset();
      await until(201, large(3));
      await until(200, byStranger);

      // Large bodies of all strangers share a quarter, and leave room for small ones.
      await Promise.all(Array.from({ length: 4 }, () => hold()));
      await until(503, () => statusOf(bounded.client, '/test-only/echo', 'x'.repeat(LIMIT - 100)));
      expect([await byStranger(), await small(3)(), await large(3)()]).toEqual([200, 201, 201]);
    } finally {
      for (const connection of held) connection.reset();
      await bounded.close();
    }
  });

  it('that do not arrive in time are answered with 408', async () => {
    const impatient = await startTestApp({
      beforeListen: (server) => {
        server.requestTimeout = 300;
        server.headersTimeout = 300;
        (server as unknown as { connectionsCheckingInterval: number }).connectionsCheckingInterval =
          50;
      },
    });
    try {
      for (const text of [head('Content-Length: 100'), 'GET /live HTTP/1.1\r\nHost:']) {
        const connection = await RawConnection.open(impatient.port);
        const answer = await connection.send(text).answer();
        expect([answer.status, answer.body.error.code]).toEqual([408, 'bad_request']);
        expectErrorOutsideRouting(answer);
        await connection.untilClosed();
      }
    } finally {
      await impatient.close();
    }
  });

  describe('that arrive oddly', () => {
    it('invites a body that the client asks about', async () => {
      const connection = await RawConnection.open(app.port);
      connection.send(head('Expect: 100-continue', 'Content-Length: 12'));
      expect((await connection.answer()).status).toBe(100);
      connection.send('{"text":"a"}');
      expect((await connection.answer()).body.data).toEqual({ body: { text: 'a' } });
      connection.close();
    });

    it('ignores an expectation that it does not know', async () => {
      const connection = await RawConnection.open(app.port);
      connection.send(head('Expect: the-unexpected', 'Content-Length: 2'), '{}');
      expect((await connection.answer()).status).toBe(200);
      connection.close();
    });

    it('waits for a slow one, and puts characters together that were cut', async () => {
      const bytes = Buffer.from('{"text":"€"}');
      const connection = await RawConnection.open(app.port);
      connection.send(head(`Content-Length: ${bytes.length}`));
      for (const byte of bytes) {
        connection.send(Uint8Array.of(byte));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect((await connection.answer()).body.data).toEqual({ body: { text: '€' } });
      connection.close();
    });

    it('survives uploads that break off', async () => {
      for (let i = 0; i < 20; i += 1) {
        const connection = await RawConnection.open(app.port);
        connection.send(head('Content-Length: 1000'), randomBytes(i * 10));
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (i % 2) connection.reset();
        else connection.close();
      }
      expect((await app.request('GET', '/live')).status).toBe(200);
    });

    it('answers pipelined requests in their order', async () => {
      const connection = await RawConnection.open(app.port);
      const one = (text: string) =>
        `${head(`Content-Length: ${11 + text.length}`)}{"text":"${text}"}`;
      connection.send(one('a'), one('bb'), 'GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await connection.answer()).body.data).toEqual({ body: { text: 'a' } });
      expect((await connection.answer()).body.data).toEqual({ body: { text: 'bb' } });
      expect((await connection.answer()).body).toEqual({ status: 'alive' });
      connection.close();
    });
  });
});

function head(...headers: string[]): string {
  const lines = [
    'POST /test-only/echo HTTP/1.1',
    'Host: x',
    'Content-Type: application/json',
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
