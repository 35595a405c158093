import { DataSource } from 'typeorm';
import type { ApiClient } from '../support/api-client.js';
import { FakeVendor } from '../support/fake-vendor.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const TOKEN = 'token-that-nobody-sees';

describe('The secrets of a connector', () => {
  let app: TestApp;
  let admin: ApiClient;
  let viewer: ApiClient;
  let vendor: FakeVendor;
  let elsewhere: FakeVendor;
  let names = 0;

  const config = (more: object = {}) => ({
    base_url: vendor.url,
    headers: { authorization: 'Bearer {{ secrets.token }}' },
    secrets: { token: TOKEN },
    actions: { block_ip: { path: '/blocks', body: { ip: '{{ parameters.ip }}' } } },
    ...more,
  });
  const create = (more: object = {}) =>
    admin.request('POST', '/api/connectors', {
      body: { name: `firewall ${(names += 1)}`, type: 'http', config: config(more) },
    });
  const created = async (more: object = {}): Promise<string> => (await create(more)).body.data.id;
  const put = (id: string, change: object) =>
    admin.request('PUT', `/api/connectors/${id}`, { body: { config: change } });
  const test = (id: string) => admin.request('POST', `/api/connectors/${id}/test`);
  const audit = async () =>
    (await admin.request('GET', '/api/audit?action=connector.updated&per_page=1')).body.data[0];

  beforeAll(async () => {
    [vendor, elsewhere] = await Promise.all([FakeVendor.start(), FakeVendor.start()]);
    app = await startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
    [admin, viewer] = await Promise.all([as(app, 'admin'), as(app, 'viewer')]);
  });

  afterEach(async () => {
    vendor.forget();
    elsewhere.forget();
    const { body } = await admin.request('GET', '/api/connectors?per_page=100');
    for (const { id } of body.data) await admin.request('DELETE', `/api/connectors/${id}`);
  });

  afterAll(async () => {
    await app?.close();
    await Promise.all([vendor?.stop(), elsewhere?.stop()]);
  });

  describe('do not follow to another address:', () => {
    it('each is asked for again, and none is sent', async () => {
      const id = await created();
      const refused = await put(id, { base_url: elsewhere.url });
      expect(refused.status).toBe(422);
      expect(refused.body.error.details.errors).toEqual(
        ['config.headers.authorization', 'config.secrets.token'].map((field) => ({
          field,
          code: 'secret_required',
          message: expect.stringContaining('must be given again'),
        })),
      );
      await test(id);
      expect(elsewhere.requests).toEqual([]);
      const some = await put(id, { base_url: elsewhere.url, secrets: { token: TOKEN } });
      expect(some.body.error.details.errors).toMatchObject([
        { field: 'config.headers.authorization', code: 'secret_required' },
      ]);
    });

    it('given again they are sent there, and the audit trail names both', async () => {
      const id = await created();
      const { headers } = config();
      const secrets = { token: 'another-token' };
      const moved = await put(id, { base_url: elsewhere.url, headers, secrets });
      expect(moved.status).toBe(200);
      await test(id);
      expect(elsewhere.requests[0]!.headers.authorization).toBe('Bearer another-token');
      expect((await audit()).details).toMatchObject({
        origins_before: [vendor.url],
        origins: [elsewhere.url],
      });
    });

    it('nor do they have to where only the path changes, or nothing secret is there', async () => {
      const id = await created();
      expect((await put(id, { base_url: `${vendor.url}/v2` })).status).toBe(200);
      expect((await audit()).details).not.toHaveProperty('origins');
      const open = await created({ headers: {}, secrets: {} });
      expect((await put(open, { base_url: elsewhere.url })).status).toBe(200);
      expect((await audit()).details).toMatchObject({ origins: [elsewhere.url] });
    });
  });

  it('are not sent over plain http to a public name or address', async () => {
    for (const base_url of ['http://vendor.example.com', 'http://198.51.101.7:8080']) {
      const id = await created();
      for (const answer of [await create({ base_url }), await put(id, config({ base_url }))]) {
        expect(answer.status).toBe(422);
        expect(answer.body.error.details.errors).toMatchObject([
          { field: 'config.base_url', code: 'https_required' },
        ]);
      }
      const open = await created({ base_url, headers: {}, secrets: {} });
      expect((await put(open, { secrets: { late: 'secret' } })).status).toBe(422);
    }
  });

  it('are not sent so by a connector either that an earlier version stored', async () => {
    const id = await created({ base_url: 'https://vendor.example.com' });
    await app.nest
      .get(DataSource)
      .query(
        `update connectors set config = config || '{"base_url": "http://vendor.example.com"}', version = version + 1 where id = $1`,
        [id],
      );
    expect((await test(id)).body.data).toMatchObject({
      success: false,
      message: expect.stringContaining('must be an https address'),
    });
    expect((await viewer.request('GET', `/api/connectors/${id}`)).status).toBe(200);
  });
});
