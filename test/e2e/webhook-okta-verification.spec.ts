import { readFileSync } from 'node:fs';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource } from '../support/webhook-sender.js';

const SECRET = 'a-secret-of-okta-long-enough';

describe("Okta's verification of an event hook", () => {
  let app: TestApp;
  let admin: ApiClient;
  let tests = 0;

  beforeAll(async () => {
    app = await startTestApp({ settings: { TRUST_PROXY: '127.0.0.1/32' } });
    admin = await as(app, 'admin');
    await registerSource(admin, { source: 'okta', preset: 'okta', secret: SECRET });
    await registerSource(admin, { source: 'signed' });
    const disabled = { source: 'disabled', preset: 'okta', enabled: false, secret: SECRET };
    await registerSource(admin, disabled);
  });
  afterAll(() => app?.close());
  beforeEach(() => {
    tests += 1;
  });

  const ask = (source: string, challenge: string | string[], method = 'GET') =>
    app.request(method, `/api/webhooks/${source}`, {
      headers: {
        'x-forwarded-for': `198.51.100.${tests}`,
        'x-okta-verification-challenge': challenge,
      },
    });

  it('is answered with the challenge and nothing else by a source of the Okta preset', async () => {
    const answer = await ask('okta', 'Yd0iGk3CvZq7Wm2x_-.~+/=');
    expect([answer.status, answer.text]).toEqual([
      200,
      '{"verification":"Yd0iGk3CvZq7Wm2x_-.~+/="}',
    ]);
    expect(answer.headers['content-type']).toMatch(/^application\/json;/);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    const event = await app.request('POST', '/api/webhooks/okta', {
      body: readFileSync('test/fixtures/webhooks/presets/okta/two-events.json'),
      headers: { 'x-webhook-token': SECRET },
    });
    expect([event.status, event.body.incidents.length]).toEqual([200, 2]);
  });

  it('is 404 unknown_source for a source that is unknown, disabled or signs', async () => {
    for (const source of ['nobody', 'disabled', 'signed', 'Not_A_Name']) {
      const { status, body } = await ask(source, 'challenge');
      expect([source, status, body.error.code]).toEqual([source, 404, 'unknown_source']);
    }
  });

  it.each([
    ['markup', '<script>alert(1)</script>'],
    ['quotes', '"}'],
    ['nothing', ''],
    ['more than 256 characters', 'a'.repeat(257)],
    ['two challenges', ['one', 'two']],
  ])('is 400 and shows no challenge that is %s', async (_, challenge) => {
    const { status, text } = await ask('okta', challenge);
    expect([status, text.includes('script'), text.includes('aaaa')]).toEqual([400, false, false]);
  });

  it('counts for the address like a refused receipt, and never for the source', async () => {
    for (let asked = 0; asked < 60; asked += 1) await ask('okta', 'challenge');
    const refused = await ask('okta', 'challenge');
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, expect.any(String)]);
    tests += 1;
    expect((await ask('okta', 'challenge')).status).toBe(200);
  });

  it('leaves the source to those with a key, and to them alone', async () => {
    expect((await app.request('GET', '/api/webhooks/okta')).status).toBe(401);
    expect((await admin.request('GET', '/api/webhooks/okta')).body.data.source).toBe('okta');
    expect((await ask('okta', 'challenge', 'PUT')).status).toBe(401);
    expect((await ask('okta', 'challenge', 'DELETE')).status).toBe(401);
  });
});
