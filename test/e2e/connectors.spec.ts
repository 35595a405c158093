import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONNECTOR_TYPES, ConnectorRegistry } from '../../src/connectors/connector-registry.js';
import { ConnectorsService } from '../../src/connectors/connectors.service.js';
import { Clock } from '../../src/platform/clock.js';
import { DomainEvents } from '../../src/platform/work/domain-events.js';
import type { Gate } from '../../src/platform/net/outbound-request.js';
import type { ApiClient } from '../support/api-client.js';
import { FakeVendor } from '../support/fake-vendor.js';
import { eventually } from '../support/jobs/eventually.js';
import { samplesWith, scrape } from '../support/metrics.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() =>
  startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } }),
);

const OPEN_GATE: Gate = {
  send: (request) =>
    request({ signal: new AbortController().signal, leave: () => Promise.resolve() }),
};
const TOKEN = 'token-that-nobody-sees';

let admin: ApiClient;
let viewer: ApiClient;
const vendor = useStarted(() => FakeVendor.start());
let names = 0;

beforeAll(async () => {
  [admin, viewer] = await Promise.all([as(app, 'admin'), as(app, 'viewer')]);
});
afterEach(async () => {
  vendor.forget();
  const { body } = await admin.get('/api/connectors?per_page=100');
  for (const { id } of body.data) await admin.delete(`/api/connectors/${id}`);
});

