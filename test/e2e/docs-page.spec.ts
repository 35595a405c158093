import { readFileSync } from 'node:fs';
import { docsPage } from '../../src/platform/docs/docs.controller.js';
import { rawRequest } from '../support/raw-http.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() => startTestApp({ settings: { BOOTSTRAP_ADMIN_PASSWORD: PASSWORD } }));

const PASSWORD = 'correct horse battery staple';

describe('the page of Swagger UI', () => {
  let headers: Record<string, string>;

  beforeAll(async () => {
    const login = await app.post('/login', { username: 'admin', password: PASSWORD });
    headers = { cookie: String(login.headers['set-cookie']).split(';')[0]! };
  });

  it('is also served with a trailing slash', async () => {
    for (const options of [{ headers }, {}]) {
      const answer = await app.request('GET', '/docs/?x=1', options);
      expect([answer.status, answer.headers['location']]).toEqual([303, '/docs']);
    }
    expect((await app.request('HEAD', '/docs/', { headers })).status).toBe(303);
  });

  const filesOfThePage = async () => {
    const page = await app.get('/docs', headers);
    return [...page.text.matchAll(/(?:src|href)="(\/docs\/(?!guides)[^"]+)"/g)].map(
      ([, file]) => file!,
    );
  };

  it('refers to its files by URLs that work at any path of the page', async () => {
    const files = await filesOfThePage();
    expect(files.map((file) => file.split('/').at(-1))).toEqual([
      ...['swagger-ui.css', 'page.css', 'swagger-ui-bundle.js', 'start.mjs'],
    ]);
    for (const file of files) {
      expect((await app.get(file, headers)).status).toBe(200);
    }
  });

  it('shows the guides to logged-in users, and redirects other visitors to the login', async () => {
    expect((await app.get('/docs', headers)).text).toContain('<a href="/docs/guides/api">api</a>');
    const guide = await app.get('/docs/guides/api', headers);
    const type = guide.headers['content-type'];
    expect([guide.status, type]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(guide.text).toContain('## Limits');
    const stranger = await app.get('/docs/guides/api');
    const to = stranger.headers['location'];
    expect([stranger.status, to]).toEqual([303, '/login?next=/docs/guides/api']);
    for (const name of ['none', '..%2FREADME', 'adr%2F0001-toolchain', 'page.css']) {
      expect((await app.get(`/docs/guides/${name}`, headers)).status).toBe(404);
    }
  });

  it('has the imported files of its scripts in the same folder', async () => {
    const [start] = (await filesOfThePage()).slice(-1);
    const { text } = await app.get(start!, headers);
    const imported = [...text.matchAll(/from '\.\/(\w+\.mjs)'/g)].map(([, name]) => name!);
    expect(imported.length).toBeGreaterThan(2);
    for (const name of imported) {
      const file = await app.get(start!.replace('start.mjs', name), headers);
      expect([name, file.status]).toEqual([name, 200]);
      expect(file.headers['content-type']).toContain('javascript');
    }
  });

  it('lets only browsers cache its files, and only with revalidation', async () => {
    const [file] = await filesOfThePage();
    const { headers: own } = await app.get(file!, headers);
    expect(own['cache-control']).toBe('private, no-cache');
    const again = await app.get(file!, { ...headers, 'if-none-match': own['etag'] as string });
    expect([again.status, again.text]).toEqual([304, '']);
    const stranger = await app.get(file!);
    expect([stranger.status, stranger.headers['location']]).toEqual([303, '/login?next=/docs']);
    expect(stranger.headers['cache-control']).toBe('no-store');
  });

  it('sends its largest file compressed only to clients that accept compression', async () => {
    const bundle = (await filesOfThePage()).find((file) => file.endsWith('bundle.js'))!;
    const bytesFor = async (encoding: string) => {
      const asking = { ...headers, 'accept-encoding': encoding };
      const answer = await app.get(bundle, asking);
      expect(answer.headers['vary']).toBe('accept-encoding');
      return [answer.headers['content-encoding'], Number(answer.headers['content-length'])];
    };
    const [, plain] = await bytesFor('gzip;q=0');
    const [encoding, packed] = await bytesFor('br, gzip');
    expect(encoding).toBe('gzip');
    expect(packed).toBeLessThan((plain as number) / 3);
  });

  it('redirects a visitor through the login to the linked page', async () => {
    const link = '/docs?action=act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
    const answer = await app.get(link);
    const location = String(answer.headers['location']);
    expect([answer.status, location]).toEqual([
      303,
      `/login?next=${link.replace('?', '%3F').replace('=', '%3D')}`,
    ]);
    expect((await app.get(location)).text).toContain(`name="next" value="${link}"`);
    expect((await app.get(link, headers)).status).toBe(200);
    const { headers: sent } = await app.get('/docs?next=//evil.example');
    expect(sent['location']).toMatch(/^\/login\?next=\/docs(%[\w%.-]*)?$/);
  });

  it.each(['/docs/__proto__', '/docs/..%2fdocs.controller.js', '/docs/x/start.mjs'])(
    'has no other files: %s',
    async (path) => {
      const answer = await app.get(path, headers);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
    },
  );

  it('shows the name and role of the logged-in user', async () => {
    const { text } = await app.get('/docs', headers);
    expect(text).toContain('logged in as <strong>admin</strong>, role <strong>admin</strong>');
    expect(docsPage({ name: '<b>&"x', role: 'senior' })).toContain(
      'logged in as <strong>&lt;b&gt;&amp;&quot;x</strong>, role <strong>senior</strong>',
    );
    expect(text).toContain('data-role="admin" data-roles="viewer analyst senior manager admin"');
  });

  it('has a favicon that may be cached for a day', async () => {
    const icon = await app.get('/favicon.ico');
    expect(icon.headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=86400',
    });
    expect(icon.text).toMatch(/^<svg xmlns=/);
  });
});

describe('the root of the service', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

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

  it('lists its main URLs for programs, without a key', async () => {
    for (const accept of ['*/*', 'application/json']) {
      const answer = await app.get('/', { accept });
      expect([answer.status, answer.body]).toEqual([200, index]);
      expect(answer.headers).toMatchObject({
        vary: 'Accept',
        'content-type': 'application/json; charset=utf-8',
      });
    }
    const bare = await rawRequest(app.port, Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    expect(bare.status).toBe(200);
  });

  it('redirects browsers to the documentation page', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['HEAD', '/'],
      ['GET', '/?utm_source=x&y'],
    ] as const) {
      const answer = await app.request(method, path, { headers: { accept: BROWSER } });
      expect([answer.status, answer.text]).toEqual([303, '']);
      expect(answer.headers).toMatchObject({ location: '/docs', vary: 'Accept' });
    }
  });
});
