import { DataSource } from 'typeorm';
import { SecretBox } from '../../src/platform/secrets/secret-box.js';
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

  describe('when the address changes', () => {
    it('must be given again, and none is sent', async () => {
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

    it('are sent to the new address if they are given again, and the audit trail names both addresses', async () => {
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

    it('need not be given again if only the path changes, or if there are none', async () => {
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
      expect((await put(open, { secrets: { late: 'a late secret' } })).status).toBe(422);
    }
  });

  it('are not sent over plain http if the address was changed in the database', async () => {
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

  describe('that a vendor echoes', () => {
    const PASSWORD = 'p4/ss wörd+"<1>';
    const SHORT = 'Zq7-48315';
    const pair = (text: string): string => Buffer.from(text).toString('base64');
    const forms = (secret: string): Readonly<Record<string, string>> => ({
      raw: secret,
      percent: encodeURIComponent(secret),
      percent_lower: encodeURIComponent(secret).toLowerCase(),
      form: encodeURIComponent(secret).replaceAll('%20', '+'),
      base64: pair(secret),
      base64url: Buffer.from(secret).toString('base64url'),
      in_base64: pair(`{"password":"${secret}"}`),
      hex: Buffer.from(secret).toString('hex'),
      json: JSON.stringify(secret).slice(1, -1),
      unicode: [...secret]
        .map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join(''),
      html: secret.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
      lower: secret.toLowerCase(),
    });
    const BASIC = pair(`svc-user:${TOKEN}`);
    const shown = { ...forms(PASSWORD) };
    const others = [...Object.values(forms(TOKEN)), BASIC, `svc-user:${TOKEN}`, TOKEN];

    const block = async (): Promise<string> => {
      const answer = await admin.request('POST', '/api/actions/execute', {
        body: { action: 'block_domain', parameters: { domain: 'bad.example', reason: 'test' } },
      });
      const id: string = answer.body.data.action_id;
      if (answer.status === 202) {
        await admin.request('POST', `/api/actions/${id}/approve`, { body: {} });
      }
      return id;
    };
    /** All that anybody can read of an action, as JSON and with its escapes read. */
    const readable = async (id: string): Promise<string> => {
      const paths = [`/api/actions/${id}`, '/api/actions?per_page=2', '/api/connectors/health'];
      const texts = await Promise.all(
        paths.map(async (path) => (await viewer.request('GET', path)).text),
      );
      texts.push((await admin.request('GET', '/api/audit?per_page=5')).text);
      const rows = await app.nest
        .get(DataSource)
        .query('select to_jsonb(a) as action from actions a where id::text = $1', [
          id.replace(/^act-/, ''),
        ]);
      return [...texts, JSON.stringify(rows)]
        .map((text) => text + text.replaceAll('\\\\', '\\'))
        .join('\n');
    };

    beforeEach(async () => {
      await created({
        headers: { authorization: `Basic ${BASIC}`, 'x-pin': '{{ secrets.pin }}' },
        secrets: { password: PASSWORD, pin: SHORT },
        actions: { block_domain: { path: '/', body: { password: '{{ secrets.password }}' } } },
      });
    });

    it.each([
      ['200', 'application/json'],
      ['400', 'application/json'],
      ['400', 'text/plain'],
      ['408', 'text/plain'],
    ])(
      'are masked in every form if the vendor answers with status %s and %s',
      async (status, type) => {
        for (const said of [
          ...Object.entries(shown),
          ...others.map((one) => ['other', one] as const),
        ]) {
          const [name, form] = said;
          const text = `${form} is wrong, PIN ${SHORT}.`;
          const body = type === 'text/plain' ? text : JSON.stringify({ [text]: [text], n: 1 });
          vendor.reply = () => ({ status: Number(status), type, body });
          const id = await block();
          const seen = await readable(id);
          const inside = form.slice(2, -4);
          expect([name, seen.includes(inside)]).toEqual([name, false]);
          expect([name, seen.includes(SHORT)]).toEqual([name, false]);
          expect(seen).toContain('[secret]');
        }
      },
    );

    it('are masked in a truncated text', async () => {
      for (const before of [150, 180, 195, 199, 16_370, 16_380, 16_383]) {
        vendor.reply = () => ({
          status: 400,
          type: 'text/plain',
          body: `${before > 1_000 ? ' '.repeat(before) : 'x '.repeat(before / 2)}${TOKEN}${' more'.repeat(99)}`,
        });
        const seen = await readable(await block());
        expect([before, seen.includes('token-')]).toEqual([before, false]);
      }
    });
  });

  it('are rejected if they are too short to be masked safely', async () => {
    const short = { secrets: { token: TOKEN, pin: '4831483' } };
    const id = await created();
    for (const answer of [await create(short), await put(id, { secrets: { pin: '4831483' } })]) {
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.errors).toMatchObject([
        {
          field: 'config.secrets.pin',
          code: 'length',
          message: 'config.secrets.pin must have 8 to 8000 characters.',
        },
      ]);
    }
  });

  describe('that are invalid in a header', () => {
    const broken = { token: 'pasted with its line end\n' };

    it('are rejected when they are saved', async () => {
      const answer = await create({ secrets: broken });
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.errors).toMatchObject([
        { field: 'config.secrets.token', code: 'header' },
      ]);
      expect(answer.text).not.toContain('pasted');
      const id = await created();
      expect((await put(id, { secrets: { token: 'schlüssel' } })).status).toBe(422);
      // In a body they are like any other text.
      const { actions } = config();
      expect((await create({ headers: {}, secrets: broken, actions })).status).toBe(201);
    });

    it('make a test and an action fail if they were written into the database', async () => {
      const id = await created({ headers: {}, secrets: broken });
      const box = app.nest.get(SecretBox);
      const { actions } = config();
      const whole = { ...config({ secrets: broken }), actions };
      const sealed = box.seal(
        JSON.stringify({ headers: whole.headers, secrets: broken }),
        `connector:${id}`,
      );
      await app.nest
        .get(DataSource)
        .query('update connectors set secrets = $2, version = version + 1 where id = $1', [
          id,
          sealed,
        ]);
      const tested = await test(id);
      expect(tested).toMatchObject({ status: 200, body: { data: { success: false } } });
      expect(tested.text).not.toContain('pasted');
      const answer = await admin.request('POST', '/api/actions/execute', {
        body: { action: 'block_ip', parameters: { ip: '203.0.113.9', reason: 'test' } },
      });
      const action = answer.body.data.action_id as string;
      if (answer.status === 202) {
        await admin.request('POST', `/api/actions/${action}/approve`, { body: {} });
      }
      const { body } = await viewer.request('GET', `/api/actions/${action}`);
      expect(body.data).toMatchObject({ status: 'failed', result: { code: 'refused' } });
      expect(vendor.requests).toEqual([]);
    });
  });
});
