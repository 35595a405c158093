import { METHODS } from 'node:http';
import type { ApiClient } from '../support/api-client.js';
import { as, makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const ADDRESSES = [
  ['GET', '/api'],
  ['GET', '/api/'],
  ['GET', '/api/nothing'],
  ['POST', '/api/nothing/at/all?page=1'],
  ['GET', '/api/incidents/'],
  ['OPTIONS', '/api/incidents'],
  ['PATCH', '/api/incidents/x'],
  ['DELETE', '/api/actions/execute'],
  ['POST', '/api/health'],
  ['PROPFIND', '/api/nothing'],
  ['QUERY', '/api/incidents/x'],
  ['GET', '/api/%zz'],
  ['PUT', '/api/incidents//actions'],
] as const;

/** Node ends CONNECT itself. */
const EVERY_METHOD = METHODS.filter((method) => method !== 'CONNECT');

const READS_PER_MINUTE = 5;

describe('Under /api, addresses and methods that do not exist', () => {
  let app: TestApp;
  let viewer: ApiClient;
  beforeAll(async () => {
    app = await startTestApp({ settings: { TRUST_PROXY: '127.0.0.1/32' } });
    viewer = await as(app, 'viewer');
  });
  afterAll(() => app.close());

  it.each(ADDRESSES)('are 401 to strangers at %s %s', async (method, path) => {
    const made = `its_aaaaaaaa_${'x'.repeat(43)}`;
    for (const headers of [{}, { authorization: `Bearer ${made}` }, { cookie: 'its_session=x' }]) {
      const answer = await app.request(method, path, { headers });
      expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(answer.headers.allow).toBeUndefined();
    }
  });

  it.each(ADDRESSES)('are 404 or 405 to every principal at %s %s', async (method, path) => {
    const { status, headers } = await viewer.request(method, path);
    expect(status).toBe(headers.allow === undefined ? 404 : 405);
  });

  describe.each(EVERY_METHOD)('asked with %s', (method) => {
    it('are 401 to strangers at /api/nothing, as what exists is', async () => {
      for (const path of ['/api/nothing', '/api/incidents', '/api/kill-switch/activate']) {
        expect([path, (await app.request(method, path)).status]).toEqual([path, 401]);
      }
    });

    it('are 404 to who is known, and 405 where another method exists', async () => {
      const nothing = await viewer.request(method, '/api/nothing');
      expect(nothing.status).toBe(404);
      const { status, headers } = await viewer.request(method, '/api/incidents');
      if (['GET', 'HEAD', 'POST'].includes(method)) expect([200, 403]).toContain(status);
      else expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    });
  });

  it('count a made-up key whatever the method', async () => {
    const headers = {
      authorization: `Bearer its_aaaaaaaa_${'z'.repeat(43)}`,
      'x-forwarded-for': '192.0.2.78',
    };
    const statuses = [];
    for (let count = 0; count < 61; count += 1) {
      const method = EVERY_METHOD[count % EVERY_METHOD.length]!;
      statuses.push((await app.request(method, '/api/incidents', { headers })).status);
    }
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
  });

  it('are said before anything about the body', async () => {
    const headers = { 'content-type': 'text/plain' };
    const answer = await viewer.request('POST', '/api/nothing', { body: '{', headers });
    expect(answer.status).toBe(404);
  });

  it('count made-up keys like elsewhere', async () => {
    const headers = {
      authorization: `Bearer its_aaaaaaaa_${'y'.repeat(43)}`,
      'x-forwarded-for': '192.0.2.77',
    };
    const statuses = [];
    for (let count = 0; count < 61; count += 1) {
      statuses.push((await app.request('GET', '/api/nothing', { headers })).status);
    }
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
    expect((await app.request('GET', '/api/incidents', { headers })).status).toBe(429);
  });

  it("count against a principal's limits", async () => {
    const { client } = await makeKey(app, 'viewer', { limits: { read: READS_PER_MINUTE } });
    for (let count = 0; count < READS_PER_MINUTE; count += 1) {
      const { status, headers } = await client.request('GET', '/api/nothing');
      expect([status, headers['x-ratelimit-remaining']]).toEqual([
        404,
        String(READS_PER_MINUTE - 1 - count),
      ]);
    }
    expect((await client.request('GET', '/api/nothing')).status).toBe(429);
    expect((await client.request('GET', '/api/incidents')).status).toBe(429);
  });

  it('are counted in the metrics without their address', async () => {
    await viewer.request('GET', '/api/a-made-up-one');
    const { text } = await app.request('GET', '/metrics');
    expect(text).toMatch(/http_requests_total\{method="GET",route="unknown",status="404"\}/);
    expect(text).not.toMatch(/route="\/api(\/\*)?"|a-made-up-one/);
  });
});
