import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { ApiClient } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const INCIDENT = { incident_type: 'phishing', severity: 'low', source: 'test', raw_data: { a: 1 } };
const PLAYBOOK = { name: 'a-playbook', steps: [] };

describe('Answers on their way out', () => {
  let app: TestApp;
  let admin: ApiClient;
  let key: string;

  beforeAll(async () => {
    app = await startTestApp();
    ({ client: admin, key } = await makeKey(app, 'admin'));
    for (let count = 0; count < 20; count += 1) await create('/api/incidents', INCIDENT);
  });
  afterAll(() => app.close());

  const create = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await admin.request('POST', path, { body, headers });
    expect([answer.status, answer.body.error]).toEqual([201, undefined]);
    return answer;
  };

  /** Keeps the bytes of the body, which the client of the other tests takes for text. */
  const bytesOf = (method: string, path: string, headers: Record<string, string>) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; bytes: Buffer }>(
      (resolve, reject) => {
        const outgoing = request(
          `${app.url}${path}`,
          { method, headers: { authorization: `Bearer ${key}`, ...headers } },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('end', () =>
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                bytes: Buffer.concat(chunks),
              }),
            );
          },
        );
        outgoing.on('error', reject);
        outgoing.end();
      },
    );

  describe('with an ETag', () => {
    const read = (path: string, tag: string, method = 'GET') =>
      admin.request(method, path, { headers: { 'if-none-match': tag } });

    it.each([
      ['/api/incidents', INCIDENT],
      ['/api/playbooks', PLAYBOOK],
    ])(
      'are 304 without a body for a caller of %s that has the version already',
      async (path, body) => {
        const { body: made } = await create(path, {
          ...body,
          ...(path.endsWith('playbooks') && { name: 'tagged' }),
        });
        const address = `${path}/${made.data.id}`;
        const { etag } = (await admin.request('GET', address)).headers;
        for (const tag of [etag!, `W/${etag}`, `"other", ${etag}`, '*']) {
          for (const method of ['GET', 'HEAD']) {
            const answer = await read(address, tag, method);
            expect([answer.status, answer.text, answer.headers.etag]).toEqual([304, '', etag]);
            expect(answer.headers['content-type']).toBeUndefined();
          }
        }
        expect((await read(address, '"other"')).status).toBe(200);
        expect((await read(`${path}/00000000-0000-7000-8000-000000000000`, '*')).status).toBe(404);
      },
    );

    it('are 200 again after a change', async () => {
      const { body } = await create('/api/incidents', INCIDENT);
      const address = `/api/incidents/${body.data.id}`;
      const { etag } = (await admin.request('GET', address)).headers;
      const changed = await admin.request('PUT', address, {
        body: { severity: 'high' },
        headers: { 'if-match': etag!, 'if-none-match': etag! },
      });
      expect(changed.status).toBe(200);
      const again = await read(address, etag!);
      expect([again.status, again.body.data.severity]).toEqual([200, 'high']);
    });
  });

  describe('to a creation', () => {
    it.each([
      ['/api/incidents', INCIDENT],
      ['/api/playbooks', { ...PLAYBOOK, name: 'located' }],
      ['/api/users', { username: 'ada', password: 'correct horse battery', role: 'viewer' }],
      ['/api/webhooks', { source: 'located', secret: 'a secret of the sender, long enough' }],
      ['/api/connectors', { name: 'located', type: 'sandbox', config: {} }],
    ])('name the address of the new resource in Location: %s', async (path, body) => {
      const headers = { 'idempotency-key': `located-${path}` };
      const answer = await create(path, body, headers);
      const { location } = answer.headers;
      const read = await admin.request('GET', location!);
      expect(read.status).toBe(200);
      const of = path === '/api/webhooks' ? 'source' : 'id';
      expect(read.body.data[of]).toBe(answer.body.data[of]);
      const repeated = await create(path, body, headers);
      expect([repeated.headers.location, repeated.headers['idempotency-replayed']]).toEqual([
        location,
        'true',
      ]);
    });

    it('have no Location if no operation reads the resource', async () => {
      const { headers } = await create('/api/api-keys', { name: 'unread', role: 'viewer' });
      expect(headers.location).toBeUndefined();
    });
  });

  describe('compressed', () => {
    const LIST = '/api/incidents?per_page=20';
    const plain = async (path: string) => (await admin.request('GET', path)).text;

    it.each([
      ['br, gzip', 'br', brotliDecompressSync],
      ['gzip, deflate', 'gzip', gunzipSync],
    ] as const)(
      'use the encoding that the caller accepts: %s',
      async (accepted, encoding, unpack) => {
        const text = await plain(LIST);
        for (const method of ['GET', 'HEAD']) {
          const { status, headers, bytes } = await bytesOf(method, LIST, {
            'accept-encoding': accepted,
          });
          expect([status, headers['content-encoding'], headers.vary]).toEqual([
            200,
            encoding,
            'accept-encoding',
          ]);
          expect(Number(headers['content-length'])).toBeLessThan(text.length / 3);
          if (method === 'GET') expect(unpack(bytes).toString()).toBe(text);
        }
      },
    );

    it.each(['identity', 'gzip;q=0', ''])(
      'are not sent to a caller that accepts %p',
      async (accepted) => {
        const { headers, bytes } = await bytesOf('GET', LIST, { 'accept-encoding': accepted });
        expect(headers['content-encoding']).toBeUndefined();
        expect(headers.vary).toBe('accept-encoding');
        expect(bytes.toString()).toBe(await plain(LIST));
      },
    );

    it('leave small answers, errors, answers with a strong ETag and streams as they are', async () => {
      const raw_data = { text: 'x'.repeat(5_000) };
      const { body } = await create('/api/incidents', { ...INCIDENT, raw_data });
      for (const path of [
        '/api/me',
        '/api/incidents?nonsense=1',
        `/api/incidents/${body.data.id}`,
        '/api/audit/export',
      ]) {
        const { headers } = await bytesOf('GET', path, { 'accept-encoding': 'br, gzip' });
        expect([path, headers['content-encoding']]).toEqual([path, undefined]);
      }
    });

    it('leave answers to POST as they are, because these alone have secrets', async () => {
      const answer = await admin.request('POST', '/api/api-keys', {
        body: { name: 'secret', role: 'viewer' },
        headers: { 'accept-encoding': 'br, gzip' },
      });
      expect([answer.status, answer.headers['content-encoding']]).toEqual([201, undefined]);
      expect(answer.body.data.key).toMatch(/^its_/);
    });
  });
});
