import type { ApiClient } from '../support/api-client.js';
import { ECHO_PATHS, EchoModule } from '../support/echo.module.js';
import { expectErrorOutsideRouting, rawRequest } from '../support/raw-http.js';
import { readContract } from '../support/contract-check-document.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('methods and addresses', () => {
  let app: TestApp;
  /** Under /api only those who are known are told what there is: test/e2e/unknown-addresses.spec.ts. */
  let admin: ApiClient;
  beforeAll(async () => {
    app = await startTestApp({ modules: [EchoModule], undocumented: ECHO_PATHS });
    admin = await as(app, 'admin');
  });
  afterAll(() => app.close());

  const paths = Object.entries(readContract().paths);

  /** `/api/actions/types` is not an address of `/api/actions/{id}`: what is written out comes first. */
  function allowed(url: string): string[] {
    const methods = paths
      .filter(([path]) => path === url || path.replace(/\{[^}]*\}/g, 'x') === url)
      .flatMap(([, operations]) => Object.keys(operations).map((method) => method.toUpperCase()));
    return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].sort();
  }

  it.each(paths)('answers 405 with Allow to every other method on %s', async (path) => {
    const url = path.replace(/\{[^}]*\}/g, 'x');
    const allow = allowed(url);
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
    // A receipt for a source that nobody can register: that there is none is what its sender learns.
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

  it('says so for a path with a parameter, a query and a body', async () => {
    const body = { some: 'thing' };
    const answer = await app.request('POST', '/test-only/echo/7?page=1', { body });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'DELETE, PUT']);
    expect((await app.request('QUERY', '/live')).status).toBe(405);
  });

  it('answers HEAD as GET, without the body', async () => {
    const get = await app.request('GET', '/live');
    const head = await app.request('HEAD', '/live');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(head.headers['content-type']).toBe(get.headers['content-type']);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
  });

  it.each(['/api', '/api/', '/live/', '//live', '/API/health', '/api/nothing', '/.env'])(
    'answers 404 in the envelope at %s',
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

  it('answers in its own words at an address that does not exist', async () => {
    const { body } = await admin.request('GET', `/api/${'x'.repeat(10_000)}`);
    expect(body.error.message).toBe('The resource does not exist.');
  });

  describe.each([
    ['/api/incidents', '%'],
    ['/api/incidents', '%zz'],
    ['/api/incidents', '%ff'],
    ['/api/incidents', 'a%00b'],
    ['/api/incidents', 'x'.repeat(301)],
    ['/api/incidents', 'x'.repeat(15_000)],
  ])('under %s, to the malformed id %s', (base, id) => {
    it('answers like to an unknown one: in the order of the checks, and by its name', async () => {
      const path = `${base}/${id}`;
      expect((await app.request('PUT', path)).status).toBe(401);
      expect((await admin.request('PUT', path, { body: {} })).status).toBe(422);
      const answer = await admin.request('PUT', path, { body: { severity: 'low' } });
      expect([answer.status, answer.body.error.message]).toEqual([404, 'Incident not found.']);
    });
  });

  it.each(['/%', '/%ff', '/api/%zz', '/nothing%00'])('answers 404 at %s', async (path) => {
    const answer = await admin.request('GET', path);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
  });

  describe('of requests that Node itself refuses', () => {
    it.each<[string, number, string]>([
      ['garbage', 400, 'garbage\r\n\r\n'],
      ['TLS on the plain port', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
      ['both Content-Length and Transfer-Encoding', 400, smuggled('Content-Length: 4')],
      [
        'two lengths',
        400,
        'POST /live HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      ],
      ['an unknown transfer coding', 400, smuggled('Transfer-Encoding: gzip, identity')],
      [
        'a chunk of no size',
        400,
        `${smuggled('X: y')
          .replace('/live', '/test-only/echo')
          .replace(/0\r\n\r\n$/, '')}zz\r\n`,
      ],
      ['a bare line feed in a header', 400, 'GET /live HTTP/1.1\r\nHost: x\r\nA: b\nc\r\n\r\n'],
      ['no Host', 400, 'GET /live HTTP/1.1\r\n\r\n'],
      ['headers that are too large', 431, `GET /live HTTP/1.1\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`],
      ['an address that is too large', 431, `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`],
    ])('answers to %s with %d in the envelope', async (_, status, text) => {
      const answer = await rawRequest(app.port, text);
      expect(answer.status).toBe(status);
      expect(answer.body.error.code).toBe('bad_request');
      expect(answer.headers).toMatchObject({ connection: 'close', 'cache-control': 'no-store' });
      expectErrorOutsideRouting(answer);
    });

    it('goes on serving others', async () => {
      expect((await app.request('GET', '/live')).status).toBe(200);
    });
  });
});

function smuggled(header: string): string {
  return `POST /live HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n${header}\r\n\r\n0\r\n\r\n`;
}
