import { address, fields, isObject, secret, text } from '../../targets/target-config.js';
import { AccessTokens } from '../calls/access-tokens.js';
import { isHostName, isNamed, judgeTarget, stateAction } from '../calls/target-state.js';
import { listAt, RefusedError, said, textAt, valueAt } from '../calls/vendor-answers.js';
import { type VendorApi, vendorApi, vendorUrl } from '../calls/vendor-api.js';
import {
  type ActionCall,
  type ActionDefinition,
  defineConnector,
  type Outcome,
} from '../connector-type.js';

/** Changes of the containment of a host. The vendor does not document the statuses; its console shows these four. */
const CONTAINMENT = {
  isolate_host: {
    action_name: 'contain',
    done: 'contained',
    underWay: 'containment_pending',
    inWords: 'contained',
  },
  unisolate_host: {
    action_name: 'lift_containment',
    done: 'normal',
    underWay: 'lift_containment_pending',
    inWords: 'released from containment',
  },
} as const;

interface Device {
  readonly id: string;
  /** Missing if the sensor has not reported it. */
  readonly name: unknown;
  readonly status: string;
}

const QUERY_DEVICES = ['devices', 'queries', 'devices', 'v1'];
const DEVICE_ID = /^[0-9a-f]{32}$/i;
/** Two hits are enough to know that a name is ambiguous. */
const MOST_OF_A_NAME = 2;

/*
 * Requests as documented at https://developer.crowdstrike.com/api-reference/collections/hosts/ and
 * https://developer.crowdstrike.com/api-reference/collections/ods/.
 */

/** Finds a host by its id at the vendor, or by its name if only one host has it. */
async function deviceOf(falcon: VendorApi, hostId: string): Promise<Device> {
  const isId = DEVICE_ID.test(hostId);
  const id = isId ? hostId.toLowerCase() : await idOf(falcon, hostId);
  const path = ['devices', 'entities', 'devices', 'v2'];
  const found = await falcon.ask({ method: 'POST', path, body: { ids: [id] } }, (json) =>
    resources(json).map(readDevice),
  );
  const device = found.find((one) => one.id === id);
  // The search also finds similar names.
  if (device && (isId || isNamed(device.name, hostId))) return device;
  throw unknownHost();
}

async function idOf(falcon: VendorApi, name: string): Promise<string> {
  if (!isHostName(name)) {
    const text = 'host_id must be a CrowdStrike agent id (32 hex digits) or a host name.';
    throw new RefusedError(text);
  }
  const query = { filter: `hostname:'${name}'`, limit: String(MOST_OF_A_NAME) };
  const [id, another] = await falcon.ask({ path: QUERY_DEVICES, query }, idsIn);
  if (id === undefined) throw unknownHost();
  if (another === undefined) return id;
  throw new RefusedError('Several hosts have that name. Use the id of the host at Falcon.');
}

/** For a rollback: the contained host, because another host may have its name now. */
function targetOf(falcon: VendorApi, { parameters, undoes }: ActionCall): Promise<Device> {
  return deviceOf(falcon, String(undoes?.['device_id'] ?? parameters['host_id']));
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
      client_id: text(
        'API client with the scopes Hosts (read, write) and On-demand scans (read, write).',
        { minLength: 1, maxLength: 200 },
      ),
      client_secret: secret('Secret of `client_id`.', {}),
    },
    ['client_id', 'client_secret'],
  ),
  connect: ({ base_url: baseUrl, ...form }, outbound) =>
    vendorApi(outbound, {
      vendor: 'Falcon',
      baseUrl,
      tokens: new AccessTokens(outbound, vendorUrl(baseUrl, ['oauth2', 'token']), form),
      complaintIn,
    }),
  actions: {
    isolate_host: containment(CONTAINMENT.isolate_host),
    unisolate_host: containment(CONTAINMENT.unisolate_host),
    // Not idempotent: each scan is a new one.
    scan_host: {
      send: async (falcon, call) => {
        const { id, name } = await targetOf(falcon, call);
        judgeTarget(call, name);
        const path = ['ods', 'entities', 'scans', 'v1'];
        return await falcon.change({ path, body: scanBody(call, id) }, scanOutcome);
      },
      poll: (falcon, handle) => {
        const query = { ids: textAt(handle, 'scan_id') };
        return falcon.ask({ path: ['ods', 'entities', 'scans', 'v2'], query }, scanOutcome);
      },
    },
  },
  test: async (falcon) => {
    await falcon.test({ path: QUERY_DEVICES, query: { limit: '1' } }, idsIn);
    return 'Falcon accepts the credentials.';
  },
});

