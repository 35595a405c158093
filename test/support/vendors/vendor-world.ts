import type { ActionTypeName } from '../../../src/action-catalogue/action-types.js';
import type { Answer, ApiClient } from '../api-client.js';
import { as } from '../principals.js';
import { startTestApp, type TestApp } from '../test-app.js';
import type { VendorServer } from './vendor-server.js';

type Vendor = VendorServer & { readonly config: object };

/** The whole service with one connector, created over the API, and an incident for actions. */
export class VendorWorld {
  private constructor(
    readonly app: TestApp,
    readonly admin: ApiClient,
    private readonly incidentId: string,
    /** Response to the creation of the connector. */
    readonly connector: Answer,
    private readonly server: Vendor,
  ) {}

  static async start(type: string, server: Vendor, more: object = {}): Promise<VendorWorld> {
    await server.start();
    const settings = { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', ...more };
    const app = await startTestApp({ settings });
    const admin = await as(app, 'admin');
    const incident = { incident_type: 'phishing', source: 'test' };
    const created = await admin.post('/api/incidents', incident);
    const body = { name: 'the vendor', type, config: server.config };
    const connector = await admin.post('/api/connectors', body);
    return new VendorWorld(app, admin, created.body.data.id, connector, server);
  }

  /** Requests the action, approves it if needed, and returns it. */
  async execute(action: ActionTypeName, parameters: object): Promise<Answer['body']> {
    const path = `/api/incidents/${this.incidentId}/actions`;
    const { body } = await this.admin.post(path, { action, parameters });
    const { action_id: id, status } = body.data;
    if (status === 'pending_approval') {
      await this.admin.post(`/api/actions/${id}/approve`, {});
    }
    return await this.get(id);
  }

  async get(id: string): Promise<Answer['body']> {
    return (await this.admin.get(`/api/actions/${id}`)).body.data;
  }

  /** Returns the action that undoes the other action. */
  async rollBack(id: string): Promise<Answer['body']> {
    const body = { reason: 'a false alarm' };
    const answer = await this.admin.post(`/api/actions/${id}/rollback`, body);
    return await this.get(answer.body.data.rollback_action_id);
  }

  async test(): Promise<Answer['body']> {
    return (await this.admin.post(`/api/connectors/${this.connector.body.data.id}/test`)).body.data;
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.server.stop();
  }
}
