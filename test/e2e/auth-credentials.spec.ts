import { connect } from 'node:net';
import { DataSource } from 'typeorm';
import { eventually } from '../support/jobs/eventually.js';
import { makeKey, type TestKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('Credentials', () => {
  let app: TestApp;
  let key: TestKey;

  beforeAll(async () => {
    app = await startTestApp();
    key = await makeKey(app, 'viewer', { limits: { read: 0, write: 7 } });
  });

  afterAll(() => app.close());

  const me = (authorization: string) =>
    app.request('GET', '/api/me', { headers: { authorization } });

  it('identify the caller', async () => {
    const answer = await key.client.request('GET', '/api/me');
    expect(answer.body).toEqual({
      data: {
        name: key.name,
        kind: 'key',
        role: 'viewer',
        approval_level: 'none',
        limit_class: 'standard',
        limits: { read: 0, write: 7 },
      },
    });
    expect((await key.client.request('HEAD', '/api/me')).status).toBe(200);
  });

  it.each([
    ['as documented', (text: string) => `Bearer ${text}`],
    ['in lower case', (text: string) => `bearer ${text}`],
    ['in upper case', (text: string) => `BEARER ${text}`],
    ['after several spaces', (text: string) => `Bearer   ${text}`],
    ['with white space around', (text: string) => `  Bearer ${text}  `],
  ])('are accepted in the form %s', async (_, header) => {
    expect((await me(header(key.key))).status).toBe(200);
  });

  it.each([
    ['the prefix alone', (text: string) => `Bearer ${text.slice(0, 13)}`],
    [
      'the prefix with another secret',
      (text: string) => `Bearer ${text.slice(0, 13)}${'A'.repeat(43)}`,
    ],
    ['the secret with another prefix', (text: string) => `Bearer its_AAAAAAAA_${text.slice(13)}`],
    ['the last letter missing', (text: string) => `Bearer ${text.slice(0, -1)}`],
    ['a letter too many', (text: string) => `Bearer ${text}A`],
    ['another case', (text: string) => `Bearer ${text.toUpperCase()}`],
    ['no scheme', (text: string) => text],
    ['another scheme', (text: string) => `Token ${text}`],
    ['Basic', (text: string) => `Basic ${Buffer.from(`${text}:`).toString('base64')}`],
    ['no space', (text: string) => `Bearer${text}`],
    ['a tab', (text: string) => `Bearer\t${text}`],
    ['two keys', (text: string) => `Bearer ${text}, Bearer ${text}`],
    ['white space inside', (text: string) => `Bearer ${text.slice(0, 20)} ${text.slice(20)}`],
    ['nothing', () => 'Bearer '],
    ['an empty header', () => ''],
    ['far too much', (text: string) => `Bearer ${text}${'x'.repeat(6_000)}`],
    ['letters beyond ASCII', () => 'Bearer its_\u00e9\u00e9'],
    ['SQL', () => `Bearer its_'or'1=1_${'A'.repeat(43)}`],
  ])('are refused in the form %s', async (_, header) => {
    const answer = await me(header(key.key));
    expect(answer.status).toBe(401);
    expect(answer.body.error.code).toBe('unauthorized');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.text).not.toContain(key.key.slice(13));
  });

  it('are refused if the request has two, even of the same key', async () => {
    const status = await raw(
      app,
      `GET /api/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key.key}\r\nauthorization: Bearer ${key.key}\r\nConnection: close\r\n\r\n`,
    );
    expect(status).toBe(401);
  });

  it('make the request malformed if they contain NUL', async () => {
    const status = await raw(
      app,
      `GET /api/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key.key}\0\r\nConnection: close\r\n\r\n`,
    );
    expect(status).toBe(400);
  });

  it('are not accepted in a query parameter', async () => {
    const answer = await app.request('GET', `/api/me?access_token=${key.key}&api_key=${key.key}`);
    expect(answer.status).toBe(401);
  });

  it('are checked before everything else', async () => {
    const answer = await app.request('POST', '/api/users', {
      body: '{"broken',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(401);
    const viewer = await key.client.request('POST', '/api/users', {
      body: '{"broken',
      headers: { 'content-type': 'application/json' },
    });
    expect(viewer.status).toBe(400);
  });

  it('leave only a count of refusals in the database', async () => {
    const text = `select * from audit_log where action = 'auth.key_refused'`;
    // It is written beside the answers, which do not wait for it.
    const rows = await eventually(
      () => app.nest.get(DataSource).query<object[]>(text),
      (written) => written.length > 0,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ actor: 'address:127.0.0.1' });
  });
});

describe('Guessing keys', () => {
  it('is throttled after sixty failures in a minute, while valid keys pass', async () => {
    const app = await startTestApp();
    try {
      const key = await makeKey(app, 'viewer');
      const guess = (index: number) =>
        app.request('GET', '/api/me', {
          headers: {
            authorization: `Bearer its_${String(index).padStart(8, 'a')}_${'A'.repeat(43)}`,
          },
        });
      const answers = [];
      for (let index = 0; index < 70; index += 1) answers.push(await guess(index));
      expect(answers.map(({ status }) => status)).toEqual([
        ...Array(60).fill(401),
        ...Array(10).fill(429),
      ]);
      expect(Number(answers.at(-1)!.headers['retry-after'])).toBeGreaterThan(0);
      expect((await key.client.request('GET', '/api/me')).status).toBe(200);
      // A key that is not in the cache yet, neither.
      const fresh = await makeKey(app, 'viewer');
      expect((await fresh.client.request('GET', '/api/me')).status).toBe(200);
      // Nothing at all is no guess.
      expect((await app.request('GET', '/api/me')).status).toBe(401);
    } finally {
      await app.close();
    }
  });
});

function raw(app: TestApp, text: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(app.port, '127.0.0.1', () => socket.write(text, 'latin1'));
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(Number(answer.slice(9, 12))));
  });
}
