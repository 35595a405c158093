import type { Gate } from '../../../platform/net/gate.js';
import { isJsonObject, listAt, textAt, valueAt } from '../../calls/answer-shape.js';
import { RefusedError } from '../../calls/refused.error.js';
import type { VendorApi } from '../../calls/vendor-api.js';
import { isHostName, isNamed } from '../host-names.js';

export interface Device {
  readonly id: string;
  /** Missing where the sensor has not told it. */
  readonly hostname: unknown;
  readonly status: string;
}

export interface Scan {
  readonly id: string;
  readonly status: string;
}

const DEVICE_ID = /^[0-9a-f]{32}$/i;
/** More than one is enough to know that a name is not one host. */
const MOST_OF_A_NAME = 2;

/**
 * The requests at CrowdStrike Falcon, as https://developer.crowdstrike.com/api-reference/collections/hosts/ and
 * https://developer.crowdstrike.com/api-reference/collections/ods/ document them. A request without a gate is one that only
 * asks, for a poll, a probe or a test.
 */
export class FalconApi {
  constructor(private readonly api: VendorApi) {}

  /** The host that a person named: by its id at the vendor, or by its name where only one host has it. */
  async device(hostId: string, gate?: Gate): Promise<Device> {
    const isId = DEVICE_ID.test(hostId);
    const id = isId ? hostId.toLowerCase() : await this.idOf(hostId, gate);
    const found = await this.api.ask(
      gate,
      { method: 'POST', path: ['devices', 'entities', 'devices', 'v2'], body: { ids: [id] } },
      (json) => resources(json).map((one) => readDevice(one)),
    );
    const device = found.find((one) => one.id === id);
    // A search may find what is only alike.
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

  /** The id of the scan with this description; undefined when there is none. */
  async scanOf(description: string): Promise<string | undefined> {
    const query = { filter: `description.keyword:'${description}'`, limit: '1' };
    const [id] = await this.ids(['ods', 'queries', 'scans', 'v1'], query);
    return id;
  }

  /** Whether the vendor lets in who asks. */
  async look(): Promise<void> {
    await this.ids(['devices', 'queries', 'devices', 'v1'], { limit: '1' });
  }

  private async idOf(name: string, gate: Gate | undefined): Promise<string> {
    if (!isHostName(name)) throw new RefusedError('host_id is neither an id nor a name.');
    const query = { filter: `hostname:'${name}'`, limit: String(MOST_OF_A_NAME) };
    const [id, another] = await this.ids(['devices', 'queries', 'devices', 'v1'], query, gate);
    if (id === undefined) throw unknownHost();
    if (another !== undefined) {
      throw new RefusedError('Several hosts have that name. Name the host by its id at Falcon.');
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

/** The messages of `errors`, which an answer with a good status may have, too. */
export function complaintIn(json: unknown): string | undefined {
  const errors = valueAt(json, 'errors');
  if (!Array.isArray(errors) || errors.length === 0) return undefined;
  const said = errors.map((one) => valueAt(one, 'message')).filter((one) => isText(one));
  return said.join(' ') || 'an error without a message';
}

function resources(json: unknown): readonly unknown[] {
  // Nothing found is told as null, too.
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
