import { SHORTEST_SECRET, type ConfigSchema } from '../../../targets/target-config.js';
import type { Gate } from '../../../platform/net/outbound-request.js';
import { isJsonObject, listAt, textAt, valueAt } from '../../calls/vendor-answers.js';
import { RefusedError } from '../../calls/vendor-answers.js';
import type { VendorApi } from '../../calls/vendor-api.js';
import { isHostName, isNamed } from '../../calls/undo.js';

export interface FalconConfig {
  readonly base_url: string;
  readonly client_id: string;
  readonly client_secret: string;
}

export const FALCON_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      minLength: 8,
      maxLength: 2_000,
      default: 'https://api.crowdstrike.com',
      description: 'Address of the cloud of the hosts, such as https://api.eu-1.crowdstrike.com.',
    },
    client_id: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description:
        'API client with the scopes Hosts (read, write) and On-demand scans (read, write).',
    },
    client_secret: {
      type: 'string',
      minLength: SHORTEST_SECRET,
      maxLength: 1_000,
      writeOnly: true,
      description: 'Secret of `client_id`.',
    },
  },
  required: ['client_id', 'client_secret'],
  additionalProperties: false,
};

export interface Device {
  readonly id: string;
  /** Missing if the sensor has not reported it. */
  readonly hostname: unknown;
  readonly status: string;
}

export interface Scan {
  readonly id: string;
  readonly status: string;
}

const DEVICE_ID = /^[0-9a-f]{32}$/i;
/** Two hits are enough to know that a name is ambiguous. */
const MOST_OF_A_NAME = 2;

/**
 * Requests to CrowdStrike Falcon, as documented at https://developer.crowdstrike.com/api-reference/collections/hosts/
 * and https://developer.crowdstrike.com/api-reference/collections/ods/. Requests without a gate only read, for a poll,
 * a probe or a test.
 */
export class FalconApi {
  constructor(private readonly api: VendorApi) {}

  /** Finds a host by its id at the vendor, or by its name if only one host has it. */
  async device(hostId: string, gate?: Gate): Promise<Device> {
    const isId = DEVICE_ID.test(hostId);
    const id = isId ? hostId.toLowerCase() : await this.idOf(hostId, gate);
    const found = await this.api.ask(
      gate,
      { method: 'POST', path: ['devices', 'entities', 'devices', 'v2'], body: { ids: [id] } },
      (json) => resources(json).map((one) => readDevice(one)),
    );
    const device = found.find((one) => one.id === id);
    // The search also finds similar names.
    if (!device || !(isId || isNamed(device.hostname, hostId))) throw unknownHost();
    return device;
  }

  async performAction(gate: Gate, actionName: string, deviceId: string): Promise<void> {
    const path = ['devices', 'entities', 'devices-actions', 'v2'];
    const query = { action_name: actionName };
    await this.api.change(
      gate,
      { method: 'POST', path, query, body: { ids: [deviceId] }, idempotent: true },
      (json) => void textAt(resources(json)[0], 'id'),
    );
  }

  async createScan(gate: Gate, body: object): Promise<Scan> {
    return await this.api.change(
      gate,
      { method: 'POST', path: ['ods', 'entities', 'scans', 'v1'], body, idempotent: false },
      (json) => readScan(resources(json)[0]),
    );
  }

  async scan(id: string): Promise<Scan> {
    const path = ['ods', 'entities', 'scans', 'v2'];
    return await this.api.ask(undefined, { method: 'GET', path, query: { ids: id } }, (json) =>
      readScan(resources(json)[0]),
    );
  }

  /** Id of the scan with this description; `undefined` if there is none. */
  async scanOf(description: string): Promise<string | undefined> {
    const query = { filter: `description.keyword:'${description}'`, limit: '1' };
    const [id] = await this.ids(['ods', 'queries', 'scans', 'v1'], query);
    return id;
  }

  /** Checks the credentials. */
  async look(): Promise<void> {
    await this.ids(['devices', 'queries', 'devices', 'v1'], { limit: '1' });
  }

  private async idOf(name: string, gate: Gate | undefined): Promise<string> {
    if (!isHostName(name))
      throw new RefusedError(
        'host_id must be a CrowdStrike agent id (32 hex digits) or a host name.',
      );
    const query = { filter: `hostname:'${name}'`, limit: String(MOST_OF_A_NAME) };
    const [id, another] = await this.ids(['devices', 'queries', 'devices', 'v1'], query, gate);
    if (id === undefined) throw unknownHost();
    if (another !== undefined) {
      throw new RefusedError('Several hosts have that name. Use the id of the host at Falcon.');
    }
    return id;
  }

  private async ids(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    gate?: Gate,
  ): Promise<string[]> {
    return await this.api.ask(gate, { method: 'GET', path, query }, (json) =>
      resources(json).map((id) => textAt({ id }, 'id')),
    );
  }
}

/** Messages in `errors`, which a response with status 200 may contain, too. */
export function complaintIn(json: unknown): string | undefined {
  const errors = valueAt(json, 'errors');
  if (!Array.isArray(errors) || errors.length === 0) return undefined;
  const said = errors.map((one) => valueAt(one, 'message')).filter((one) => isText(one));
  return said.join(' ') || 'an error without a message';
}

function resources(json: unknown): readonly unknown[] {
  // An empty result may be null.
  return isJsonObject(json) && json.resources === null ? [] : listAt(json, 'resources');
}

function readDevice(json: unknown): Device {
  const hostname = valueAt(json, 'hostname');
  return { id: textAt(json, 'device_id'), hostname, status: textAt(json, 'status') };
}

function unknownHost(): RefusedError {
  return new RefusedError('Falcon knows no such host.');
}

function readScan(json: unknown): Scan {
  return { id: textAt(json, 'id'), status: textAt(json, 'status') };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
