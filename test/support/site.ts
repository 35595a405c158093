import { createHash } from 'node:crypto';
import { createKey } from '../../src/auth/credentials.js';
import type { ApiClient } from './api-client.js';
import { query } from './embedded/query.js';
import { FakeVendor } from './fake-vendor.js';
import type { ServiceProcess } from './service-process.js';
import { signed } from './webhook-sender.js';

const PASSWORD = 'the password of the site';
const TOKEN = 'token-that-nobody-sees';
const SOURCE = 'mail-gateway';
const SOURCE_SECRET = 'the-secret-of-the-day';
const KEY_REQUEST = {
  body: { name: 'kept', role: 'viewer' },
  headers: { 'idempotency-key': 'the-one-key' },
};

/**
 * A small installation with an example of every kind of data, created over the API, and the conditions that must always
 * hold for this data.
 */
export class Site {
  readonly adminKey = createKey().key;
  private connectorId = '';
  private keptAnswer = '';
  private incidents = 0;

  private constructor(readonly vendor: FakeVendor) {}

  static async open(): Promise<Site> {
    return new Site(await FakeVendor.start());
  }

  get settings(): Record<string, string> {
    return {
      BOOTSTRAP_ADMIN_API_KEY: this.adminKey,
      BOOTSTRAP_ADMIN_PASSWORD: PASSWORD,
      ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    };
  }

  close(): Promise<void> {
    return this.vendor.stop();
  }

  async fill(service: ServiceProcess): Promise<void> {
    const admin = this.admin(service);
    const connector = await admin.post('/api/connectors', {
      name: 'firewall',
      type: 'http',
      config: {
        base_url: this.vendor.url,
        headers: { authorization: 'Bearer {{ secrets.token }}' },
        secrets: { token: TOKEN },
        actions: { lookup_ip: { path: '/lookups', body: { ip: '{{ parameters.ip }}' } } },
      },
    });
    this.connectorId = connector.body.data.id;
    const source = { source: SOURCE, secret: 'the-secret-of-the-day-before' };
    await admin.post('/api/webhooks', source);
    await admin.put(`/api/webhooks/${SOURCE}`, { secret: SOURCE_SECRET });
    this.keptAnswer = (await admin.request('POST', '/api/api-keys', KEY_REQUEST)).text;
    for (let n = 0; n < 7; n += 1) await this.addIncident(service);
    const { body } = await admin.get('/api/incidents?per_page=1');
    await admin.delete(`/api/incidents/${body.data[0].id}`);
    this.incidents -= 1;
    await admin.post('/api/actions/execute', {
      action: 'lookup_ip',
      parameters: { ip: '203.0.113.9' },
    });
    const login = { body: { username: 'admin', password: PASSWORD } };
    await service.client.request('POST', '/login', login);
  }

  async addIncident(service: ServiceProcess): Promise<void> {
    // Characters that COPY has to escape.
    const raw_data = { title: 'tab\t, line\n, back\\slash, \\N and 🔑', number: this.incidents };
    const body = { incident_type: 'phishing', source: 'site', severity: 'high', raw_data };
    const { status } = await this.admin(service).post('/api/incidents', body);
    if (status !== 201) throw new Error(`The incident was answered with ${status}.`);
    this.incidents += 1;
  }

  /** Returns the violated conditions as texts. */
  async faults(service: ServiceProcess): Promise<string[]> {
    const admin = this.admin(service);
    const found: string[] = [];
    const expect = (what: string, holds: boolean): void => void (holds || found.push(what));
    const login = { body: { username: 'admin', password: PASSWORD } };
    expect('login', (await service.client.request('POST', '/login', login)).status === 200);
    this.vendor.forget();
    const tested = await admin.post(`/api/connectors/${this.connectorId}/test`);
    const sent = this.vendor.requests[0]?.headers.authorization;
    expect('the connector is tested', tested.body.data.success === true);
    expect('the secret is read', sent === `Bearer ${TOKEN}`);
    const nothing = { body: '[]', source: SOURCE, secret: SOURCE_SECRET };
    const received = await service.client.post(`/api/webhooks/${SOURCE}`, nothing.body, {
      'content-type': 'application/json',
      ...signed(nothing),
    });
    expect('the secret of the source is read', received.status === 202);
    const again = await admin.request('POST', '/api/api-keys', KEY_REQUEST);
    expect('the kept answer is read', again.text === this.keptAnswer);
    const incidents = await admin.get('/api/incidents?source=site&per_page=100');
    expect('incidents are counted', incidents.body.meta.total === this.incidents);
    expect('incidents are listed', incidents.body.data.length === this.incidents);
    const actions = await admin.get('/api/actions?status=completed');
    expect('actions are counted', actions.body.meta.total === 1);
    const { valid } = (await admin.get('/api/audit/verify')).body.data;
    expect('the audit trail is valid', valid === true);
    const made = await admin.post('/api/incidents', {
      incident_type: 'phishing',
      source: 'after',
      raw_data: {},
    });
    expect('incidents are created', made.status === 201);
    return found;
  }

  admin(service: ServiceProcess): ApiClient {
    return service.client.with({ authorization: `Bearer ${this.adminKey}` });
  }
}

export interface TableContent {
  readonly rows: number;
  readonly digest: string;
}

/** Returns the number and a digest of the rows of every table of the service. */
export async function contentsOf(url: string): Promise<Record<string, TableContent>> {
  const tables = await query<{ name: string }>(
    url,
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  );
  const contents: Record<string, TableContent> = {};
  for (const { name } of tables) {
    const rows = await query<{ row: string }>(
      url,
      `select t::text as row from ${name} t order by 1`,
    );
    const digest = createHash('sha256');
    for (const { row } of rows) digest.update(row).update('\n');
    contents[name] = { rows: rows.length, digest: digest.digest('hex') };
  }
  return contents;
}
