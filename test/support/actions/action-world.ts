import type { ActionTypeName } from '../../../src/action-catalogue/action-types.js';
import { MOST_PER_CONNECTOR } from '../../../src/actions/execution/action-work.js';
import type { Answer, ApiClient } from '../api-client.js';
import { FakeVendor } from '../fake-vendor.js';
import type { TestApp } from '../test-app.js';
import { TEST_CONNECTORS } from './scripted-vendor.js';
import { type Everybody, World } from '../world.js';

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

/** Types that the vendor executes idempotently. An action of any other type has an effect each time. */
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

/** Replicas on one database, a vendor that listens, and an API key of each role. */
export class ActionWorld extends World {
  private constructor(
    readonly vendor: FakeVendor,
    replicas: readonly TestApp[],
    everybody: Everybody,
  ) {
    super(replicas, everybody);
  }

  static async start(
    settings: Readonly<Record<string, string>> = {},
    replicas = 1,
  ): Promise<ActionWorld> {
    const vendor = await FakeVendor.start();
    const all = { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', ...settings };
    const world = new ActionWorld(vendor, ...(await World.open(all, replicas)));
    await world.addLanes(...TEST_CONNECTORS);
    await world.connect();
    return world;
  }

  /**
   * Requests of actions that the vendor received. Excludes GET requests, because a health check of the connector may
   * arrive at any time.
   */
  get calls(): FakeVendor['requests'] {
    return this.vendor.requests.filter(({ method }) => method === 'POST');
  }

  override async close(): Promise<void> {
    await super.close();
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
    return await client.post(
      path,
      { action: type, parameters, ...(repeat && { repeat }) },
      headers as Record<string, string>,
    );
  }

  /** Creates an action of a type that needs approval, and approves it as a senior. */
  async approved(type: ActionTypeName): Promise<string> {
    const id: string = (await this.execute(type)).body.data.action_id;
    const answer = await this.clients.senior.post(`/api/actions/${id}/approve`, {});
    if (answer.body.data.status === 'pending_approval') throw new Error(answer.text);
    return id;
  }

  async get(id: string): Promise<ShownAction> {
    return (await this.clients.viewer.get(`/api/actions/${id}`)).body.data;
  }

  /** Ends the claims of all actions, and makes accepted actions due. */
  async expireLeases(): Promise<void> {
    await this.database.query(
      `update work set due_at = now() - interval '1 ms' where kind = 'action' and not ready`,
    );
  }

  /** Adds the lanes of a connector. In the service, a trigger does this. */
  private async addLanes(...connectors: readonly string[]): Promise<void> {
    await this.database.query(
      `insert into work_lanes (lane, kind, places)
       select kind || '.' || id, kind, $2 from unnest($1::text[]) as id cross join (values ('action'), ('ask')) as of (kind)`,
      [connectors, MOST_PER_CONNECTOR],
    );
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
    const answer = await this.clients.admin.post('/api/connectors', {
      name: 'vendor',
      type: 'http',
      config: { base_url: this.vendor.url, actions },
    });
    if (answer.status !== 201) throw new Error(answer.text);
  }
}
