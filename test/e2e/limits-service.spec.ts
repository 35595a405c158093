import type { Answer, ApiClient } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const INCIDENT = { incident_type: 'phishing', source: 'test' };

const remaining = ({ headers }: Answer): number | undefined => {
  const value = headers['x-ratelimit-remaining'];
  return value === undefined ? undefined : Number(value);
};

describe('Rate limits of the service', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({
      settings: { RATE_LIMIT_READ: '4', RATE_LIMIT_WRITE: '6', RATE_LIMIT_TRIAGE: '2' },
    });
  });
  afterAll(() => app.close());

  const newClient = async (role: 'viewer' | 'analyst' | 'admin', limits?: object) =>
    (await makeKey(app, role, limits ? { limits } : {})).client;

  it('count one principal over all addresses of the API, and say so each time', async () => {
    const viewer = await newClient('viewer');
    expect(remaining(await viewer.request('GET', '/api/me'))).toBe(3);
    expect(remaining(await viewer.request('GET', '/api/incidents'))).toBe(2);
    expect(remaining(await viewer.request('HEAD', '/api/incidents'))).toBe(1);
    expect(remaining(await viewer.request('GET', '/api/incidents/nonsense'))).toBe(0);
    const refused = await viewer.request('GET', '/api/me');
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await (await newClient('viewer')).request('GET', '/api/me')).status).toBe(200);
  });

  it('go before what is wrong with the request, and after who makes it', async () => {
    const viewer = await newClient('viewer', { write: 4 });
    const statuses = async (client: ApiClient) => {
      const malformed = { headers: { 'idempotency-key': 'a b' }, body: INCIDENT };
      const bodies = [
        { body: '{', headers: { 'content-type': 'application/json' } },
        { body: 'x', headers: { 'content-type': 'text/plain' } },
        malformed,
        { body: INCIDENT },
      ];
      const answers: Answer[] = [];
      for (const options of bodies) {
        answers.push(await client.request('POST', '/api/incidents', options));
      }
      return answers;
    };
    const first = await statuses(viewer);
    expect(first.map(({ status }) => status)).toEqual([400, 415, 400, 403]);
    expect(first.map(remaining)).toEqual([3, 2, 1, 0]);
    expect((await statuses(viewer)).map(({ status }) => status)).toEqual([429, 429, 429, 429]);
    const stranger = app.client.with({ authorization: 'Bearer its_00000000_nonsense' });
    const refused = await statuses(stranger);
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(refused.map(remaining)).toEqual(Array(4).fill(undefined));
  });

  it('leave health, metrics and the contract alone', async () => {
    for (let i = 0; i < 8; i += 1) {
      for (const path of ['/health', '/live', '/ready', '/metrics', '/openapi.json']) {
        const answer = await app.request('GET', path);
        expect([path, answer.status, remaining(answer)]).toEqual([path, 200, undefined]);
      }
    }
  });

  it('never refuse a valid key for what strangers try from the same address', async () => {
    const viewer = await newClient('viewer');
    const tries: number[] = [];
    for (let i = 0; i < 70; i += 1) {
      const authorization = `Bearer its_${String(i).padStart(8, '0')}_${'A'.repeat(43)}`;
      tries.push((await app.request('GET', '/api/me', { headers: { authorization } })).status);
    }
    expect(tries.filter((status) => status === 429).length).toBeGreaterThanOrEqual(10);
    expect(tries[0]).toBe(401);
    expect((await viewer.request('GET', '/api/me')).status).toBe(200);
  });

  it('answer a repeated creation as the first time', async () => {
    const analyst = await newClient('analyst');
    const headers = { 'idempotency-key': 'create-1' };
    const all = await Promise.all(
      Array.from({ length: 3 }, () =>
        analyst.request('POST', '/api/incidents', { body: INCIDENT, headers }),
      ),
    );
    const made = all.filter(({ status }) => status === 201);
    const again = await analyst.request('POST', '/api/incidents', { body: INCIDENT, headers });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(new Set([...made, again].map(({ text }) => text)).size).toBe(1);
    const admin = await newClient('admin');
    const { body } = await admin.request('GET', '/api/incidents');
    expect(body.meta.total).toBe(1);
  });
});
