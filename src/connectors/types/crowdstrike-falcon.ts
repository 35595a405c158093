import type { Gate } from '../../platform/net/outbound-request.js';
import { address, fields, secret } from '../../targets/target-config.js';
import { AccessTokens } from '../calls/access-tokens.js';
import { foundSo, isHostName, isNamed, judgeTarget, marked, nothingToUndo } from '../calls/undo.js';
import { isJsonObject, listAt, RefusedError, textAt, valueAt } from '../calls/vendor-answers.js';
import { VendorApi, vendorUrl } from '../calls/vendor-api.js';
import { VendorCalls } from '../calls/vendor-calls.js';
import {
  type ActionCall,
  type ActionDefinition,
  defineConnector,
  type Outcome,
} from '../connector-type.js';

/** A change of the containment of a host. The vendor does not document the statuses; its console shows these four. */
interface Containment {
  /** Action name at the vendor. */
  readonly actionName: 'contain' | 'lift_containment';
  readonly done: 'contained' | 'normal';
  readonly underWay: 'containment_pending' | 'lift_containment_pending';
  readonly inWords: string;
}

const CONTAIN: Containment = {
  actionName: 'contain',
  done: 'contained',
  underWay: 'containment_pending',
  inWords: 'contained',
};
const LIFT: Containment = {
  actionName: 'lift_containment',
  done: 'normal',
  underWay: 'lift_containment_pending',
  inWords: 'released from containment',
};

/** Stored data for polling. */
interface ContainmentHandle extends Record<string, unknown> {
  readonly device_id: string;
  /** The vendor was seen working on it. If it later is neither in progress nor done, it was reverted. */
  readonly seen_under_way: boolean;
}

interface Device {
  readonly id: string;
  /** Missing if the sensor has not reported it. */
  readonly hostname: unknown;
  readonly status: string;
}

interface Scan {
  readonly id: string;
  readonly status: string;
}

const DEVICES = ['devices', 'queries', 'devices', 'v1'];
const DEVICE_ID = /^[0-9a-f]{32}$/i;
/** Two hits are enough to know that a name is ambiguous. */
const MOST_OF_A_NAME = 2;

/**
 * Requests to CrowdStrike Falcon, as documented at https://developer.crowdstrike.com/api-reference/collections/hosts/
 * and https://developer.crowdstrike.com/api-reference/collections/ods/. Requests without a gate only read, for a poll,
 * a probe or a test.
 */
class Falcon {
  constructor(readonly api: VendorApi) {}

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

  async scan(id: string): Promise<Scan> {
    const path = ['ods', 'entities', 'scans', 'v2'];
    return await this.api.ask(undefined, { method: 'GET', path, query: { ids: id } }, (json) =>
      readScan(resources(json)[0]),
    );
  }

  async ids(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    gate?: Gate,
  ): Promise<string[]> {
    return await this.api.ask(gate, { method: 'GET', path, query }, (json) =>
      resources(json).map((id) => textAt({ id }, 'id')),
    );
  }

  private async idOf(name: string, gate: Gate | undefined): Promise<string> {
    if (!isHostName(name))
      throw new RefusedError(
        'host_id must be a CrowdStrike agent id (32 hex digits) or a host name.',
      );
    const query = { filter: `hostname:'${name}'`, limit: String(MOST_OF_A_NAME) };
    const [id, another] = await this.ids(DEVICES, query, gate);
    if (id === undefined) throw unknownHost();
    if (another !== undefined) {
      throw new RefusedError('Several hosts have that name. Use the id of the host at Falcon.');
    }
    return id;
  }
}

/** Falcon accepts an action first, and completes it when the host has received it. */
export const crowdstrikeFalcon = defineConnector({
  name: 'crowdstrike_falcon',
  description:
    'CrowdStrike Falcon: contains hosts, lifts their containment, and starts on-demand scans.',
  config: fields(
    {
      base_url: address(
        'Address of the cloud of the hosts, such as https://api.eu-1.crowdstrike.com.',
        { minLength: 8, default: 'https://api.crowdstrike.com' },
      ),
      client_id: {
        type: 'string',
        minLength: 1,
        maxLength: 200,
        description:
          'API client with the scopes Hosts (read, write) and On-demand scans (read, write).',
      },
      client_secret: secret('Secret of `client_id`.', {}),
    },
    ['client_id', 'client_secret'],
  ),
  destinations: [{ address: 'base_url' }],
  connect: ({ base_url: baseUrl, client_id, client_secret }, outbound) => {
    const secrets = [client_secret];
    const credentials = new AccessTokens(new VendorCalls(outbound), {
      url: vendorUrl(baseUrl, ['oauth2', 'token']),
      form: { client_id, client_secret },
      secrets,
    });
    const api = new VendorApi(outbound, {
      vendor: 'Falcon',
      baseUrl,
      credentials,
      secrets,
      complaintIn,
      // Unix time in seconds, as in the client of the vendor: https://github.com/CrowdStrike/gofalcon
      limitEndsIn: 'x-ratelimit-retryafter',
    });
    return new Falcon(api);
  },
  actions: {
    isolate_host: containment(CONTAIN),
    unisolate_host: containment(LIFT),
    scan_host: {
      // Each scan is a new one.
      idempotent: false,
      send: async (falcon, call, gate) => {
        const device = await targetOf(falcon, call, gate);
        const path = ['ods', 'entities', 'scans', 'v1'];
        const request = { method: 'POST', path, body: scanBody(call, device.id) } as const;
        return await falcon.api.change(gate, { ...request, idempotent: false }, (json) =>
          scanOutcome(readScan(resources(json)[0])),
        );
      },
      poll: async (falcon, handle) => scanOutcome(await falcon.scan(textAt(handle, 'scan_id'))),
      ask: async (falcon, call) => {
        const query = { filter: `description.keyword:'${descriptionOf(call)}'`, limit: '1' };
        const [id] = await falcon.ids(['ods', 'queries', 'scans', 'v1'], query);
        return id === undefined ? 'unknown' : scanOutcome(await falcon.scan(id));
      },
    },
  },
  test: async (falcon) => {
    await falcon.ids(DEVICES, { limit: '1' });
    return 'Falcon accepts the credentials.';
  },
});

