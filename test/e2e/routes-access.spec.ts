import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { readFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import {
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
} from '../../scripts/contract/document.js';
import { ACCESS, type Access } from '../../src/platform/access/access.js';
import { ROLES, type Role } from '../../src/platform/access/roles.js';
import { isIdempotent } from '../../src/platform/idempotency/idempotency.js';
import type { ApiClient } from '../support/api-client.js';
import { makeKey, as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() =>
  startTestApp({
    settings: { METRICS_TOKEN: 'a-token-of-metrics', TRUST_PROXY: '127.0.0.1/32' },
  }),
);

/** Addresses without a required role. A new public address must be added here. */
const OPEN: Readonly<Record<string, Access>> = {
  'GET /': 'public',
  'GET /health': 'public',
  'GET /live': 'public',
  'GET /ready': 'public',
  'GET /metrics': 'metrics',
  'GET /health/detailed': 'operations',
  'GET /api/health': 'operations',
  'GET /api/live': 'operations',
  'GET /api/ready': 'operations',
  'GET /api/metrics': 'operations',
  'GET /api/health/detailed': 'operations',
  'GET /login': 'page',
  'POST /login': 'page',
  // Redirects to the login if there is no session.
  'GET /login/password': 'page',
  'POST /login/password': 'page',
  'POST /logout': 'page',
  'GET /docs': 'page',
  'GET /docs/guides/:name': 'page',
  'GET /docs/': 'page',
  'GET /docs/:name': 'page',
  'GET /favicon.ico': 'public',
  'GET /openapi.json': 'public',
  'GET /openapi.yaml': 'public',
  'GET /openapi-3.1.json': 'public',
  'POST /api/webhooks/:source': 'signature',
  // Requires only the header of Okta's verification.
  'GET /api/webhooks/:source': 'signature',
};

/** Id of no resource, so that a permitted caller gets 404. */
const ANYTHING = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

interface Route {
  readonly method: string;
  readonly path: string;
  readonly access: Access | undefined;
  /** Names of the controller and the method. */
  readonly name: string;
  readonly once: boolean;
}

describe('Every route', () => {
  let routes: Route[];
  const clients = new Map<Role, ApiClient>();

  beforeAll(async () => {
    routes = routesOf(app);
    for (const role of ROLES) clients.set(role, (await makeKey(app, role)).client);
  });

  const nameOf = ({ method, path }: Route) => `${method} ${path}`;
  const call = (client: ApiClient, { method, path }: Route) =>
    client.request(method, path.replace(/:\w+/g, ANYTHING));
  const withRole = () =>
    routes.filter((route): route is Route & { access: Role } =>
      ROLES.some((role) => role === route.access),
    );

  it('declares its permitted callers', () => {
    expect(routes.length).toBeGreaterThan(15);
    expect(routes.filter(({ access }) => access === undefined)).toEqual([]);
  });

  it('requires a role unless it is listed in this test', () => {
    const open = routes.filter(({ access }) => !ROLES.some((role) => role === access));
    const expected = Object.entries(OPEN).filter(([name]) =>
      routes.some((route) => nameOf(route) === name),
    );
    expect(Object.fromEntries(open.map((route) => [nameOf(route), route.access]))).toEqual(
      Object.fromEntries(expected),
    );
  });

  it('has in the contract the role that its handler declares', () => {
    const { paths } = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as {
      paths: Record<string, Record<string, { 'x-required-role'?: string; security?: unknown[] }>>;
    };
    const documented = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => [
        `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
        operation['x-required-role'],
      ]),
    );
    const declared = withRole().map((route) => [nameOf(route), route.access]);
    expect(Object.fromEntries(documented.filter(([, role]) => role !== undefined))).toEqual(
      Object.fromEntries(declared),
    );
  });

  it('rejects a request without credentials before any other check', async () => {
    for (const route of withRole()) {
      const answer = await call(app.client, route);
      expect([nameOf(route), answer.status]).toEqual([nameOf(route), 401]);
      expect(answer.body.error.code).toBe('unauthorized');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
    for (const route of routes.filter(
      ({ access }) => access === 'metrics' || access === 'operations',
    )) {
      const answer = await call(app.client, route);
      expect([nameOf(route), answer.status]).toEqual([nameOf(route), 401]);
    }
  });

  it('rejects the next lower role, and names the required role', async () => {
    for (const route of withRole()) {
      const below = ROLES[ROLES.indexOf(route.access) - 1];
      if (!below) continue;
      const answer = await call(clients.get(below)!, route);
      expect([nameOf(route), answer.status]).toEqual([nameOf(route), 403]);
      expect(answer.body.error).toMatchObject({
        code: 'forbidden',
        details: { required_role: route.access },
      });
    }
  });

  it('accepts its own role and the role admin', async () => {
    for (const route of withRole()) {
      for (const role of new Set<Role>([route.access, 'admin'])) {
        const answer = await call(clients.get(role)!, route);
        expect([nameOf(route), [401, 403].includes(answer.status)]).toEqual([nameOf(route), false]);
      }
    }
  });
});

function routesOf(app: TestApp): Route[] {
  const scanner = new MetadataScanner();
  const discovery = new DiscoveryService(app.nest.get(ModulesContainer));
  return discovery.getControllers().flatMap(({ metatype, instance }) => {
    const prototype = Object.getPrototypeOf(instance) as Record<string, object>;
    return scanner.getAllMethodNames(prototype).flatMap((name) => {
      const handler = prototype[name]!;
      const verb = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      // Excludes handlers for any method, which respond to unknown addresses: see below.
      if (verb === undefined || verb === RequestMethod.ALL || !metatype) return [];
      const access = (Reflect.getMetadata(ACCESS, handler) ??
        Reflect.getMetadata(ACCESS, metatype)) as Access | undefined;
      return pathsOf(metatype)
        .flatMap((base) => pathsOf(handler).map((path) => join(base, path)))
        .map((path) => ({
          method: RequestMethod[verb],
          path,
          access,
          name: `${metatype.name}.${name}`,
          once: isIdempotent(prototype, name),
        }));
    });
  });
}

function pathsOf(target: object): string[] {
  return [Reflect.getMetadata(PATH_METADATA, target) as string | string[]].flat();
}

function join(...parts: string[]): string {
  const path = parts.flatMap((part) => part.split('/')).filter((part) => part !== '');
  return `/${path.join('/')}`;
}

describe('Unknown paths and methods under /api', () => {
  const ADDRESSES = [
    ['GET', '/api'],
    ['GET', '/api/'],
    ['GET', '/api/nothing'],
    ['POST', '/api/nothing/at/all?page=1'],
    ['GET', '/api/incidents/'],
    ['OPTIONS', '/api/incidents'],
    ['PATCH', '/api/incidents/x'],
    ['DELETE', '/api/actions/execute'],
    ['POST', '/api/health'],
    ['PROPFIND', '/api/nothing'],
    ['QUERY', '/api/incidents/x'],
    ['GET', '/api/%zz'],
    ['PUT', '/api/incidents//actions'],
  ] as const;

  const READS_PER_MINUTE = 5;
  const viewer = useStarted(() => as(app, 'viewer'));

  it.each(ADDRESSES)(
    'return 401 without credentials, and 404 or 405 to every principal, at %s %s',
    async (method, path) => {
      const made = `its_aaaaaaaa_${'x'.repeat(43)}`;
      for (const headers of [
        {},
        { authorization: `Bearer ${made}` },
        { cookie: 'its_session=x' },
      ]) {
        const answer = await app.request(method, path, { headers });
        expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
        expect(answer.headers['www-authenticate']).toBe('Bearer');
        expect(answer.headers.allow).toBeUndefined();
      }
      const { status, headers } = await viewer.request(method, path);
      expect(status).toBe(headers.allow === undefined ? 404 : 405);
    },
  );

  it('return 401 without credentials and 404 or 405 with credentials, for every method', async () => {
    // Node.js itself rejects CONNECT.
    for (const method of METHODS.filter((one) => one !== 'CONNECT')) {
      for (const path of ['/api/nothing', '/api/incidents', '/api/kill-switch/activate']) {
        expect([method, path, (await app.request(method, path)).status]).toEqual([
          method,
          path,
          401,
        ]);
      }
      expect([method, (await viewer.request(method, '/api/nothing')).status]).toEqual([
        method,
        404,
      ]);
      const { status, headers } = await viewer.request(method, '/api/incidents');
      if (['GET', 'HEAD', 'POST'].includes(method)) expect([200, 403]).toContain(status);
      else expect([method, status, headers.allow]).toEqual([method, 405, 'GET, HEAD, POST']);
    }
  });

  it("count against a principal's limits", async () => {
    const { client } = await makeKey(app, 'viewer', { limits: { read: READS_PER_MINUTE } });
    for (let count = 0; count < READS_PER_MINUTE; count += 1) {
      const { status, headers } = await client.get('/api/nothing');
      expect([status, headers['x-ratelimit-remaining']]).toEqual([
        404,
        String(READS_PER_MINUTE - 1 - count),
      ]);
    }
    expect((await client.get('/api/nothing')).status).toBe(429);
    expect((await client.get('/api/incidents')).status).toBe(429);
  });
});

describe('A malformed id or name in a path', () => {
  const UNKNOWN = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

  const MALFORMED = [
    ...['x', '0', '99999999999999999999', '__proto__', "'", '%', 'a%00b', '..%2F..', '%E2%80%AE'],
    ...[UNKNOWN.slice(0, -1), `${UNKNOWN}%0A`, 'a'.repeat(15_000)],
  ];

  interface Body {
    readonly example?: object;
    readonly examples?: Readonly<Record<string, { readonly value: object }>>;
  }

  const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as OpenApiDocument;
  const addressed = operationsOf(document).filter(({ path }) => path.includes('{'));

  function bodyOf({ operation }: PlacedOperation): object | undefined {
    const content = operation.requestBody?.content as Record<string, Body> | undefined;
    const { example, examples = {} } = content?.['application/json'] ?? {};
    return example ?? Object.values(examples)[0]?.value;
  }
  const admin = useStarted(() => as(app, 'admin'));
  let incident: string;

  beforeAll(async () => {
    const body = { incident_type: 'phishing', source: 'test' };
    incident = (await admin.post('/api/incidents', body)).body.data.id;
  });

  /**
   * Returns the address with `last` as its last id. All earlier ids are ids of existing resources, so that the service
   * looks up the last id.
   */
  function addressOf({ path, operation }: PlacedOperation, last: string): string {
    const names = [...path.matchAll(/{(\w+)}/g)].map(([, name]) => name!);
    const known = (name: string) =>
      path.startsWith('/api/incidents/')
        ? incident
        : operation.parameters?.find((parameter) => parameter.name === name)?.schema?.['example'];
    return names.reduce((text, name, at) => {
      const value = at === names.length - 1 ? last : String(known(name));
      return text.replace(`{${name}}`, value);
    }, path);
  }

  it.each(addressed.map((placed) => [`${placed.method} ${placed.path}`, placed] as const))(
    'is rejected like an unknown id or name by %s',
    async (_, placed) => {
      const body = bodyOf(placed);
      const ask = async (last: string): Promise<[string, number]> => {
        const answer = await admin.request(
          placed.method,
          addressOf(placed, last),
          body && { body },
        );
        return [last, answer.status];
      };
      for (const last of [UNKNOWN, ...MALFORMED]) expect(await ask(last)).toEqual([last, 404]);
    },
  );
});

describe('Every POST of a principal', () => {
  /** POST handlers without an Idempotency-Key, each with the reason why a repetition changes nothing. */
  const CHANGES_NOTHING: Readonly<Record<string, string>> = {
    'PlaybooksController.validate': 'Checks a playbook, and stores nothing.',
    'WebhooksController.preview': 'Shows the incidents of a body, and stores nothing.',
  };

  it('is idempotent, or is listed with the reason why not', () => {
    const handlers = routesOf(app).filter(
      ({ method, access }) => method === 'POST' && ROLES.some((role) => role === access),
    );
    expect(handlers.length).toBeGreaterThan(2);
    const forgotten = handlers.filter(({ name, once }) => !once && !(name in CHANGES_NOTHING));
    expect(forgotten.map(({ name }) => name)).toEqual([]);
    expect(handlers.filter(({ name, once }) => once && name in CHANGES_NOTHING)).toEqual([]);
  });
});
