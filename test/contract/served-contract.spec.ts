import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

interface Received {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

/** As it is on the wire: fetch would unpack what is compressed. */
function get(url: string, headers: Record<string, string> = {}): Promise<Received> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          headers: response.headers,
          bytes: Buffer.concat(chunks),
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

const committed = (name: string): string => readFileSync(`openapi/${name}`, 'utf8');
const minified = JSON.stringify(JSON.parse(committed('openapi.json')));

describe('the served contract', () => {
  const app = useStarted(() => startTestApp());

  it.each([
    ['openapi.json', 'application/json; charset=utf-8', minified],
    ['openapi.yaml', 'application/yaml; charset=utf-8', committed('openapi.yaml')],
  ])('%s is what the committed file says, open to anyone', async (name, type, text) => {
    const answer = await get(`${app.url}/${name}?whatever=1`);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, type]);
    expect(answer.bytes.toString()).toBe(text);
  });

  it('names the address at which the service is found', async () => {
    const settings = { PUBLIC_URL: 'https://triage.example.com/' };
    const other = await startTestApp({ settings });
    try {
      const { servers } = JSON.parse((await get(`${other.url}/openapi.json`)).bytes.toString());
      expect(servers).toMatchObject([{ url: 'https://triage.example.com' }]);
      const yaml = (await get(`${other.url}/openapi.yaml`)).bytes.toString();
      expect(yaml).toContain('url: https://triage.example.com\n');
      expect(yaml).not.toContain('127.0.0.1:3000');
    } finally {
      await other.close();
    }
  });

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('comes compressed with %s to those who take that', async (encoding, unpack) => {
    const answer = await get(`${app.url}/openapi.json`, { 'accept-encoding': encoding });
    expect(answer.headers).toMatchObject({
      'content-encoding': encoding,
      vary: 'accept-encoding',
    });
    expect(unpack(answer.bytes).toString()).toBe(minified);
    expect(answer.bytes.length).toBeLessThan(minified.length / 4);
  });

  it('is not sent again to those who have it', async () => {
    const first = await get(`${app.url}/openapi.json`);
    const tag = String(first.headers['etag']);
    const again = await get(`${app.url}/openapi.json`, { 'if-none-match': `"old", ${tag}` });
    expect([again.status, again.bytes.length, again.headers['etag']]).toEqual([304, 0, tag]);
    const changed = await get(`${app.url}/openapi.json`, { 'if-none-match': 'W/"old"' });
    expect([changed.status, changed.headers['cache-control']]).toEqual([200, 'no-cache']);
  });
});
