import { Logger } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { HttpType } from '../../src/connectors/adapters/http/http.connector.js';
import { ConnectorRegistry } from '../../src/connectors/connector.port.js';
import type { Gate } from '../../src/platform/net/outbound-request.js';
import { ConnectorChecks } from '../../src/connectors/health/connector-checks.js';
import { DefaultSandbox } from '../../src/connectors/connectors.service.js';
import { Clock } from '../../src/platform/clock.js';
import type { RecordedExamples } from '../../src/platform/openapi/examples.js';
import { Resolver } from '../../src/platform/net/targets.js';
import { DomainEvents } from '../../src/platform/jobs/events/domain-events.js';
import type { ApiClient } from '../support/api-client.js';
import { FakeVendor } from '../support/fake-vendor.js';
import { eventually } from '../support/jobs/eventually.js';
import { samplesWith, scrape } from '../support/metrics.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const OPEN_GATE: Gate = {
  send: (request) =>
    request({ signal: new AbortController().signal, leave: () => Promise.resolve() }),
};

/** As DefaultSandbox makes it. */
const SANDBOX_OF_FIRST_START = { name: 'sandbox', type: 'sandbox', config: {} };
const TOKEN = 'token-that-nobody-sees';

describe('/api/connectors', () => {
  let app: TestApp;
  let admin: ApiClient;
  let viewer: ApiClient;
  let vendor: FakeVendor;
  let names = 0;

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
  const create = (body: object) => admin.request('POST', '/api/connectors', { body });
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

  beforeAll(async () => {
    vendor = await FakeVendor.start();
    app = await startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
    [admin, viewer] = await Promise.all([as(app, 'admin'), as(app, 'viewer')]);
  });

  afterEach(async () => {
    vendor.forget();
    const { body } = await admin.request('GET', '/api/connectors?per_page=100');
    for (const { id } of body.data) await admin.request('DELETE', `/api/connectors/${id}`);
  });

  afterAll(async () => {
    await app.close();
    await vendor.stop();
  });

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
    // Its regular check may have come in between.
    const unchecked = (connector: object) => ({
      ...connector,
      status: 'degraded',
      last_checked_at: undefined,
      latency_ms: undefined,
      message: undefined,
    });
    const got = await viewer.request('GET', `/api/connectors/${id}`);
    expect(unchecked(got.body.data)).toEqual(unchecked(made.body.data));
    const list = await viewer.request('GET', '/api/connectors');
    expect(list.body).toEqual({
      data: [expect.objectContaining({ id })],
      meta: { page: 1, per_page: 20, total: 1 },
    });
    expect(unchecked(list.body.data[0])).toEqual(unchecked(made.body.data));

    const changed = await admin.request('PUT', `/api/connectors/${id}`, {
      body: { enabled: false, priority: 5 },
    });
    expect(changed.body.data).toMatchObject({ enabled: false, priority: 5, status: 'disabled' });
    expect(changed.body.data.config).toEqual(made.body.data.config);

    expect((await admin.request('DELETE', `/api/connectors/${id}`)).body.data).toEqual({
      id,
      deleted: true,
    });
    expect((await viewer.request('GET', `/api/connectors/${id}`)).status).toBe(404);
    expect((await create({ ...http(), name: body.name })).status).toBe(201);
  });

  it('shows secrets in no answer, audit record or database column', async () => {
    const { id } = (await create(http())).body.data;
    await admin.request('PUT', `/api/connectors/${id}`, {
      body: { config: { secrets: { token: `${TOKEN}-2` } } },
    });
    await admin.request('POST', `/api/connectors/${id}/test`);
    const seen = await Promise.all(
      [
        '/api/connectors',
        `/api/connectors/${id}`,
        '/api/connectors/health',
        '/api/audit?per_page=100',
      ].map(async (path) => (await admin.request('GET', path)).text),
    );
    const dataSource = app.nest.get(DataSource);
    seen.push(JSON.stringify(await dataSource.query('select * from connectors')));
    expect(seen.filter((text) => text.includes(TOKEN))).toEqual([]);
    await block();
    expect(vendor.requests.at(-1)!.headers.authorization).toBe(`Bearer ${TOKEN}-2`);
  });

  it('changes the given fields and keeps the rest, including secrets', async () => {
    const { id } = (await create(http())).body.data;
    const put = (config: object) =>
      admin.request('PUT', `/api/connectors/${id}`, { body: { config } });
    const more = await put({ secrets: { other: 'another secret' } });
    expect(more.body.data.secrets_set).toEqual([
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
    // The header still names it.
    expect((await put({ secrets: { token: null } })).status).toBe(422);
    const without = await put({ headers: { authorization: null }, secrets: { token: null } });
    expect(without.body.data.secrets_set).toEqual(['secrets.other']);
  });

  it('rejects a used name, and gives a name to one of many simultaneous requests', async () => {
    const body = http();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(body)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    const { id } = (await create(http())).body.data;
    const { name } = body;
    const renamed = await admin.request('PUT', `/api/connectors/${id}`, { body: { name } });
    expect(renamed.body.error.code).toBe('conflict');
  });

  it.each([
    ['type', { type: 'crowbar' }, {}],
    ['config.base_url', {}, { base_url: 'ftp://vendor.example' }],
    ['config.base_url', {}, { base_url: 7 }],
    ['config.base_url', {}, { base_url: 'https://u:p@vendor.example' }],
    ['config.base_uri', {}, { base_uri: 'https://vendor.example' }],
    ['config.actions', {}, { actions: {} }],
    ['config.actions.explode', {}, { actions: { explode: { path: '/' } } }],
    ['config.actions.block_ip.path', {}, { actions: { block_ip: {} } }],
    ['config.actions.block_ip.verb', {}, { actions: { block_ip: { path: '/', verb: 'GET' } } }],
    ['config.actions.block_ip.method', {}, { actions: { block_ip: { path: '/', method: 'get' } } }],
    ['config.headers.host', {}, { headers: { host: 'elsewhere' } }],
    ['config.headers.x y', {}, { headers: { 'x y': '' } }],
    ['config.headers.x', {}, { headers: { x: 'a\r\nb' } }],
  ])('rejects an invalid field and names it: %s', async (field, more, config) => {
    const { status, body } = await create(http(more, config));
    expect(status).toBe(422);
    expect(body.error.details.errors.map((one: { field: string }) => one.field)).toContain(field);
  });

  it('rejects an invalid template, also in a change', async () => {
    const { id } = (await create(http())).body.data;
    const put = (config: object) =>
      admin.request('PUT', `/api/connectors/${id}`, { body: { config } });
    const actions = (path: string) => ({ actions: { block_ip: { path } } });
    for (const expression of ['{{ parameters.host_id }}', '{{ secrets.nothing }}', '{{ env.x }}']) {
      const refused = await put(actions(`/${expression}`));
      expect(refused.status).toBe(422);
      const [{ field, message }] = refused.body.error.details.errors;
      expect(field).toBe('config.actions.block_ip.path');
      expect(message).toContain(expression);
    }
    // The secret that stays stored counts.
    expect((await put(actions('/{{ secrets.token }}'))).status).toBe(200);
  });

  it('lets only admins write and test, and viewers read', async () => {
    const { id } = (await create(http())).body.data;
    const manager = await as(app, 'manager');
    const attempts = [
      ['POST', '/api/connectors', http()],
      ['PUT', `/api/connectors/${id}`, { enabled: false }],
      ['DELETE', `/api/connectors/${id}`, undefined],
      ['POST', `/api/connectors/${id}/test`, undefined],
    ] as const;
    for (const [method, path, body] of attempts) {
      expect((await manager.request(method, path, { body })).status).toBe(403);
    }
  });

  it('lists the types with their schemas', async () => {
    const { body } = await viewer.request('GET', '/api/connectors/types');
    expect(body.meta).toBeUndefined();
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual([
      'crowdstrike_falcon',
      'http',
      'jira',
      'microsoft_defender',
      'microsoft_graph',
      'okta',
      'slack',
      'smtp',
      'virustotal',
      'sandbox',
    ]);
    const named = (name: string) => body.data.find((type: { name: string }) => type.name === name);
    expect(named('http').config_schema.properties.secrets.writeOnly).toBe(true);
    expect(named('sandbox').actions).toHaveLength(23);
  });

  it('tests a connector, answers 200 either way, and records the result', async () => {
    const { id } = (await create(http())).body.data;
    const test = () => admin.request('POST', `/api/connectors/${id}/test`);
    expect((await test()).body.data).toMatchObject({ success: true });
    expect((await viewer.request('GET', `/api/connectors/${id}`)).body.data).toMatchObject({
      status: 'healthy',
      last_checked_at: expect.any(String),
    });
    vendor.behave('error-500');
    expect(await test()).toMatchObject({ status: 200, body: { data: { success: false } } });
    const { body } = await viewer.request('GET', '/api/connectors/health');
    expect(body.data).toMatchObject([{ id, type: 'http', status: 'unhealthy' }]);
    expect((await admin.request('POST', '/api/connectors/nothing/test')).status).toBe(404);
  });

  it('removes the check result when the configuration changes', async () => {
    const { id } = (await create(http())).body.data;
    const read = async () => (await viewer.request('GET', `/api/connectors/${id}`)).body.data;
    await admin.request('POST', `/api/connectors/${id}/test`);
    await admin.request('PUT', `/api/connectors/${id}`, { body: { name: 'renamed' } });
    expect(await read()).toMatchObject({ status: 'healthy', last_checked_at: expect.any(String) });
    const { config } = http() as { config: object };
    const body = { config: { ...config, headers: { 'x-team': 'soc' } } };
    expect((await admin.request('PUT', `/api/connectors/${id}`, { body })).status).toBe(200);
    expect(await read()).toMatchObject({ status: 'degraded' });
    expect(await read()).not.toHaveProperty('last_checked_at');
    const { data } = (await viewer.request('GET', '/api/connectors/health')).body;
    expect(data).toMatchObject([{ id, message: 'Not checked yet.' }]);
    expect(data[0]).not.toHaveProperty('checked_at');
  });

  it('reports a connector as disabled, without its last check', async () => {
    const { id } = (await create(http())).body.data;
    await admin.request('POST', `/api/connectors/${id}/test`);
    await admin.request('PUT', `/api/connectors/${id}`, { body: { enabled: false } });
    const { data } = (await viewer.request('GET', '/api/connectors/health')).body;
    expect(data).toMatchObject([{ id, status: 'disabled', message: 'The connector is disabled.' }]);
    expect(data[0]).not.toHaveProperty('latency_ms');
  });

  it('records one event when a connector becomes unhealthy', async () => {
    await create(http());
    const checks = app.nest.get(ConnectorChecks);
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
    const told = (spy: jest.SpyInstance) =>
      spy.mock.calls.filter(([about]) => about?.connector === connector);
    expect(told(warn)).toEqual([
      [
        expect.objectContaining({ type: 'http', reason: expect.any(String) }),
        'A connector is unhealthy',
      ],
    ]);
    const metrics = await app.request('GET', '/metrics');
    expect(metrics.text).toContain(`connector_up{connector="firewall ${names}"} 0`);

    vendor.forget();
    await checks.checkAll();
    await checks.checkAll();
    expect([told(warn), told(log)]).toEqual([
      [expect.anything()],
      [[expect.anything(), 'A connector is healthy again']],
    ]);
    warn.mockRestore();
    log.mockRestore();
  });

  it('records one event when it works again, also after a change of its configuration', async () => {
    const made = http();
    const { id } = (await create(made)).body.data;
    const checks = app.nest.get(ConnectorChecks);
    const record = jest.spyOn(app.nest.get(DomainEvents), 'record');
    const recorded = () =>
      record.mock.calls.map(([, event]) => event!).filter(({ subject }) => subject.id === id);
    const mend = (headers: object) =>
      admin.request('PUT', `/api/connectors/${id}`, { body: { config: { headers } } });
    await checks.checkAll();
    vendor.behave('error-500');
    await checks.checkAll();
    await mend({ 'x-team': 'one' });
    // What was told holds until a check finds that it works, in whichever configuration.
    await checks.checkAll();
    expect(recorded().map(({ type }) => type)).toEqual(['connector.unhealthy']);
    await mend({ 'x-team': 'two' });
    vendor.forget();
    await checks.checkAll();
    await checks.checkAll();
    expect(recorded()).toMatchObject([
      { type: 'connector.unhealthy' },
      {
        type: 'connector.recovered',
        subject: { type: 'connector', id },
        payload: {
          name: `firewall ${names}`,
          type: 'http',
          message: expect.any(String),
          unhealthy_since: expect.stringMatching(/^\d{4}-.*Z$/),
        },
      },
    ]);
    record.mockRestore();
  });

  it('reports the recovery of an enabled connector, but not of a disabled one', async () => {
    const { id } = (await create(http())).body.data;
    const checks = app.nest.get(ConnectorChecks);
    const record = jest.spyOn(app.nest.get(DomainEvents), 'record');
    const enable = (enabled: boolean) =>
      admin.request('PUT', `/api/connectors/${id}`, { body: { enabled } });
    const test = () => admin.request('POST', `/api/connectors/${id}/test`);
    vendor.behave('error-500');
    await test();
    await enable(false);
    vendor.forget();
    await test();
    expect(record.mock.calls.map(([, event]) => event?.type)).toEqual(['connector.unhealthy']);
    await enable(true);
    await Promise.all([test(), test(), checks.checkAll()]);
    expect(record.mock.calls.map(([, event]) => event?.type)).toEqual([
      'connector.unhealthy',
      'connector.recovered',
    ]);
    record.mockRestore();
  });

  it('checks a connector again only after the interval of its type', async () => {
    const { id } = (await create(http())).body.data;
    const hour = 3_600_000;
    const rest = jest.replaceProperty(app.nest.get(HttpType), 'checkedEveryMs', hour);
    const checks = app.nest.get(ConnectorChecks);
    const checkAt = async (at: number): Promise<number> => {
      const clock = jest.spyOn(app.nest.get(Clock), 'now').mockReturnValue(new Date(at));
      const before = vendor.requests.length;
      await checks.checkAll();
      clock.mockRestore();
      return vendor.requests.length - before;
    };
    try {
      expect(await checkAt(Date.now())).toBe(1);
      const shown = await viewer.request('GET', `/api/connectors/${id}`);
      const checked = Date.parse(shown.body.data.last_checked_at);
      expect(await checkAt(checked + hour - 1)).toBe(0);
      expect(await checkAt(checked + hour)).toBe(1);
      // Somebody who asks is answered at any time.
      await admin.request('POST', `/api/connectors/${id}/test`);
      expect(vendor.requests).toHaveLength(3);
    } finally {
      rest.restore();
    }
    expect(await checkAt(Date.now())).toBe(1);
  });

  it('treats header names as case-insensitive, and rejects duplicates', async () => {
    const made = await create(http({}, { headers: { authorization: 'Bearer the-first-one' } }));
    const path = `/api/connectors/${made.body.data.id}`;
    const put = (headers: object, more: object = {}) =>
      admin.request('PUT', path, { body: { config: { headers, ...more } } });
    const sent = async () => {
      await block();
      return vendor.requests.at(-1)!.headers.authorization;
    };
    const second = await put({ Authorization: 'Bearer the-second-one' });
    expect(second.body.data.secrets_set).toEqual(['headers.Authorization', 'secrets.token']);
    expect(await sent()).toBe('Bearer the-second-one');
    await put({ authorization: 'Bearer the-third-one' });
    expect(await sent()).toBe('Bearer the-third-one');
    // It was given again, so that it may go to another host.
    const elsewhere = vendor.url.replace('127.0.0.1', 'localhost');
    const moved = { base_url: elsewhere, secrets: { token: TOKEN } };
    expect((await put({ AUTHORIZATION: 'Bearer the-fourth-one' }, moved)).status).toBe(200);
    const both = { authorization: 'Bearer the-fifth-one', Authorization: 'Bearer the-sixth-one' };
    for (const answer of [await put(both), await create(http({}, { headers: both }))]) {
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.errors).toMatchObject([
        { field: 'config.headers.Authorization', code: 'unique' },
      ]);
    }
    expect((await put({ authorization: null })).body.data.secrets_set).toEqual(['secrets.token']);
    expect(await sent()).toBeUndefined();
  });

  it('removes an optional field with null, such as the login of a mail server', async () => {
    const config = {
      host: 'mail.example.com',
      from: 'soc@example.com',
      username: 'soc',
      password: 'a-long-password',
    };
    const { id } = (await create({ name: 'mail', type: 'smtp', config })).body.data;
    const put = (change: object) =>
      admin.request('PUT', `/api/connectors/${id}`, { body: { config: change } });
    const without = await put({ username: null, password: null });
    expect(without.body.data).toMatchObject({ secrets_set: [] });
    expect(without.body.data.config).not.toHaveProperty('username');
    expect((await put({ host: null })).status).toBe(422);
  });

  it.each(['http://169.254.169.254', 'http://10.0.0.1', 'https://[::1]', 'http://2852039166'])(
    'rejects the address %s, both in a new connector and in a change',
    async (base_url) => {
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
      const { body } = await viewer.request('GET', `/api/connectors/${id}`);
      expect(body.data.config.base_url).toBe(vendor.url);
    },
  );

  it('resolves the name at each call', async () => {
    const base_url = vendor.url.replace('127.0.0.1', 'localhost');
    const { id } = (await create(http({}, { base_url }))).body.data;
    const test = async () => (await admin.request('POST', `/api/connectors/${id}/test`)).body.data;
    const resolver = app.nest.get(Resolver);
    const resolve = jest.spyOn(resolver, 'resolve');
    resolve.mockResolvedValue([{ address: '127.0.0.1', family: 4 }]);
    expect(await test()).toMatchObject({ success: true });
    resolve.mockResolvedValue([{ address: '169.254.169.254', family: 4 }]);
    expect(await test()).toMatchObject({ success: false });
    resolve.mockRestore();
  });

  describe('the registry', () => {
    it('selects the connector by lowest priority, then by name', async () => {
      await create(http({ name: 'b', priority: 7 }));
      await create(http({ name: 'a', priority: 7 }));
      await create(http({ name: 'c', priority: 9 }));
      expect((await provider('block_ip'))!.identity.name).toBe('a');
      const { id } = (await provider('block_ip'))!.identity;
      await admin.request('PUT', `/api/connectors/${id}`, { body: { enabled: false } });
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

      await admin.request('PUT', `/api/connectors/${id}`, { body: { enabled: false } });
      expect(await provider('block_ip')).toBeUndefined();
      await admin.request('DELETE', `/api/connectors/${id}`);
      expect((await provider('block_ip'))!.identity.type).toBe('sandbox');
    });

    it('reuses an instance until its connector changes', async () => {
      const { id } = (await create(http())).body.data;
      const before = await provider('block_ip');
      expect(await provider('block_ip')).toBe(before);
      await admin.request('PUT', `/api/connectors/${id}`, { body: { priority: 3 } });
      expect(await provider('block_ip')).not.toBe(before);
    });
  });

  it('reports that the sandbox stands by, and that no connector provides actions', async () => {
    await create({ name: 'sandbox', type: 'sandbox', config: {} });
    const health = async () => {
      const { data } = (await viewer.request('GET', '/api/connectors/health')).body;
      return data.find(({ type }: { type: string }) => type === 'sandbox');
    };
    const component = async () =>
      (await viewer.request('GET', '/health/detailed')).body.components.connectors;
    const up = async () =>
      samplesWith(await scrape(app), 'connector_up', { connector: 'sandbox' }).length === 1;
    await app.nest.get(ConnectorChecks).checkAll();
    expect(await health()).toMatchObject({ status: 'healthy' });
    await eventually(component, ({ status }) => status === 'healthy');
    await eventually(up, (is) => is);

    const { id } = (await create(http())).body.data;
    await admin.request('PUT', `/api/connectors/${id}`, { body: { enabled: false } });
    await app.nest.get(ConnectorChecks).checkAll();
    expect(await health()).toMatchObject({
      status: 'disabled',
      message: 'It stands by: it serves actions only while no connector of another type exists.',
    });
    await eventually(component, ({ status, message, total }) => {
      const isSaid = String(message).startsWith(
        'No enabled connector provides actions: the sandbox',
      );
      return status === 'disabled' && isSaid && total === 0;
    });
    await eventually(up, (is) => !is);
  });

  it('accepts its documented examples beside the sandbox of a new service', async () => {
    await app.nest.get(DataSource).query('delete from connectors');
    await admin.request('POST', '/api/connectors', { body: SANDBOX_OF_FIRST_START });
    const { operations } = JSON.parse(
      readFileSync('openapi/examples.json', 'utf8'),
    ) as RecordedExamples;
    for (const { body } of Object.values(operations['createConnector']!)) {
      const { status, text } = await admin.request('POST', '/api/connectors', { body });
      expect([status, text]).toEqual([201, expect.any(String)]);
    }
  });

  it('creates a sandbox on the very first start, and never again', async () => {
    const dataSource = app.nest.get(DataSource);
    await dataSource.query('delete from connectors');
    const seed = app.nest.get(DefaultSandbox);
    await seed.createOnFirstStart();
    const [{ id }] = (await viewer.request('GET', '/api/connectors')).body.data;
    await admin.request('DELETE', `/api/connectors/${id}`);
    await seed.createOnFirstStart();
    expect((await viewer.request('GET', '/api/connectors')).body.meta.total).toBe(0);
  });
});
