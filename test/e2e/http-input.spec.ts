import { readContract } from '../support/contract-check-document.js';
import { ECHO_PATHS, EchoModule } from '../support/echo.module.js';
import { as } from '../support/principals.js';
import { expectErrorOutsideRouting, rawRequest } from '../support/raw-http.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() => startTestApp({ modules: [EchoModule], undocumented: ECHO_PATHS }));

describe('query parameters', () => {
  const get = (query: string) => app.get(`/test-only/echo?${query}`);

  it.each<[string, object]>([
    ['page=2&kind=a', { page: 2, kind: 'a' }],
    ['text=%C3%A9+b%2Bc', { text: 'é b+c' }],
    ['text=a=b', { text: 'a=b' }],
  ])('are read from ?%s', async (query, expected) => {
    const answer = await get(query);
    expect([answer.status, answer.body.data.query]).toEqual([200, expected]);
  });

  it.each([
    ['page=0', 'page'],
    ['page=1e1', 'page'],
    ['kind=c', 'kind'],
    ['page[]=1', 'page[]'],
    ['text=a%00b', 'text'],
    ['__proto__=1', '__proto__'],
  ])('in the invalid query ?%s are rejected with 422 and the field %s', async (query, field) => {
    const { status, body } = await get(query);
    expect([status, body.error.code]).toEqual([422, 'validation_error']);
    expect(body.error.details.errors.map((error: { field: string }) => error.field)).toContain(
      field,
    );
  });

  it.each(['text=%', 'text=%ff'])('are rejected with 400 if malformed: ?%s', async (query) => {
    const { status, body } = await get(query);
    expect([status, body.error.code]).toEqual([400, 'bad_request']);
  });

  it('are rejected by operations that have no parameters, and ignored by probes', async () => {
    const answer = await app.put('/test-only/echo/1?a=1');
    expect([answer.status, answer.body.error.details.errors[0].field]).toEqual([422, 'a']);
    for (const query of ['a=1', 'a=1&a=2', 'a=%00', 'a=%', '__proto__=1']) {
      expect((await app.get(`/live?${query}`)).status).toBe(200);
    }
  });

  it('cannot make an unexpected error reveal its details', async () => {
    const { status, body, text } = await app.get('/test-only/failing');
    expect([status, body.error.code]).toEqual([500, 'internal_error']);
    expect(text).not.toMatch(/secret|deep|\.ts|at /);
  });
});

describe('requests', () => {
  /** Under /api only authenticated callers learn which addresses exist: test/e2e/routes-access.spec.ts. */
  const admin = useStarted(() => as(app, 'admin'));

  const paths = Object.entries(readContract().paths);

  /**
   * Returns the methods of an address. `/api/actions/types` does not match `/api/actions/{id}`, because a literal
   * segment takes precedence.
   */
  function allowed(url: string): string[] {
    const methods = paths
      .filter(([path]) => path === url || path.replace(/\{[^}]*\}/g, 'x') === url)
      .flatMap(([, operations]) => Object.keys(operations).map((method) => method.toUpperCase()));
    return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].sort();
  }

  it.each(paths)('get 405 with Allow for every other method on %s', async (path) => {
    const url = path.replace(/\{[^}]*\}/g, 'x');
    const allow = allowed(url);
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
    // True for a webhook request with an invalid source name. It gets the response that the source does not exist.
    const isReceipt = (method: string) => method === 'POST' && url === '/api/webhooks/presets';
    for (const method of others.filter((one) => !allow.includes(one) && !isReceipt(one))) {
      const answer = await admin.request(method, url);
      expect([method, answer.status, answer.headers.allow]).toEqual([
        method,
        405,
        allow.join(', '),
      ]);
      expect(answer.body.error.code).toBe('method_not_allowed');
    }
  });

  it('get the headers of GET for HEAD, without a body', async () => {
    const get = await app.get('/live');
    const head = await app.request('HEAD', '/live');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(head.headers['content-type']).toBe(get.headers['content-type']);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
  });

  it.each(['/api', '//live', '/api/nothing', '/.env'])(
    'get 404 in the envelope at %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'PROPFIND', 'OPTIONS', 'QUERY']) {
        const answer = await admin.request(method, path, {
          body: '{',
          headers: { 'content-type': 'application/json' },
        });
        expect([method, answer.status]).toEqual([method, 404]);
        expect(answer.body.error.code).toBe('not_found');
      }
      expect((await admin.request('HEAD', path)).status).toBe(404);
    },
  );

  describe('that Node rejects', () => {
    const post = 'POST /live HTTP/1.1\r\nHost: x\r\n';
    it.each<[string, number, string]>([
      ['garbage', 400, 'garbage\r\n\r\n'],
      [
        'both Content-Length and Transfer-Encoding',
        400,
        `${post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
      ],
      ['two lengths', 400, `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
      ['a bare line feed in a header', 400, 'GET /live HTTP/1.1\r\nHost: x\r\nA: b\nc\r\n\r\n'],
      ['headers that are too large', 431, `GET /live HTTP/1.1\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`],
    ])('get, for %s, the status %d in the envelope', async (_, status, text) => {
      const answer = await rawRequest(app.port, text);
      expect(answer.status).toBe(status);
      expect(answer.body.error.code).toBe('bad_request');
      expect(answer.headers).toMatchObject({ connection: 'close', 'cache-control': 'no-store' });
      expectErrorOutsideRouting(answer);
    });
  });

  it('respond with 400 in the envelope to a request without Host', async () => {
    const answer = await rawRequest(app.port, 'GET /live HTTP/1.1\r\n\r\n');
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.objectContaining({ code: 'bad_request', message: 'The Host header is missing.' }),
    ]);
    expect(answer.headers['x-request-id']).toBe(answer.body.error.request_id);
  });

  it('ignore an unknown expectation', async () => {
    const text = 'GET /live HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\n\r\n';
    expect((await rawRequest(app.port, text)).status).toBe(200);
  });
});
