import { DataSource } from 'typeorm';
import type { ActionTypeName } from '../../../src/action-catalogue/action-types.js';
import { Failpoints } from '../../../src/actions/execution/claims.js';
import { ROLES } from '../../../src/platform/access/roles.js';
import type { Answer, ApiClient } from '../api-client.js';
import { FakeVendor } from '../fake-vendor.js';
import { lookOften } from '../jobs/look-often.js';
import { makeKey } from '../principals.js';
import { startTestApp, type TestApp } from '../test-app.js';

export const PARAMETERS: Partial<Record<ActionTypeName, Record<string, unknown>>> = {
  quarantine_email: { message_id: '<m@example.net>' },
  release_email: { message_id: '<m@example.net>' },
  block_sender: { sender: 'evil@example.net' },
  unblock_sender: { sender: 'evil@example.net' },
  isolate_host: { host_id: 'laptop-7' },
  block_ip: { ip: '203.0.113.9' },
  revoke_sessions: { user: 'mallory' },
  lookup_ip: { ip: '203.0.113.9' },
};

/** Types that the vendor takes twice without harm; the others have an effect each time. */
export const IDEMPOTENT: ReadonlySet<string> = new Set(['quarantine_email', 'lookup_ip']);

const SERVED: readonly ActionTypeName[] = [
  'quarantine_email',
  'release_email',
  'block_sender',
  'unblock_sender',
  'isolate_host',
  'unisolate_host',
  'block_ip',
  'unblock_ip',
  'revoke_sessions',
  'lookup_ip',
];

export interface ShownAction {
  readonly status?: string;
  readonly result?: { readonly success: boolean; readonly code?: string };
}

export interface Clients {
  readonly viewer: ApiClient;
  readonly analyst: ApiClient;
  readonly senior: ApiClient;
  readonly manager: ApiClient;
  readonly admin: ApiClient;
}

/** Replicas on one database, a vendor that really listens, and somebody of each role. */
export class ActionWorld {
  private constructor(
    readonly vendor: FakeVendor,
    readonly replicas: readonly TestApp[],
    readonly clients: Clients,
    readonly names: Readonly<Record<keyof Clients, string>>,
  ) {}

  static async start(
    settings: Readonly<Record<string, string>> = {},
    replicas = 1,
  ): Promise<ActionWorld> {
    const vendor = await FakeVendor.start();
    const all = { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', ...settings };
    const first = await startTestApp({ settings: all });
    const apps = [first];
    while (apps.length < replicas) {
      apps.push(await startTestApp({ settings: all, database: first.database }));
    }
    const keys = await Promise.all(ROLES.map((role) => makeKey(first, role)));
    const clients = Object.fromEntries(ROLES.map((role, at) => [role, keys[at]!.client]));
    const names = Object.fromEntries(ROLES.map((role, at) => [role, keys[at]!.name]));
    const world = new ActionWorld(
      vendor,
      apps,
      clients as unknown as Clients,
      names as Record<keyof Clients, string>,
    );
    await world.connect();
    return world;
  }

  get app(): TestApp {
    return this.replicas[0]!;
  }

  get database(): DataSource {
    return this.app.nest.get(DataSource);
  }

  /** What the vendor was asked to do; the connector's health check is a GET and may come at any time. */
  get calls(): FakeVendor['requests'] {
    return this.vendor.requests.filter(({ method }) => method === 'POST');
  }

  async close(): Promise<void> {
    for (const app of [...this.replicas].reverse()) await app.close();
    await this.vendor.stop();
  }

  async execute(
    type: ActionTypeName,
    more: {
      incidentId?: string;
      client?: ApiClient;
      headers?: object;
      parameters?: object;
      repeat?: boolean;
    } = {},
  ): Promise<Answer> {
    const { incidentId, client = this.clients.analyst, headers = {}, repeat } = more;
    const path = incidentId ? `/api/incidents/${incidentId}/actions` : '/api/actions/execute';
    const parameters = more.parameters ?? PARAMETERS[type];
    return await client.request('POST', path, {
      body: { action: type, parameters, ...(repeat && { repeat }) },
      headers: headers as Record<string, string>,
    });
  }

  /** Of a type that has to be approved: requested, and approved by a senior. */
  async approved(type: ActionTypeName): Promise<string> {
    const id: string = (await this.execute(type)).body.data.action_id;
    const answer = await this.clients.senior.request('POST', `/api/actions/${id}/approve`, {
      body: {},
    });
    if (answer.body.data.status === 'pending_approval') throw new Error(answer.text);
    return id;
  }

  async incident(fields: object = {}): Promise<string> {
    const body = { incident_type: 'phishing', source: 'test', ...fields };
    const answer = await this.clients.analyst.request('POST', '/api/incidents', { body });
    return answer.body.data.id as string;
  }

  async get(id: string): Promise<ShownAction> {
    return (await this.clients.viewer.request('GET', `/api/actions/${id}`)).body.data;
  }

  lookOften(): void {
    this.replicas.forEach(lookOften);
  }

  /** The claims of runs lapse that died, and what a vendor is doing is due to be asked about. */
  async expireLeases(): Promise<void> {
    await this.database.query(
      `update actions set lease_until = now() - interval '1 ms' where status = 'pending'`,
    );
  }

  async turnOn(): Promise<Answer> {
    return await this.clients.manager.request('POST', '/api/kill-switch/activate', {
      body: { reason: 'a test' },
    });
  }

  async turnOff(held?: 'discard'): Promise<Answer> {
    return await this.clients.manager.request('POST', '/api/kill-switch/deactivate', {
      body: { reason: 'over', ...(held && { held }) },
    });
  }

  async connect(): Promise<void> {
    const actions = Object.fromEntries(
      SERVED.map((type) => [
        type,
        {
          path: `/${type}`,
          body: { id: '{{ action.id }}' },
          ...(IDEMPOTENT.has(type) && { idempotent: true }),
        },
      ]),
    );
    const answer = await this.clients.admin.request('POST', '/api/connectors', {
      body: { name: 'vendor', type: 'http', config: { base_url: this.vendor.url, actions } },
    });
    if (answer.status !== 201) throw new Error(answer.text);
  }
}

/**
 * Makes the next run of a replica die at a place, as a killed process would: it goes no further, and renews no lease. What
 * the run of another replica passes goes on.
 */
export function crashAt(app: TestApp, point: number): { readonly crashed: Promise<void> } {
  const failpoints = app.nest.get(Failpoints);
  const reached = Promise.withResolvers<void>();
  let dead = false;
  failpoints.hit = (at) => {
    if (at === point) {
      dead = true;
      reached.resolve();
    }
    return dead ? new Promise<void>(() => undefined) : Promise.resolve();
  };
  return { crashed: reached.promise };
}

/** The replica is started again, as far as its failpoints go. What hangs keeps hanging. */
export function revive(app: TestApp): void {
  app.nest.get(Failpoints).hit = async () => undefined;
}
