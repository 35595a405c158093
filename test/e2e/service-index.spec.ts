import { readFileSync } from 'node:fs';
import { rawRequest } from '../support/raw-http.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** What Firefox and Chrome send when somebody types an address. */
const BROWSERS = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
];
const PROGRAMS = ['*/*', 'application/json', 'application/json, text/plain, */*'];

describe('the root of the service', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app?.close());

  const index = {
    data: {
      name: 'Incident Triage Service',
      version,
      api: '/api',
      docs: '/docs',
      openapi: '/openapi.json',
      health: '/health',
    },
  };

  it('tells programs what is where, without a key', async () => {
    for (const accept of PROGRAMS) {
      const answer = await app.request('GET', '/', { headers: { accept } });
      expect([answer.status, answer.body]).toEqual([200, index]);
      expect(answer.headers['vary']).toBe('Accept');
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    }
    const bare = await rawRequest(app.port, Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    expect(bare.status).toBe(200);
  });

  it('names addresses that there are', async () => {
    const { docs, openapi, health } = index.data;
    for (const path of [docs, openapi, health]) {
      expect([200, 303]).toContain((await app.request('GET', path)).status);
    }
  });

  it.each(BROWSERS)('leads browsers on to the page: %s', async (accept) => {
    for (const [method, path] of [
      ['GET', '/'],
      ['HEAD', '/'],
      ['GET', '/?utm_source=x&y'],
    ] as const) {
      const answer = await app.request(method, path, { headers: { accept } });
      expect([answer.status, answer.text]).toEqual([303, '']);
      expect(answer.headers).toMatchObject({ location: '/docs', vary: 'Accept' });
    }
  });

  it('answers HEAD as GET, without the body', async () => {
    const answer = await app.request('HEAD', '/');
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers['vary']).toBe('Accept');
  });

  it('says the same whoever asks', async () => {
    for (const headers of [
      { authorization: `Bearer its_aaaaaaaa_${'x'.repeat(43)}` },
      { cookie: 'its_session=x' },
    ]) {
      const answer = await app.request('GET', '/', { headers });
      expect([answer.status, answer.body]).toEqual([200, index]);
    }
  });

  it('takes no other method', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await app.request(method, '/');
      expect([method, answer.status, answer.headers['allow']]).toEqual([method, 405, 'GET, HEAD']);
    }
  });

  it('leaves what does not exist an error in the envelope, to browsers, too', async () => {
    for (const path of ['/nothing', '/index.html', '/%2e', '/docss']) {
      const answer = await app.request('GET', path, { headers: { accept: BROWSERS[0]! } });
      expect([path, answer.status, answer.body.error?.code]).toEqual([path, 404, 'not_found']);
    }
  });
});
