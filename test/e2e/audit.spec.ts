import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('the audit trail over HTTP', () => {
  let app: TestApp;
  let admin: ApiClient;
  let keyId: string;

  beforeAll(async () => {
    app = await startTestApp();
    admin = await as(app, 'admin');
    const answer = await admin.request('POST', '/api/api-keys', {
      body: { name: 'audited', role: 'viewer' },
    });
    keyId = answer.body.data.id;
  });
  afterAll(() => app.close());

  const list = async (query: string) => {
    const answer = await admin.request('GET', `/api/audit?${query}`);
    expect(answer.status).toBe(200);
    return answer.body;
  };

  it('is for admins', async () => {
    const manager = await as(app, 'manager');
    for (const path of ['/api/audit', '/api/audit/verify']) {
      expect((await app.request('GET', path)).status).toBe(401);
      expect((await manager.request('GET', path)).status).toBe(403);
    }
  });

  it('shows what was done, sealed within seconds of it', async () => {
    const before = await list(`subject=api_key:${keyId}`);
    expect(before.meta.total).toBe(1);
    const deadline = Date.now() + 5_000;
    let [entry] = before.data;
    while (entry.hash === undefined && Date.now() < deadline) {
      await sleep(100);
      [entry] = (await list(`subject=api_key:${keyId}`)).data;
    }
    expect(entry).toMatchObject({
      subject: { type: 'api_key', id: keyId },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const same = await list(
      `actor=${encodeURIComponent(entry.actor)}&action=${entry.action}&from=${entry.at}&to=${entry.at}&sort=at`,
    );
    expect(same.data).toContainEqual(entry);
    expect(
      (await list(`to=${new Date(Date.parse(entry.at) - 60_000).toISOString()}`)).meta.total,
    ).toBe(0);
  });

  it('verifies', async () => {
    const { body } = await admin.request('GET', '/api/audit/verify');
    expect(body.data).toMatchObject({ valid: true });
    expect(body.data.checked + body.data.unsealed).toBeGreaterThan(0);
  });

  it.each([
    'sort=actor',
    'from=yesterday',
    'actor=',
    'per_page=101',
    'who=alice',
    'subject=a&subject=b',
  ])('refuses %s', async (query) => {
    expect((await admin.request('GET', `/api/audit?${query}`)).status).toBe(422);
  });
});
