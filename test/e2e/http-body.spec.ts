import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { ECHO_PATHS, EchoModule } from '../support/echo.module.js';
import { as, makeKey } from '../support/principals.js';
import { expectErrorOutsideRouting, RawConnection } from '../support/raw-http.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const LIMIT = 65_536;
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

describe('request bodies', () => {
  const app = useStarted(() =>
    startTestApp({
      modules: [EchoModule],
      undocumented: ECHO_PATHS,
      settings: { BODY_LIMIT_BYTES: String(LIMIT) },
    }),
  );

  const connections: RawConnection[] = [];
  afterEach(() => connections.splice(0).forEach((connection) => connection.close()));
  const opened = async (...parts: string[]) => {
    const connection = await RawConnection.open(app.port);
    connections.push(connection);
    return connection.send(...parts);
  };

  const post = (
    path: string,
    body: unknown,
    headers: Record<string, string | undefined> = JSON_TYPE,
  ) => app.post(path, body, { ...headers });
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
    ])('are accepted as %s', async (type) => {
      const answer = await post('/test-only/echo', '{"text":"é"}', { 'content-type': type });
      expect([answer.status, answer.body.data]).toEqual([200, { body: { text: 'é' } }]);
    });

    it.each([
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/vnd.x+json' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'application/json; charset=utf-16' },
      { 'content-type': 'application/json, text/plain' },
      { 'content-type': '' },
      {},
      { ...JSON_TYPE, 'content-encoding': 'gzip' },
    ])('with the headers %j are refused with 415', async (headers) => {
      const body = 'content-encoding' in headers ? gzipSync('{}') : '{"text":"a"}';
      expect(await codeOf('/test-only/echo', body, headers)).toEqual([
        415,
        'unsupported_media_type',
      ]);
    });

    it('count as no body if they are empty, with any media type', async () => {
      for (const type of ['application/json', 'text/plain', undefined])
        for (const body of [undefined, ''])
          expect((await post('/test-only/echo', body, { 'content-type': type })).status).toBe(200);
      const headers = JSON_TYPE;
      expect((await app.delete('/test-only/echo/1', headers)).status).toBe(200);
      expect((await app.put('/test-only/echo/1', undefined, headers)).status).toBe(200);
    });

    it('are ignored for GET', async () => {
      expect(
        (await app.request('GET', '/test-only/echo', { body: '{', headers: JSON_TYPE })).status,
      ).toBe(200);
    });

    it('are accepted as strict forms where the operation declares a form', async () => {
      const answer = await post('/test-only/form', 'name=a+b%26', FORM);
      expect(answer.body.data).toEqual({ form: { name: 'a b&' } });
      const twice = await post('/test-only/form', 'name=a&name=b', FORM);
      expect(twice.body.data).toEqual({ form: { name: 'b' } });
      for (const form of ['name=%00', 'name=a&__proto__=b', 'name=a&constructor=b'])
        expect(await codeOf('/test-only/form', form, FORM)).toEqual([422, 'validation_error']);
      for (const form of ['name=%ff', Buffer.from([0x6e, 0x3d, 0xff])])
        expect(await codeOf('/test-only/form', form, FORM)).toEqual([400, 'bad_request']);
    });

    it('keep their raw bytes, with any media type', async () => {
      const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a]);
      for (const type of ['application/json', 'nonsense', undefined]) {
        const answer = await post('/test-only/raw', bytes, { 'content-type': type });
        expect(answer.body.data).toEqual({ bytes: 'ff000d0a' });
      }
    });
  });

  describe('by their content', () => {
    it.each(['null', ' null\n'])('count as absent if they are %j', async (body) => {
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
      'are rejected with 422 if they are not an object: %s',
      async (body) => {
        expect(await codeOf('/test-only/echo', body)).toEqual([422, 'validation_error']);
        expect((await app.put('/test-only/echo/1', body, JSON_TYPE)).status).toBe(422);
      },
    );

    it('cannot change the prototype of other objects', async () => {
      const free = { constructor: { prototype: { polluted: true } } };
      const answer = await post('/test-only/echo', JSON.stringify({ free }));
      expect(answer.body.data).toEqual({ body: { free } });
      expect({}).not.toHaveProperty('polluted');
    });

    it.each([
      ['{"free":{"a":"\\u0000"}}', 'free.a', 'nul_character'],
      ['{"inner":{"name":"a","x":1}}', 'inner.x', 'unknown_field'],
      ['{"list":[{"name":"a"},{"name":1}]}', 'list.1.name', 'is_string'],
      ['{"text":null}', 'text', 'is_string'],
      ['{"at":"2026-02-30T00:00:00Z"}', 'at', 'is_iso_time'],
    ])('are rejected with 422 and the location of the error: %s', async (body, field, code) => {
      const { status, body: answer } = await post('/test-only/echo', body);
      expect([status, answer.error.code]).toEqual([422, 'validation_error']);
      expect(answer.error.details.errors).toContainEqual({
        field,
        code,
        message: expect.any(String),
      });
    });

    it('are rejected with any field if the operation has no fields', async () => {
      const answer = await app.put('/test-only/echo/1', { a: 1 });
      expect([answer.status, answer.body.error.details.errors[0].field]).toEqual([422, 'a']);
      expect((await app.put('/test-only/echo/1', {})).status).toBe(200);
    });

    it('cause 400 and 415 before the check of the role, and 422 after the check', async () => {
      const viewer = await as(app, 'viewer');
      const told = async (body: string, type = 'application/json', query = '') => {
        const headers = { 'content-type': type };
        const { error } = (await viewer.post(`/test-only/forbidden${query}`, body, headers)).body;
        return error?.code as unknown;
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

    it('are accepted with exactly the limit, and rejected with one byte more', async () => {
      expect((await post('/test-only/echo', text(LIMIT))).status).toBe(200);
      expect(await codeOf('/test-only/echo', text(LIMIT + 1))).toEqual([413, 'payload_too_large']);
      expect(await codeOf('/test-only/raw', text(LIMIT + 1))).toEqual([413, 'payload_too_large']);
    });

    it('are counted in bytes if they are chunked', async () => {
      const connection = await opened(head('Transfer-Encoding: chunked'));
      const chunk = 'x'.repeat(0x8000);
      for (let i = 0; i < 3; i += 1) connection.send(`8000\r\n${chunk}\r\n`);
      connection.send('0\r\n\r\n', 'GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await connection.answer()).body.error.code).toBe('payload_too_large');
      // The body was complete, so the following bytes are the next request.
      expect((await connection.answer()).body).toEqual({ status: 'alive' });
    });

    it('cause 413 and close the connection if the rest does not arrive', async () => {
      for (const announced of [
        'Content-Length: 100000',
        'Content-Length: 1000000000',
        'Transfer-Encoding: chunked',
      ]) {
        const connection = await opened(head(announced));
        if (announced.startsWith('Transfer'))
          connection.send(`11000\r\n${'x'.repeat(0x11000)}\r\n`);
        const answer = await connection.answer();
        expect(answer.body.error.code).toBe('payload_too_large');
        expect(answer.headers.connection).toBe('close');
        await connection.untilClosed();
      }
    });

    it('are never read as the next request after a refusal', async () => {
      const connection = await opened(
        head('Content-Length: 1000000000'),
        'GET /live HTTP/1.1\r\nHost: x\r\n\r\n',
      );
      expect((await connection.answer()).status).toBe(413);
      await expect(connection.answer()).rejects.toThrow(/^Closed after: $/);
    });
  });

  describe('of refused requests', () => {
    it('are not read before the check of credentials, path and media type', async () => {
      const key = (await makeKey(app, 'admin')).key;
      for (const [path, type, authorization, code] of [
        ['/test-only/forbidden', 'json', '', 'unauthorized'],
        [
          '/test-only/forbidden',
          'text',
          `Authorization: Bearer ${key}\r\n`,
          'unsupported_media_type',
        ],
        ['/api/nowhere', 'json', '', 'unauthorized'],
        ['/nowhere', 'json', '', 'not_found'],
      ] as const) {
        const connection = await opened(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/${type}\r\n`,
          `Content-Length: 60000\r\n${authorization}\r\n{"text":`,
        );
        const answer = await connection.answer();
        expect([answer.body.error.code, answer.headers.connection]).toEqual([code, 'close']);
        await connection.untilClosed();
      }
    });

    it('keep the connection open if they arrive completely', async () => {
      const body = 'x'.repeat(200_000);
      const refused = `POST /test-only/forbidden HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
      const connection = await opened(refused, body, 'GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await connection.answer()).status).toBe(401);
      expect((await connection.answer()).body).toEqual({ status: 'alive' });
    });

    it('have a small limit if no credential is needed', async () => {
      const json = JSON.stringify({ username: 'a', password: 'b', next: 'x'.repeat(16_384) });
      for (const path of ['/login', '/logout']) {
        expect((await post(path, json)).body.error.code).toBe('payload_too_large');
        expect((await post(path, `next=${'x'.repeat(16_384)}`, FORM)).status).toBe(413);
      }
      const small = JSON.stringify({ username: 'a', password: 'b', next: 'x'.repeat(16_000) });
      expect((await post('/login', small)).status).toBe(401);
    });
  });

  describe('with many small parts', () => {
    it('are rejected if the number of parts is too large', async () => {
      const keys = (count: number) =>
        JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0])));
      const codesOf = async (body: string) =>
        (await post('/test-only/echo', body)).body.error?.details.errors[0].code as unknown;
      expect(await codesOf(`{"free":${keys(4_900)}}`)).toBeUndefined();
      expect(await codesOf(`{"free":${keys(5_000)}}`)).toBe('too_many_values');
      expect(await codesOf(`{"free":{"a":[${'0,'.repeat(19_000)}0]}}`)).toBeUndefined();
      expect(await codesOf(`{"free":{"a":[${'0,'.repeat(20_000)}0]}}`)).toBe('too_many_values');
    });
  });

  it('share a memory limit that never rejects small bodies or new large bodies', async () => {
    await using bounded = await startTestApp({
      modules: [EchoModule],
      undocumented: ECHO_PATHS,
      settings: { BODY_LIMIT_BYTES: String(LIMIT) },
    });
    const { key, client } = await makeKey(bounded, 'admin');
    const large = 'x'.repeat(LIMIT - 100);
    /** Sends a large body that never ends. */
    const hold = async (authorization = ''): Promise<RawConnection> => {
      const connection = await RawConnection.open(bounded.port);
      connections.push(connection);
      return connection.send(
        `POST /test-only/forbidden HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: application/json\r\n`,
        `Content-Length: ${LIMIT}\r\n\r\n{"text":"${large}`,
      );
    };
    const oldest = await hold(`Authorization: Bearer ${key}\r\n`);
    for (let count = 0; count < 12; count += 1) await hold(`Authorization: Bearer ${key}\r\n`);
    const rejected = await oldest.answer();
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([503, '1']);
    for (const text of [large, 'small']) {
      expect((await client.post('/test-only/forbidden', { text })).status).toBe(201);
    }
    for (const connection of connections.splice(0)) connection.reset();
  });

  it('are rejected with 408 if they do not arrive in time', async () => {
    await using impatient = await startTestApp({
      beforeListen: (server) => {
        server.requestTimeout = 300;
        server.headersTimeout = 300;
        (server as unknown as { connectionsCheckingInterval: number }).connectionsCheckingInterval =
          50;
      },
    });
    for (const text of [head('Content-Length: 100'), 'GET /live HTTP/1.1\r\nHost:']) {
      const connection = await RawConnection.open(impatient.port);
      const answer = await connection.send(text).answer();
      expect([answer.status, answer.body.error.code]).toEqual([408, 'bad_request']);
      expectErrorOutsideRouting(answer);
      await connection.untilClosed();
    }
  });

  describe('with unusual transfers', () => {
    it('are requested with 100 Continue if the client waits for it', async () => {
      const connection = await opened(head('Expect: 100-continue', 'Content-Length: 12'));
      expect((await connection.answer()).status).toBe(100);
      connection.send('{"text":"a"}');
      expect((await connection.answer()).body.data).toEqual({ body: { text: 'a' } });
    });

    it('can be aborted without harm to the service', async () => {
      for (let i = 0; i < 20; i += 1) {
        const connection = await RawConnection.open(app.port);
        connection.send(head('Content-Length: 1000'), randomBytes(i * 10));
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (i % 2) connection.reset();
        else connection.close();
      }
      expect((await app.get('/live')).status).toBe(200);
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
