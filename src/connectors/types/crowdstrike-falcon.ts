import { address, fields, secret, text } from '../../targets/target-config.js';
import { hostIn, isHostName, isNamed, judgeTarget, stateAction } from '../calls/target-state.js';
import { listAt, RefusedError, said, textAt, valueAt } from '../calls/vendor-answers.js';
import { accessTokens, type VendorApi, vendorApi, vendorUrl } from '../calls/vendor-api.js';
import { accepted, type ActionCall, defineConnector, done, refused } from '../connector-type.js';

type Device = ReturnType<typeof deviceIn>;

const QUERY_DEVICES = ['devices', 'queries', 'devices', 'v1'];
const DEVICES = ['devices', 'entities', 'devices', 'v2'];
const SCANS = ['ods', 'entities', 'scans'];
const DEVICE_ID = /^[0-9a-f]{32}$/i;
const UNKNOWN_HOST = 'Falcon knows no such host.';

/** Falcon accepts an action, and completes it when the host has received it. */
export const crowdstrikeFalcon = defineConnector({
  name: 'crowdstrike_falcon',
  description:
    'CrowdStrike Falcon: contains hosts, lifts their containment, and starts on-demand scans.',
  config: fields({
    base_url: address(
      'Address of the cloud of the hosts, such as https://api.eu-1.crowdstrike.com.',
      { default: 'https://api.crowdstrike.com' },
    ),
    client_id: text(
      'API client with the scopes Hosts (read, write) and On-demand scans (read, write).',
      { minLength: 1, maxLength: 200 },
    ),
    client_secret: secret('Secret of `client_id`.'),
  }),
  connect: ({ base_url, ...form }, outbound) =>
    vendorApi(outbound, {
      vendor: 'Falcon',
      baseUrl: base_url,
      tokens: accessTokens(outbound, vendorUrl(base_url, ['oauth2', 'token']), form),
      complaintIn,
    }),
  actions: {
    // Statuses from the console, not documented: https://developer.crowdstrike.com/api-reference/collections/hosts/
    isolate_host: containment('contain', 'contained', 'containment_pending', 'contained'),
    unisolate_host: containment(
      'lift_containment',
      'normal',
      'lift_containment_pending',
      'released',
    ),
    // Not idempotent, because each request starts a new scan. https://developer.crowdstrike.com/api-reference/collections/ods/
    scan_host: {
      send: async (falcon, call) => {
        const { id, name } = await targetOf(falcon, call);
        judgeTarget(call, name);
        return await falcon.change({ path: [...SCANS, 'v1'], body: scanBody(call, id) }, scanIn);
      },
      poll: (falcon, handle) =>
        falcon.ask({ path: [...SCANS, 'v2'], query: { ids: textAt(handle, 'scan_id') } }, scanIn),
    },
  },
  test: async (falcon) => {
    await falcon.ask({ path: QUERY_DEVICES, query: { limit: '1' } }, idsIn);
    return 'Falcon accepts the credentials.';
  },
});

function containment(action_name: string, wanted: string, pending: string, inWords: string) {
  const waiting = (device_id: string) =>
    accepted(`Falcon has accepted that the host is to be ${inWords}.`, { device_id });
  const reached = ({ id: device_id, status }: Device) => {
    if (status === pending) return waiting(device_id);
    return status === wanted ? done(`The host is ${inWords}.`, { device_id, status }) : undefined;
  };
  return {
    ...stateAction<VendorApi, Device>({
      find: targetOf,
      reached: async (_, device) => reached(device),
      change: async (falcon, { id }) => {
        const path = ['devices', 'entities', 'devices-actions', 'v2'];
        const request = { path, query: { action_name }, body: { ids: [id] }, idempotent: true };
        await falcon.change(request, (json) => textAt(resources(json)[0], 'id'));
        return waiting(id);
      },
    }),
    /** Actions of offline hosts stay in progress. Shortly after a change, Falcon still shows the old status. */
    poll: async (falcon: VendorApi, handle: object) => {
      const device = await deviceOf(falcon, textAt(handle, 'device_id'));
      return reached(device) ?? waiting(device.id);
    },
  };
}

function targetOf(falcon: VendorApi, call: ActionCall): Promise<Device> {
  return deviceOf(falcon, hostIn(call, 'device_id'));
}

async function deviceOf(falcon: VendorApi, hostId: string): Promise<Device> {
  const isId = DEVICE_ID.test(hostId);
  const id = isId ? hostId.toLowerCase() : await idOf(falcon, hostId);
  const request = { method: 'POST', path: DEVICES, body: { ids: [id] } } as const;
  const found = await falcon.ask(request, (json) => resources(json).map(deviceIn));
  const device = found.find((one) => one.id === id);
  // The search also returns hosts with similar names.
  if (device && (isId || isNamed(device.name, hostId))) return device;
  throw new RefusedError(UNKNOWN_HOST);
}

async function idOf(falcon: VendorApi, name: string): Promise<string> {
  if (!isHostName(name)) {
    throw new RefusedError('host_id must be an agent id (32 hex digits) or a host name.');
  }
  const query = { filter: `hostname:'${name}'`, limit: '2' };
  const [id, another] = await falcon.ask({ path: QUERY_DEVICES, query }, idsIn);
  if (id === undefined) throw new RefusedError(UNKNOWN_HOST);
  if (another === undefined) return id;
  throw new RefusedError('Several hosts have that name. Use the id of the host at Falcon.');
}

const QUICK = ['C:\\Users\\*', 'C:\\ProgramData\\*', 'C:\\Windows\\Temp\\*'];

/** A scan needs no approval, so it only reports findings and does not notify the user of the host. */
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
    cpu_priority: 3,
    max_duration: 2,
    pause_duration: 2,
    sensor_ml_level_detection: 2,
    sensor_ml_level_prevention: 0,
    cloud_ml_level_detection: 2,
    cloud_ml_level_prevention: 0,
  };
}

/** Completed when the scan has started, because a scan may take hours. An undocumented status counts as waiting. */
function scanIn(json: unknown) {
  const [scan] = resources(json);
  const [scan_id, status] = [textAt(scan, 'id'), textAt(scan, 'status')];
  if (['running', 'completed'].includes(status)) {
    return done(`The scan is ${status}.`, { scan_id, status });
  }
  if (['failed', 'canceled'].includes(status)) return refused(`The scan is ${status} at Falcon.`);
  return accepted('The scan has not begun.', { scan_id });
}

function complaintIn(json: unknown): string | undefined {
  const errors = valueAt(json, 'errors');
  if (!Array.isArray(errors) || errors.length === 0) return undefined;
  return said(...errors.map((one) => valueAt(one, 'message'))) ?? 'an error without a message';
}

const resources = (json: unknown): readonly unknown[] =>
  valueAt(json, 'resources') === null ? [] : listAt(json, 'resources');

const idsIn = (json: unknown): string[] => resources(json).map((id) => textAt({ id }, 'id'));

/** `name` is missing if the sensor has not reported the name of its host. */
const deviceIn = (json: unknown) => ({
  id: textAt(json, 'device_id'),
  name: valueAt(json, 'hostname'),
  status: textAt(json, 'status'),
});
