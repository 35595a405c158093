import type { IncomingMessage } from 'node:http';
import { ClientCredentials } from './client-credentials.js';
import {
  objectOf,
  type Reply,
  type Route,
  type VendorCall,
  VendorServer,
} from './vendor-server.js';

const TEXT = { type: 'string' } as const;
const NUMBER = { type: 'integer' } as const;
const TEXTS = { type: 'array', items: TEXT } as const;
const DEVICE_ID = '^[0-9a-f]{32}$';

const IDS = objectOf({
  ids: { type: 'array', items: { type: 'string', pattern: DEVICE_ID }, minItems: 1, maxItems: 1 },
});

/** entities.ODSScanRequest. All fields are required. */
const SCAN_FIELDS = {
  hosts: { ...TEXTS, minItems: 1 },
  host_groups: TEXTS,
  file_paths: { ...TEXTS, minItems: 1 },
  scan_inclusions: TEXTS,
  scan_exclusions: TEXTS,
  description: TEXT,
  initiated_from: TEXT,
  quarantine: { type: 'boolean' },
  endpoint_notification: { type: 'boolean' },
  cpu_priority: { type: 'integer', minimum: 1, maximum: 5 },
  max_duration: NUMBER,
  pause_duration: NUMBER,
  sensor_ml_level_detection: { type: 'integer', minimum: 0, maximum: 4 },
  sensor_ml_level_prevention: { type: 'integer', minimum: 0, maximum: 4 },
  cloud_ml_level_detection: { type: 'integer', minimum: 0, maximum: 4 },
  cloud_ml_level_prevention: { type: 'integer', minimum: 0, maximum: 4 },
} as const;
const SCAN_REQUEST = objectOf(SCAN_FIELDS);

interface Host {
  readonly hostname: string;
  status: string;
}

interface ScanJob {
  readonly request: Readonly<Record<string, unknown>>;
  status: string;
}

const CLIENT = { client_id: 'falcon-client', client_secret: 'falcon-secret-1' };
const META = { query_time: 0.01, trace_id: 'c0ffee00-0000-4000-8000-000000000000' };

/**
 * CrowdStrike Falcon, as far as hosts and on-demand scans go. Written from the documentation of the two collections and the
 * schemas of the vendor's own client, which are generated from its specification:
 * https://developer.crowdstrike.com/api-reference/collections/hosts/ (PerformActionV2, PostDeviceDetailsV2, QueryDevicesByFilter)
 * https://developer.crowdstrike.com/api-reference/collections/ods/ (create_scan, get_scans_by_scan_ids_v2, query_scans)
 * https://github.com/CrowdStrike/gofalcon/blob/main/falcon/models/entities_o_d_s_scan_request.go
 * https://github.com/CrowdStrike/gofalcon/blob/main/falcon/models/domain_scan_v2.go
 * https://github.com/CrowdStrike/gofalcon/blob/main/falcon/models/msa_api_error.go
 */
export class FalconServer extends VendorServer {
  readonly tokens = new ClientCredentials(CLIENT, 201);
  readonly hosts = new Map<string, Host>();
  readonly scans = new Map<string, ScanJob>();

  protected readonly routes: readonly Route[] = [
    this.tokens.route('/oauth2/token'),
    {
      on: 'GET /devices/queries/devices/v1',
      query: { limit: /^[1-9]\d{0,3}$/ },
      answer: () => found([...this.hosts.keys()].slice(0, 1)),
    },
    {
      on: 'GET /devices/queries/devices/v1',
      query: { filter: /^hostname:'[A-Za-z0-9._-]+'$/, limit: /^[1-9]\d{0,3}$/ },
      answer: ({ query }) => this.named(query.filter!.slice("hostname:'".length, -1)),
    },
    {
      on: 'POST /devices/entities/devices/v2',
      body: IDS,
      answer: (call) => found(idsOf(call).flatMap((id) => this.detailsOf(id))),
    },
    {
      on: 'POST /devices/entities/devices-actions/v2',
      query: { action_name: /^(contain|lift_containment)$/ },
      body: IDS,
      answer: (call) => this.perform(call.query.action_name!, idsOf(call)[0]!),
    },
    {
      on: 'POST /ods/entities/scans/v1',
      body: SCAN_REQUEST,
      answer: ({ body }) => this.createScan(body as Record<string, unknown>),
    },
    {
      on: 'GET /ods/entities/scans/v2',
      query: { ids: /^[0-9a-f]{32}$/ },
      answer: ({ query }) => found(this.scanOf(query.ids!)),
    },
  ];

  get config() {
    return { base_url: this.url, ...CLIENT };
  }

  override forget(): void {
    super.forget();
    this.hosts.clear();
    this.scans.clear();
  }

  addHost(hostname: string, status = 'normal'): string {
    const id = (this.hosts.size + 1).toString(16).padStart(32, '0');
    this.hosts.set(id, { hostname, status });
    return id;
  }

  /** Simulates that the sensors have received their actions. */
  settle(status: string): void {
    for (const host of this.hosts.values())
      if (host.status.endsWith('pending')) host.status = status;
  }

  protected override isLetIn(headers: IncomingMessage['headers']): boolean {
    return this.tokens.isGood(headers);
  }

  protected errorOf(code: number, message: string): unknown {
    return { meta: META, errors: [{ code, message }], resources: [] };
  }

  private named(name: string): Reply {
    const wanted = name.toLowerCase();
    const ids = [...this.hosts].filter(([, { hostname }]) =>
      hostname.toLowerCase().startsWith(wanted),
    );
    return found(ids.map(([id]) => id));
  }

  private detailsOf(device_id: string): object[] {
    const host = this.hosts.get(device_id);
    return host ? [{ device_id, cid: '0'.repeat(32), platform_name: 'Windows', ...host }] : [];
  }

  private perform(action: string, id: string): Reply {
    const host = this.hosts.get(id);
    if (!host) return this.error(404, 'The device was not found.');
    const [from, to] =
      action === 'contain'
        ? ['normal', 'containment_pending']
        : ['contained', 'lift_containment_pending'];
    if (host.status !== from) return this.error(409, `The device is ${host.status}.`);
    host.status = to!;
    return { ...found([{ id, path: '/devices/entities/devices/v1' }]), status: 202 };
  }

  private createScan(request: Record<string, unknown>): Reply {
    const id = (this.scans.size + 0xabc).toString(16).padStart(32, '0');
    this.scans.set(id, { request, status: 'pending' });
    return { ...found(this.scanOf(id)), status: 201 };
  }

  private scanOf(id: string): object[] {
    const scan = this.scans.get(id);
    return scan ? [{ id, status: scan.status, hosts: scan.request.hosts }] : [];
  }
}

function idsOf({ body }: VendorCall): string[] {
  return (body as { ids: string[] }).ids;
}

/** If nothing was found, `resources` is null. */
function found(resources: readonly unknown[]): Reply {
  const body = { meta: META, errors: [], resources: resources.length > 0 ? resources : null };
  return { status: 200, body };
}
