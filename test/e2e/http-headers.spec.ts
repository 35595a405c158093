import { ECHO_PATHS, EchoModule } from '../support/echo.module.js';
import { rawRequest, type RawAnswer } from '../support/raw-http.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const OURS = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const modules = { modules: [EchoModule], undocumented: ECHO_PATHS };

describe('headers of every response', () => {
  const app = useStarted(() => startTestApp(modules));

  const withHeader = (header: string): Promise<RawAnswer> =>
    rawRequest(
      app.port,
      Buffer.from(`GET /live HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`, 'latin1'),
    );

  it.each<[string, string, number]>([
    ['GET', '/live', 200],
    ['HEAD', '/live', 200],
    ['GET', '/metrics', 200],
    ['GET', '/nothing', 404],
    ['GET', '/%', 404],
    ['POST', '/live', 405],
    ['GET', '/test-only/echo?x=1', 422],
    ['GET', '/test-only/failing', 500],
  ])('are present on %s %s', async (method, path, status) => {
    const answer = await app.request(method, path);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(OURS),
    });
    for (const name of ['x-powered-by', 'server', 'etag', 'strict-transport-security']) {
      expect(answer.headers).not.toHaveProperty(name);
    }
    const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'));
    expect(cors).toEqual([]);
  });

  it.each(['/login', '/docs', '/docs/', '/docs/1/start.mjs', '/login?next=/docs'])(
    'allow only scripts of the service on %s',
    async (path) => {
      const { headers } = await app.get(path);
      const policy = headers['content-security-policy'];
      expect(policy).toContain("default-src 'none'");
      expect(policy).toMatch(/script-src 'self'(;|$)/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("base-uri 'none'");
    },
  );

  it.each(['/docsx', '/loginx', '/x/docs', '/live?/docs'])(
    'allow no content on %s, which is not a page',
    async (path) => {
      const { headers } = await app.get(path);
      expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
    },
  );

  describe('X-Request-Id', () => {
    it.each(['a', 'A-b_c.d:e', '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e', 'x'.repeat(128)])(
      'is returned unchanged for %s',
      async (id) => {
        expect((await withHeader(`X-Request-Id: ${id}`)).headers['x-request-id']).toBe(id);
        expect((await app.get('/nothing', { 'x-request-id': id })).body.error.request_id).toBe(id);
      },
    );

    it.each([
      ['an empty value', ''],
      ['a long one', 'x'.repeat(129)],
      ['blanks inside', 'a b'],
      ['markup', '<script>'],
      ['bytes beyond ASCII', 'caf\u00e9'],
      ['a leading dash', '-x'],
    ])('is replaced for %s', async (_, id) => {
      expect((await withHeader(`X-Request-Id: ${id}`)).headers['x-request-id']).toMatch(OURS);
    });

    it('is replaced if the request has two such headers, and differs for each request', async () => {
      const [one, two] = await Promise.all([
        withHeader('X-Request-Id: a\r\nX-Request-Id: b'),
        withHeader('X-Request-Id: a\r\nX-Request-Id: b'),
      ]);
      expect(one.headers['x-request-id']).toMatch(OURS);
      expect(one.headers['x-request-id']).not.toBe(two.headers['x-request-id']);
    });
  });
});

describe('the service behind a proxy', () => {
  const apps = new Map<string, TestApp>();
  afterAll(() => Promise.all([...apps.values()].map((app) => app.close())));

  const forwarded = {
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'soc.example.com',
  };
  const seenBy = async (trusted: string, headers: Record<string, string> = forwarded) => {
    const app =
      apps.get(trusted) ?? (await startTestApp({ ...modules, settings: { TRUST_PROXY: trusted } }));
    apps.set(trusted, app);
    const answer = await app.get('/test-only/client', headers);
    return { ...answer.body.data, hsts: answer.headers['strict-transport-security'] };
  };
  const OURS_AND_THIS = '10.0.0.0/8,127.0.0.1';

  it.each(['', '10.0.0.0/8'])(
    'ignores the headers of an untrusted proxy with TRUST_PROXY=%s',
    async (trusted) => {
      const seen = await seenBy(trusted);
      expect(seen).toMatchObject({ ip: '127.0.0.1', protocol: 'http', hsts: undefined });
      expect(seen.host).toMatch(/^127\.0\.0\.1:/);
    },
  );

  it('trusts the proxies in TRUST_PROXY, and sends HSTS over https', async () => {
    expect(await seenBy(OURS_AND_THIS)).toEqual({
      ip: '203.0.113.7',
      protocol: 'https',
      host: 'soc.example.com',
      hsts: 'max-age=31536000; includeSubDomains',
    });
    expect(await seenBy(OURS_AND_THIS, { 'x-forwarded-proto': 'http' })).toMatchObject({
      protocol: 'http',
      hsts: undefined,
    });
  });

  it.each([
    '203.0.113.7:51234',
    '[::ffff:203.0.113.7]:51234',
    '192.0.2.1, 203.0.113.7:51234, 10.1.2.3:8080, [::ffff:10.1.2.4]:80',
  ])('uses the last address that is not a proxy in %s', async (address) => {
    const seen = await seenBy(OURS_AND_THIS, { ...forwarded, 'x-forwarded-for': address });
    expect(seen.ip).toBe('203.0.113.7');
  });
});