describe('/api/connectors', () => {
  const http = (more: object = {}, config: object = {}) => ({
    name: `firewall ${(names += 1)}`,
    type: 'http',
    config: {
      base_url: vendor.url,
      headers: { authorization: 'Bearer {{ secrets.token }}' },
      secrets: { token: TOKEN },
      actions: {
        block_ip: { path: '/blocks/{{ parameters.ip }}', body: { ip: '{{ parameters.ip }}' } },
      },
      ...config,
    },
    ...more,
  });
  const create = (body: object) => admin.post('/api/connectors', body);
  const provider = (type: 'block_ip' | 'isolate_host') =>
    app.nest.get(ConnectorRegistry).providerOf(type);
  const block = async () =>
    (await provider('block_ip'))!.execute(
      {
        actionId: 'act-1',
        attempt: 1,
        type: 'block_ip',
        parameters: { ip: '203.0.113.9' },
        mayTarget: () => true,
      },
      OPEN_GATE,
    );

  it('creates, shows, lists, changes and deletes a connector', async () => {
    const body = http();
    const made = await create(body);
    expect(made.status).toBe(201);
    const { id } = made.body.data;
    expect(made.body.data).toMatchObject({
      name: body.name,
      type: 'http',
      enabled: true,
      priority: 100,
      status: 'degraded',
      secrets_set: ['headers.authorization', 'secrets.token'],
      config: { base_url: vendor.url },
    });
    // The comparison ignores these fields, because a regular check may run in between.
    const check = { status: 0, last_checked_at: 0, latency_ms: 0, message: 0 };
    const unchecked = (connector: object) => ({ ...connector, ...check });
    const got = await viewer.get(`/api/connectors/${id}`);
    expect(unchecked(got.body.data)).toEqual(unchecked(made.body.data));
    const list = await viewer.get('/api/connectors');
    expect(list.body).toEqual({
      data: [expect.objectContaining({ id })],
      meta: { page: 1, per_page: 20, total: 1 },
    });
    expect(unchecked(list.body.data[0])).toEqual(unchecked(made.body.data));

    const changed = await admin.put(`/api/connectors/${id}`, { enabled: false, priority: 5 });
    expect(changed.body.data).toMatchObject({ enabled: false, priority: 5, status: 'disabled' });
    expect(changed.body.data.config).toEqual(made.body.data.config);

    expect((await admin.delete(`/api/connectors/${id}`)).body.data).toEqual({
      id,
      deleted: true,
    });
    expect((await viewer.get(`/api/connectors/${id}`)).status).toBe(404);
    expect((await create({ ...http(), name: body.name })).status).toBe(201);
  });

  it('never shows secrets in answers, audit records or database columns', async () => {
    const { id } = (await create(http())).body.data;
    await admin.put(`/api/connectors/${id}`, { config: { secrets: { token: `${TOKEN}-2` } } });
    await admin.post(`/api/connectors/${id}/test`);
    const seen = await Promise.all(
      [
        '/api/connectors',
        `/api/connectors/${id}`,
        '/api/connectors/health',
        '/api/audit?per_page=100',
      ].map(async (path) => (await admin.get(path)).text),
    );
    const dataSource = app.nest.get(DataSource);
    seen.push(JSON.stringify(await dataSource.query('select * from connectors')));
    expect(seen.filter((text) => text.includes(TOKEN))).toEqual([]);
    await block();
    expect(vendor.requests.at(-1)!.headers.authorization).toBe(`Bearer ${TOKEN}-2`);
  });

  it('changes the given fields and keeps the rest, including secrets', async () => {
    const { id } = (await create(http())).body.data;
    const put = (config: object) => admin.put(`/api/connectors/${id}`, { config });
    expect((await put({ secrets: { other: 'another secret' } })).body.data.secrets_set).toEqual([
      'headers.authorization',
      'secrets.other',
      'secrets.token',
    ]);
    const path = { actions: { block_ip: { path: '/v2/{{ parameters.ip }}' } } };
    expect((await put(path)).body.data.config).toEqual({ base_url: vendor.url, ...path });
    await block();
    expect(vendor.requests.at(-1)).toMatchObject({
      path: '/v2/203.0.113.9',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    // The secret cannot be removed while the header still refers to it.
    expect((await put({ secrets: { token: null } })).status).toBe(422);
    const without = await put({ headers: { authorization: null }, secrets: { token: null } });
    expect(without.body.data.secrets_set).toEqual(['secrets.other']);
  });

  it('rejects a used name, and assigns a name to only one of many simultaneous requests', async () => {
    const body = http();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(body)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    const { id } = (await create(http())).body.data;
    const { name } = body;
    expect((await admin.put(`/api/connectors/${id}`, { name })).body.error.code).toBe('conflict');
  });

  it('tests a connector, answers 200 for success and failure, and records the result', async () => {
    const { id } = (await create(http())).body.data;
    const test = () => admin.post(`/api/connectors/${id}/test`);
    expect((await test()).body.data).toMatchObject({ success: true });
    expect((await viewer.get(`/api/connectors/${id}`)).body.data).toMatchObject({
      status: 'healthy',
      last_checked_at: expect.any(String),
    });
    vendor.behave('error-500');
    expect(await test()).toMatchObject({ status: 200, body: { data: { success: false } } });
    const { body } = await viewer.get('/api/connectors/health');
    expect(body.data).toMatchObject([{ id, type: 'http', status: 'unhealthy' }]);
    expect((await admin.post('/api/connectors/nothing/test')).status).toBe(404);
  });

  it('records one event when a connector becomes unhealthy', async () => {
    await create(http());
    const checks = app.nest.get(ConnectorsService);
    const record = jest.spyOn(app.nest.get(DomainEvents), 'record');
    await checks.checkAll();
    vendor.behave('error-500');
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
    await checks.checkAll();
    await checks.checkAll();
    expect(record).toHaveBeenCalledTimes(1);
    expect(record.mock.calls[0]![1]).toMatchObject({ type: 'connector.unhealthy' });
    record.mockRestore();
    const connector = `firewall ${names}`;
    const told = () =>
      [warn, log].map((spy) =>
        spy.mock.calls
          .filter(
            ([about]) => (about as { connector?: string } | undefined)?.connector === connector,
          )
          .map(([, message]: unknown[]) => message),
      );
    expect(told()).toEqual([['A connector is unhealthy'], []]);
    expect((await app.get('/metrics')).text).toContain(`connector_up{connector="${connector}"} 0`);

    vendor.forget();
    await checks.checkAll();
    await checks.checkAll();
    expect(told()).toEqual([['A connector is unhealthy'], ['A connector is healthy again']]);
    warn.mockRestore();
    log.mockRestore();
  });

  it('reports the recovery of an enabled connector, even after a change, but not of a disabled connector', async () => {
    const { id } = (await create(http())).body.data;
    const checks = app.nest.get(ConnectorsService);
    const record = jest.spyOn(app.nest.get(DomainEvents), 'record');
    const enable = (enabled: boolean) => admin.put(`/api/connectors/${id}`, { enabled });
    const test = () => admin.post(`/api/connectors/${id}/test`);
    vendor.behave('error-500');
    await test();
    await enable(false);
    vendor.forget();
    await test();
    expect(record.mock.calls.map(([, event]) => event?.type)).toEqual(['connector.unhealthy']);
    await enable(true);
    await admin.put(`/api/connectors/${id}`, { config: { headers: { 'x-team': 'two' } } });
    await Promise.all([test(), test(), checks.checkAll()]);
    expect(record.mock.lastCall![1]).toMatchObject({
      subject: { type: 'connector', id },
      payload: { name: `firewall ${names}`, unhealthy_since: expect.any(String) },
    });
    expect(record.mock.calls.map(([, event]) => event?.type)).toEqual([
      'connector.unhealthy',
      'connector.recovered',
    ]);
    record.mockRestore();
  });

  it('checks a connector again only after the interval of its type', async () => {
    const { id } = (await create(http())).body.data;
    const hour = 3_600_000;
    const type: { checkedEveryMs?: number } = CONNECTOR_TYPES.find('http')!;
    type.checkedEveryMs = hour;
    const checks = app.nest.get(ConnectorsService);
    const checkAt = async (at: number): Promise<number> => {
      const clock = jest.spyOn(app.nest.get(Clock), 'now').mockReturnValue(new Date(at));
      const before = vendor.requests.length;
      await checks.checkAll();
      clock.mockRestore();
      return vendor.requests.length - before;
    };
    try {
      expect(await checkAt(Date.now())).toBe(1);
      const shown = await viewer.get(`/api/connectors/${id}`);
      const checked = Date.parse(shown.body.data.last_checked_at);
      expect(await checkAt(checked + hour - 1)).toBe(0);
      expect(await checkAt(checked + hour)).toBe(1);
      // A requested test may run before the interval has passed.
      await admin.post(`/api/connectors/${id}/test`);
      expect(vendor.requests).toHaveLength(3);
    } finally {
      delete type.checkedEveryMs;
    }
    expect(await checkAt(Date.now())).toBe(1);
  });

  it('rejects a private address, both in a new connector and in a change', async () => {
    const base_url = 'http://2852039166';
    const { id } = (await create(http())).body.data;
    const change = { body: { config: { base_url } } };
    for (const answer of [
      await create(http({}, { base_url })),
      await admin.request('PUT', `/api/connectors/${id}`, change),
    ]) {
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.errors).toEqual([
        {
          field: 'config.base_url',
          code: 'target_refused',
          message: expect.stringContaining('ALLOWED_PRIVATE_TARGETS'),
        },
      ]);
    }
    expect((await viewer.get(`/api/connectors/${id}`)).body.data.config.base_url).toBe(vendor.url);
  });

  describe('the registry', () => {
    it('selects the connector by lowest priority, then by name', async () => {
      await create(http({ name: 'b', priority: 7 }));
      await create(http({ name: 'a', priority: 7 }));
      await create(http({ name: 'c', priority: 9 }));
      expect((await provider('block_ip'))!.identity.name).toBe('a');
      const { id } = (await provider('block_ip'))!.identity;
      await admin.put(`/api/connectors/${id}`, { enabled: false });
      expect((await provider('block_ip'))!.identity.name).toBe('b');
      expect(await provider('isolate_host')).toBeUndefined();
    });

    it('uses the sandbox only if there is no other connector', async () => {
      await create({ name: 'sandbox', type: 'sandbox', config: { fail: ['block_ip'] } });
      expect(await block()).toMatchObject({ kind: 'refused', simulated: true });
      expect((await provider('isolate_host'))!.identity.type).toBe('sandbox');
      const { id } = (await create(http())).body.data;
      expect((await provider('block_ip'))!.identity.type).toBe('http');
      expect(await provider('isolate_host')).toBeUndefined();
      expect([...(await app.nest.get(ConnectorRegistry).availableTypes())]).toEqual(['block_ip']);

      await admin.put(`/api/connectors/${id}`, { enabled: false });
      expect(await provider('block_ip')).toBeUndefined();
      await admin.delete(`/api/connectors/${id}`);
      expect((await provider('block_ip'))!.identity.type).toBe('sandbox');
    });
  });

  it('reports that the sandbox is on standby, and that no other connector provides actions', async () => {
    await create({ name: 'sandbox', type: 'sandbox', config: {} });
    const health = async () => {
      const { data } = (await viewer.get('/api/connectors/health')).body;
      return data.find(({ type }: { type: string }) => type === 'sandbox');
    };
    const component = async () => (await viewer.get('/health/detailed')).body.components.connectors;
    const up = async () =>
      samplesWith(await scrape(app), 'connector_up', { connector: 'sandbox' }).length === 1;
    await app.nest.get(ConnectorsService).checkAll();
    expect(await health()).toMatchObject({ status: 'healthy' });
    await eventually(component, ({ status }) => status === 'healthy');
    await eventually(up, (is) => is);

    const { id } = (await create(http())).body.data;
    await admin.put(`/api/connectors/${id}`, { enabled: false });
    await app.nest.get(ConnectorsService).checkAll();
    expect(await health()).toMatchObject({
      status: 'disabled',
      message:
        'On standby: the sandbox serves actions only while no connector of another type exists.',
    });
    await eventually(component, ({ status, total }) => status === 'disabled' && total === 0);
    await eventually(up, (is) => !is);
  });

  it('creates a sandbox on the very first start, and never again', async () => {
    const dataSource = app.nest.get(DataSource);
    await dataSource.query('delete from connectors');
    const seed = app.nest.get(ConnectorsService);
    await seed.createFirstSandbox();
    const [{ id }] = (await viewer.get('/api/connectors')).body.data;
    await admin.delete(`/api/connectors/${id}`);
    await seed.createFirstSandbox();
    expect((await viewer.get('/api/connectors')).body.meta.total).toBe(0);
  });
});

describe('The secrets of a connector', () => {
  const elsewhere = useStarted(() => FakeVendor.start());

  const config = (more: object = {}) => ({
    base_url: vendor.url,
    headers: { authorization: 'Bearer {{ secrets.token }}' },
    secrets: { token: TOKEN },
    actions: { block_ip: { path: '/blocks', body: { ip: '{{ parameters.ip }}' } } },
    ...more,
  });
  const create = (more: object = {}) =>
    admin.post('/api/connectors', {
      name: `firewall ${(names += 1)}`,
      type: 'http',
      config: config(more),
    });
  const created = async (more: object = {}): Promise<string> => (await create(more)).body.data.id;
  const put = (id: string, change: object) =>
    admin.put(`/api/connectors/${id}`, { config: change });
  const test = (id: string) => admin.post(`/api/connectors/${id}/test`);
  const audit = async () =>
    (await admin.get('/api/audit?action=connector.updated&per_page=1')).body.data[0];

  it('must be given again if the address changes, and the audit trail names both addresses', async () => {
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
    const { headers } = config();
    const secrets = { token: 'another-token' };
    expect((await put(id, { base_url: elsewhere.url, headers, secrets })).status).toBe(200);
    await test(id);
    expect(elsewhere.requests[0]!.headers.authorization).toBe('Bearer another-token');
    expect((await audit()).details).toMatchObject({
      sent_to_before: [vendor.url],
      sent_to: [elsewhere.url],
    });
  });

  describe('that a vendor echoes', () => {
    const PASSWORD = 'p4/ss wörd+"<1>';
    const SHORT = 'Zq7-48315';
    const pair = (text: string): string => Buffer.from(text).toString('base64');
    const BASIC = pair(`svc-user:${TOKEN}`);
    /** The test of all masked forms of a secret is src/platform/masking/secret-mask.spec.ts. */
    const FORMS = [
      PASSWORD,
      encodeURIComponent(PASSWORD),
      pair(`{"p":"${PASSWORD}"}`),
      BASIC,
      TOKEN,
    ];

    const block = async (): Promise<string> => {
      const answer = await admin.post('/api/actions/execute', {
        action: 'block_domain',
        parameters: { domain: 'bad.example', reason: 'test' },
      });
      const id: string = answer.body.data.action_id;
      if (answer.status === 202) {
        await admin.post(`/api/actions/${id}/approve`, {});
      }
      return id;
    };
    /** Returns all forms in which an action can be read, with and without JSON escapes. */
    const readable = async (id: string): Promise<string> => {
      const paths = [`/api/actions/${id}`, '/api/actions?per_page=2', '/api/connectors/health'];
      const texts = await Promise.all(paths.map(async (path) => (await viewer.get(path)).text));
      texts.push((await admin.get('/api/audit?per_page=5')).text);
      const rows = await app.sql(
        'select to_jsonb(a) as action from actions a where id::text = $1',
        [id.replace(/^act-/, '')],
      );
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
      ['400', 'text/plain'],
    ])(
      'are masked in every form if the vendor answers with status %s and %s',
      async (status, type) => {
        for (const form of FORMS) {
          const text = `${form} is wrong, PIN ${SHORT}.`;
          const body = type === 'text/plain' ? text : JSON.stringify({ [text]: [text], n: 1 });
          vendor.reply = () => ({ status: Number(status), type, body });
          const seen = await readable(await block());
          for (const secret of [form.slice(2, -4), SHORT])
            expect([secret, seen.includes(secret)]).toEqual([secret, false]);
          expect(seen).toContain('[secret]');
        }
      },
    );
  });
});
