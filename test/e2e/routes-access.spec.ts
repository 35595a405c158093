import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { RequestMethod } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { ACCESS, type Access } from '../../src/platform/access/access.js';
import { ROLES, type Role } from '../../src/platform/access/roles.js';
import type { ApiClient } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** What needs no role. To open another address, name it here. */
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
  'GET /login': 'public',
  'POST /login': 'public',
  // Without a session they ask for the login.
  'GET /login/password': 'public',
  'POST /login/password': 'public',
  'POST /logout': 'public',
  'GET /docs': 'public',
  'GET /docs/guides': 'public',
  'GET /docs/guides/:name': 'public',
  'GET /docs/': 'public',
  'GET /docs/:version/:asset': 'public',
  'GET /favicon.ico': 'public',
  'GET /openapi.json': 'public',
  'GET /openapi.yaml': 'public',
  'GET /openapi-3.1.json': 'public',
  'POST /api/webhooks/:source': 'signature',
  // With the header of Okta's verification alone.
  'GET /api/webhooks/:source': 'public',
};

/** In place of every id: there is no such thing, and whoever may ask for it learns just that. */
const ANYTHING = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

interface Route {
  readonly method: string;
  readonly path: string;
  readonly access: Access | undefined;
}

describe('Every route', () => {
  let app: TestApp;
  let routes: Route[];
  const clients = new Map<Role, ApiClient>();

  beforeAll(async () => {
    app = await startTestApp({ settings: { METRICS_TOKEN: 'a-token-of-metrics' } });
    routes = routesOf(app);
    for (const role of ROLES) clients.set(role, (await makeKey(app, role)).client);
  });

  afterAll(() => app.close());

  const nameOf = ({ method, path }: Route) => `${method} ${path}`;
  const call = (client: ApiClient, { method, path }: Route) =>
    client.request(method, path.replace(/:\w+/g, ANYTHING));
  const withRole = () =>
    routes.filter((route): route is Route & { access: Role } =>
      ROLES.some((role) => role === route.access),
    );

  it('declares who may call it', () => {
    expect(routes.length).toBeGreaterThan(15);
    expect(routes.filter(({ access }) => access === undefined)).toEqual([]);
  });

  it('needs a role unless it is named here', () => {
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

  it('refuses who has no credentials, before anything else is said', async () => {
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

  it('refuses the role below its own, and names the one it needs', async () => {
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

  it('lets its own role and the admin pass', async () => {
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
      // What takes any method takes unknown addresses, which test/e2e/unknown-addresses.spec.ts tries.
      if (verb === undefined || verb === RequestMethod.ALL || !metatype) return [];
      const access = (Reflect.getMetadata(ACCESS, handler) ??
        Reflect.getMetadata(ACCESS, metatype)) as Access | undefined;
      return pathsOf(metatype)
        .flatMap((base) => pathsOf(handler).map((path) => join(base, path)))
        .map((path) => ({ method: RequestMethod[verb], path, access }));
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