/** Containing a host twice has the same effect. */
function containment({
  action_name,
  done,
  underWay,
  inWords,
}: (typeof CONTAINMENT)[keyof typeof CONTAINMENT]): ActionDefinition<VendorApi> {
  const reached = ({ id: device_id, status }: Device): Outcome | undefined => {
    if (status === done) {
      return { kind: 'done', message: `The host is ${inWords}.`, data: { device_id, status } };
    }
    return status === underWay ? accepted(device_id) : undefined;
  };
  const accepted = (device_id: string): Outcome => {
    const message = `Falcon has accepted that the host is to be ${inWords}.`;
    return { kind: 'accepted', message, handle: { device_id } };
  };
  return {
    ...stateAction<VendorApi, Device>({
      find: targetOf,
      reached: async (_, device) => reached(device),
      conflict: 409,
      change: async (falcon, { id }) => {
        const path = ['devices', 'entities', 'devices-actions', 'v2'];
        const request = { path, query: { action_name }, body: { ids: [id] }, idempotent: true };
        await falcon.change(request, (json) => textAt(resources(json)[0], 'id'));
        return accepted(id);
      },
    }),
    /** A host that is offline stays in progress until it is back. Shortly after its answer, Falcon still shows the old status. */
    poll: async (falcon, handle) => {
      const device = await deviceOf(falcon, textAt(handle, 'device_id'));
      return reached(device) ?? accepted(device.id);
    },
  };
}

/** Usual locations of files that users open or intruders drop. */
const QUICK = ['C:\\Users\\*', 'C:\\ProgramData\\*', 'C:\\Windows\\Temp\\*'];

/**
 * Request for a scan. It runs without approval, so it only reports findings without quarantine, and does not notify the
 * user of the host.
 */
function scanBody(call: ActionCall, deviceId: string): object {
  return {
    hosts: [deviceId],
    host_groups: [],
    file_paths: call.parameters['scan_type'] === 'full' ? ['*'] : QUICK,
    scan_inclusions: [],
    scan_exclusions: [],
    description: `Incident triage ${call.actionId}`,
    initiated_from: 'falcon_adhoc',
    quarantine: false,
    endpoint_notification: false,
    // Half of the CPU, and at most 2 hours.
    cpu_priority: 3,
    max_duration: 2,
    pause_duration: 2,
    // Moderate detection, no prevention.
    sensor_ml_level_detection: 2,
    sensor_ml_level_prevention: 0,
    cloud_ml_level_detection: 2,
    cloud_ml_level_prevention: 0,
  };
}

/**
 * The action is done when the scan has started, because a scan may take hours. It waits until the host is online. The
 * vendor documents no status values, so unknown ones mean waiting.
 */
function scanOutcome(json: unknown): Outcome {
  const [scan] = resources(json);
  const [scan_id, status] = [textAt(scan, 'id'), textAt(scan, 'status')];
  if (status === 'running' || status === 'completed') {
    return { kind: 'done', message: `The scan is ${status}.`, data: { scan_id, status } };
  }
  if (status === 'failed' || status === 'canceled') {
    return { kind: 'refused', message: `The scan was ${status} at the vendor.` };
  }
  return { kind: 'accepted', message: 'The scan has not begun.', handle: { scan_id } };
}

/** Messages in `errors`, which a response with status 200 may contain, too. */
function complaintIn(json: unknown): string | undefined {
  const errors = valueAt(json, 'errors');
  if (!Array.isArray(errors) || errors.length === 0) return undefined;
  return said(...errors.map((one) => valueAt(one, 'message'))) ?? 'an error without a message';
}

function resources(json: unknown): readonly unknown[] {
  // An empty result may be null.
  return isObject(json) && json['resources'] === null ? [] : listAt(json, 'resources');
}

function idsIn(json: unknown): string[] {
  return resources(json).map((id) => textAt({ id }, 'id'));
}

function readDevice(json: unknown): Device {
  const name = valueAt(json, 'hostname');
  return { id: textAt(json, 'device_id'), name, status: textAt(json, 'status') };
}

function unknownHost(): RefusedError {
  return new RefusedError('Falcon knows no such host.');
}
