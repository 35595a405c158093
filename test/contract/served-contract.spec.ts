import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { packedAnswer } from '../support/raw-http.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const committed = (name: string): string => readFileSync(`openapi/${name}`, 'utf8');
const minified = JSON.stringify(JSON.parse(committed('openapi.json')));

describe('the served contract', () => {
  const app = useStarted(() => startTestApp());

  it.each([
    ['openapi.json', 'application/json; charset=utf-8', minified],
    ['openapi.yaml', 'application/yaml; charset=utf-8', committed('openapi.yaml')],
  ])('%s equals the committed file, and is public', async (name, type, text) => {
    const answer = await packedAnswer(`${app.url}/${name}?whatever=1`);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, type]);
    expect(answer.bytes.toString()).toBe(text);
  });

  it('names the public address of the service', async () => {
    await using other = await startTestApp({
      settings: { PUBLIC_URL: 'https://triage.example.com/' },
    });
    const { servers } = JSON.parse(
      (await packedAnswer(`${other.url}/openapi.json`)).bytes.toString(),
    );
    expect(servers).toMatchObject([{ url: 'https://triage.example.com' }]);
    const yaml = (await packedAnswer(`${other.url}/openapi.yaml`)).bytes.toString();
    expect(yaml).toContain('url: https://triage.example.com\n');
    expect(yaml).not.toContain('127.0.0.1:3000');
  });

  it('is compressed for clients that accept gzip', async () => {
    const answer = await packedAnswer(`${app.url}/openapi.json`, { 'accept-encoding': 'gzip' });
    expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(gunzipSync(answer.bytes).toString()).toBe(minified);
    expect(answer.bytes.length).toBeLessThan(minified.length / 4);
  });

  it('is not sent again to clients that have the current version', async () => {
    const first = await packedAnswer(`${app.url}/openapi.json`);
    const tag = String(first.headers['etag']);
    const again = await packedAnswer(`${app.url}/openapi.json`, {
      'if-none-match': `"old", ${tag}`,
    });
    expect([again.status, again.bytes.length, again.headers['etag']]).toEqual([304, 0, tag]);
    const changed = await packedAnswer(`${app.url}/openapi.json`, { 'if-none-match': 'W/"old"' });
    expect([changed.status, changed.headers['cache-control']]).toEqual([200, 'no-cache']);
  });
});
