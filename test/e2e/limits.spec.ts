import type { Answer, ApiClient } from '../support/api-client.js';
import { inSession, makeKey, makeUser } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const INCIDENT = { incident_type: 'phishing', source: 'test' };

const remaining = ({ headers }: Answer): number | undefined => {
  const value = headers['x-ratelimit-remaining'];
  return value === undefined ? undefined : Number(value);
};

describe('Rate limits of the service', () => {
  const app = useStarted(() =>
    startTestApp({
      settings: {
        RATE_LIMIT_READ: '4',
        RATE_LIMIT_WRITE: '6',
        RATE_LIMIT_PERSON_READ: '9',
        RATE_LIMIT_PERSON_WRITE: '7',
        RATE_LIMIT_TRIAGE: '2',
      },
    }),
  );

  const newClient = async (role: 'viewer' | 'analyst' | 'admin', limits?: object) =>
    (await makeKey(app, role, limits ? { limits } : {})).client;

  it('count a principal over all paths of the API, and return the remaining number each time', async () => {
    const viewer = await newClient('viewer');
    expect(remaining(await viewer.get('/api/me'))).toBe(3);
    expect(remaining(await viewer.get('/api/incidents'))).toBe(2);
    expect(remaining(await viewer.request('HEAD', '/api/incidents'))).toBe(1);
    expect(remaining(await viewer.get('/api/incidents/nonsense'))).toBe(0);
    const refused = await viewer.get('/api/me');
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await (await newClient('viewer')).get('/api/me')).status).toBe(200);
  });

  it('count all sessions of a person together, with the limits of people', async () => {
    const user = await makeUser(app, 'analyst');
    const [one, other] = [await inSession(app, user), await inSession(app, user)];
    expect(remaining(await one.get('/api/me'))).toBe(8);
    expect(remaining(await other.get('/api/me'))).toBe(7);
    expect(remaining(await one.post('/api/incidents', {}))).toBe(6);
    expect(remaining(await one.post('/api/incidents/nothing/triage'))).toBe(1);
  });

  it('are checked after authentication and before the request is validated', async () => {
    const viewer = await newClient('viewer', { write: 4 });
    const statuses = async (client: ApiClient) => {
      const bodies = [
        { body: '{', headers: { 'content-type': 'application/json' } },
        { body: 'x', headers: { 'content-type': 'text/plain' } },
        { body: INCIDENT, headers: { 'idempotency-key': 'a b' } },
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

  it('do not apply to health, metrics and the contract', async () => {
    for (let i = 0; i < 8; i += 1) {
      for (const path of ['/health', '/live', '/ready', '/metrics', '/openapi.json']) {
        const answer = await app.get(path);
        expect([path, answer.status, remaining(answer)]).toEqual([path, 200, undefined]);
      }
    }
  });

  it('never reject a valid key because of failed attempts from the same address', async () => {
    const viewer = await newClient('viewer');
    const tries: number[] = [];
    for (let i = 0; i < 70; i += 1) {
      const authorization = `Bearer its_${String(i).padStart(8, '0')}_${'A'.repeat(43)}`;
      // No proxy is trusted, so the service ignores forwarded addresses.
      const headers = { authorization, 'x-forwarded-for': `192.0.2.${i}` };
      tries.push((await app.get('/api/me', headers)).status);
    }
    expect(tries.filter((status) => status === 429).length).toBeGreaterThanOrEqual(10);
    expect(tries[0]).toBe(401);
    // A key that no replica has cached is accepted too.
    expect((await viewer.get('/api/me')).status).toBe(200);
  });

  it('are 600 reads and 300 writes per minute for a key of class integration, which shows these limits', async () => {
    const admin = await newClient('admin');
    const body = { name: 'soar', role: 'analyst', limit_class: 'integration' };
    const made = await admin.post('/api/api-keys', body);
    expect(made.status).toBe(201);
    const list = await admin.get('/api/api-keys?per_page=1');
    expect(list.body.data[0]).toMatchObject({ name: 'soar', limit_class: 'integration' });
    const client = app.client.with({ authorization: `Bearer ${made.body.data.key}` });
    const me = await client.get('/api/me');
    expect(me.body.data).toMatchObject({ name: 'key:soar', limit_class: 'integration' });
    expect(me.headers['x-ratelimit-limit']).toBe('600');
    const write = await client.post('/api/incidents', INCIDENT);
    expect([write.status, write.headers['x-ratelimit-limit']]).toEqual([201, '300']);
  });
});