/** Containing a host twice has the same effect. */
function containment(wanted: Containment): ActionDefinition<Falcon> {
  return {
    idempotent: true,
    send: async (falcon, call, gate) => {
      const nothing = nothingToUndo(call);
      if (nothing) return nothing;
      const { id, status } = await targetOf(falcon, call, gate);
      const already = outcomeFromStatus(wanted, id, status);
      if (already) return foundSo(already, call);
      try {
        const path = ['devices', 'entities', 'devices-actions', 'v2'];
        const query = { action_name: wanted.actionName };
        const request = { method: 'POST', path, query, body: { ids: [id] } } as const;
        await falcon.api.change(
          gate,
          { ...request, idempotent: true },
          (json) => void textAt(resources(json)[0], 'id'),
        );
      } catch (error) {
        if (!(error instanceof RefusedError) || error.status !== 409) throw error;
        // A conflict: somebody requested the same or the opposite a moment before.
        const now = outcomeFromStatus(wanted, id, (await falcon.device(id, gate)).status);
        if (!now) throw error;
        return now;
      }
      const handle: ContainmentHandle = { device_id: id, seen_under_way: false };
      return marked({ kind: 'accepted', message: 'Falcon has accepted the action.', handle }, true);
    },
    poll: async (falcon, kept) => {
      const handle = kept as ContainmentHandle;
      const { status } = await falcon.device(textAt(handle, 'device_id'));
      return marked(progressOf(wanted, handle, status), handle.changed);
    },
    ask: async (falcon, call) => {
      const { id, status } = await falcon.device(hostOf(call));
      return outcomeFromStatus(wanted, id, status) ?? 'unknown';
    },
  };
}

/** Outcome for the status of a host; `undefined` if the wanted change has not started. */
function outcomeFromStatus(
  { done, underWay, inWords }: Containment,
  deviceId: string,
  status: string,
): Outcome | undefined {
  if (status === done) {
    const data = { device_id: deviceId, status };
    return { kind: 'done', message: `The host is ${inWords}.`, data };
  }
  if (status !== underWay) return undefined;
  const handle: ContainmentHandle = { device_id: deviceId, seen_under_way: true };
  return { kind: 'accepted', message: `The host is about to be ${inWords}.`, handle };
}

/** Outcome of an accepted action. A host that is offline stays in progress until it is back. */
function progressOf(wanted: Containment, handle: ContainmentHandle, status: string): Outcome {
  const now = outcomeFromStatus(wanted, handle.device_id, status);
  if (now) return now;
  // Shortly after its answer, the vendor still shows the old status.
  if (!handle.seen_under_way)
    return { kind: 'accepted', message: 'The vendor has not started yet.', handle };
  const message = `The action was reverted at the vendor: the host is ${JSON.stringify(status)}, not ${wanted.inWords}.`;
  return { kind: 'refused', message };
}

async function targetOf(falcon: Falcon, call: ActionCall, gate: Gate): Promise<Device> {
  const device = await falcon.device(hostOf(call), gate);
  judgeTarget(call, device.hostname);
  return device;
}

/** For a rollback: the id of the contained host, because another host may have its name now. */
function hostOf({ parameters, undoes }: ActionCall): string {
  return String(undoes?.device_id ?? parameters.host_id);
}

/** Usual locations of files that users open or intruders drop. */
const QUICK = ['C:\\Users\\*', 'C:\\ProgramData\\*', 'C:\\Windows\\Temp\\*'];
const EVERYTHING = ['*'];

const MODERATE = 2;
const DISABLED = 0;
const HALF_OF_THE_CPU = 3;
const HOURS = 2;

/** Identifies the scan of an action, because the vendor has no idempotency keys. */
function descriptionOf({ actionId }: ActionCall): string {
  return `Incident triage ${actionId}`;
}

/**
 * Request for a scan. It runs without approval, so it only reports findings without quarantine, and does not notify the
 * user of the host.
 */
function scanBody(call: ActionCall, deviceId: string): object {
  return {
    hosts: [deviceId],
    host_groups: [],
    file_paths: call.parameters.scan_type === 'full' ? EVERYTHING : QUICK,
    scan_inclusions: [],
    scan_exclusions: [],
    description: descriptionOf(call),
    initiated_from: 'falcon_adhoc',
    quarantine: false,
    endpoint_notification: false,
    cpu_priority: HALF_OF_THE_CPU,
    max_duration: HOURS,
    pause_duration: HOURS,
    sensor_ml_level_detection: MODERATE,
    sensor_ml_level_prevention: DISABLED,
    cloud_ml_level_detection: MODERATE,
    cloud_ml_level_prevention: DISABLED,
  };
}

/**
 * The action is done when the scan has started, because a scan may take hours. It waits until the host is online. The
 * vendor documents no status values, so unknown ones mean waiting.
 */
function scanOutcome({ id, status }: Scan): Outcome {
  switch (status) {
    case 'running':
    case 'completed':
      return {
        kind: 'done',
        message: `The scan is ${status}.`,
        data: { scan_id: id, status },
      };
    case 'failed':
    case 'canceled':
      return { kind: 'refused', message: `The scan was ${status} at the vendor.` };
    default:
      return { kind: 'accepted', message: 'The scan has not begun.', handle: { scan_id: id } };
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
