import { shownStart } from '../../platform/text.js';
import { address, fields } from '../../targets/target-config.js';
import { MICROSOFT_LOGIN_FIELDS, microsoftTokens } from '../calls/access-tokens.js';
import { isHostName, isNamed, judgeTarget, stateAction } from '../calls/target-state.js';
import { listAt, RefusedError, said, textAt, valueAt } from '../calls/vendor-answers.js';
import { type VendorApi, vendorApi } from '../calls/vendor-api.js';
import {
  type ActionCall,
  type ActionDefinition,
  defineConnector,
  type Outcome,
} from '../connector-type.js';

const LONGEST_REASON = 500;
/** Resource of the permissions, for every server of the service. */
const RESOURCE = 'https://api.securitycenter.microsoft.com';
const MACHINES = ['api', 'machines'];
const MACHINE_ID = /^[0-9a-f]{40}$/i;
const MACHINE_ACTIONS = ['api', 'machineactions'];
const LATEST = '50';

interface Machine {
  readonly id: string;
  /** Missing if the sensor has not reported it. */
  readonly name: unknown;
}

/** https://learn.microsoft.com/en-us/defender-endpoint/api/machineaction */
interface MachineAction {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly machineId: string;
  readonly createdAt: number;
}

const SCAN = 'RunAntiVirusScan';
const IN_VAIN = new Set(['Failed', 'TimeOut', 'Cancelled']);

/** Finds a machine by its id or name: https://learn.microsoft.com/en-us/defender-endpoint/api/get-machine-by-id */
async function machineOf(defender: VendorApi, call: ActionCall): Promise<Machine> {
  // For a rollback: the isolated host, because another host may have its name now.
  const hostId = String(call.undoes?.['machine_id'] ?? call.parameters['host_id']);
  if (!isHostName(hostId)) {
    const text = 'host_id must be a Defender machine id (40 hex digits) or a host name.';
    throw new RefusedError(text);
  }
  const found = await defender.ask({ path: [...MACHINES, hostId] }, (json) => ({
    id: textAt(json, 'id'),
    name: valueAt(json, 'computerDnsName'),
  }));
  const isMeant = found.id.toLowerCase() === hostId.toLowerCase() || isNamed(found.name, hostId);
  if (isMeant && MACHINE_ID.test(found.id)) return found;
  throw new RefusedError('Defender knows no such host.');
}

/** @param request last segment of the path, and the body without the comment */
async function sendTo(
  defender: VendorApi,
  { id }: Machine,
  { actionId, parameters: { reason } }: ActionCall,
  { name, idempotent, ...fields }: { readonly name: string; readonly idempotent?: true },
): Promise<Outcome> {
  const why = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
  const Comment = `Incident triage ${actionId}${shownStart(why, LONGEST_REASON)}`;
  const request = { path: [...MACHINES, id, name], body: { Comment, ...fields }, idempotent };
  return outcomeOf(await defender.change(request, readAction));
}

/** https://learn.microsoft.com/en-us/defender-endpoint/api/get-machineaction-object */
const poll: ActionDefinition<VendorApi>['poll'] = async (defender, handle) => {
  const path = [...MACHINE_ACTIONS, textAt(handle, 'machine_action_id')];
  return outcomeOf(await defender.ask({ path }, readAction));
};

/** Defender creates a machine action for each request, and completes it when the host has received it. */
export const microsoftDefender = defineConnector({
  name: 'microsoft_defender',
  description:
    'Microsoft Defender for Endpoint: isolates hosts, releases them, and starts antivirus scans.',
  config: fields(
    {
      base_url: address('Address of the service, or of its server in your region.', {
        default: 'https://api.security.microsoft.com',
      }),
      ...MICROSOFT_LOGIN_FIELDS,
    },
    ['tenant_id', 'client_id', 'client_secret'],
  ),
  connect: (config, outbound) =>
    vendorApi(outbound, {
      vendor: 'Defender',
      baseUrl: config.base_url,
      tokens: microsoftTokens(outbound, config, RESOURCE),
      complaintIn,
    }),
  actions: {
    isolate_host: isolation('Isolate', { IsolationType: 'Full' }),
    unisolate_host: isolation('Unisolate'),
    // Not idempotent: each scan is a new one.
    scan_host: {
      send: async (defender, call) => {
        const machine = await machineOf(defender, call);
        judgeTarget(call, machine.name);
        const ScanType = call.parameters['scan_type'] === 'full' ? 'Full' : 'Quick';
        const request = { name: 'runAntiVirusScan', ScanType };
        return await sendTo(defender, machine, call, request);
      },
      poll,
    },
  },
  test: async (defender) => {
    await defender.test({ path: MACHINES, query: { $top: '1' } }, (json) => listAt(json, 'value'));
    return 'Defender accepts the credentials.';
  },
});

function isolation(type: 'Isolate' | 'Unisolate', fields = {}): ActionDefinition<VendorApi> {
  return {
    ...stateAction<VendorApi, Machine>({
      find: machineOf,
      // The latest isolation or release that did not fail shows the state of the host.
      reached: async (defender, machine) => {
        const [latest] = (await actionsOn(defender, machine))
          .filter((action) => action.type === 'Isolate' || action.type === 'Unisolate')
          .filter(({ status }) => !IN_VAIN.has(status))
          .sort((one, other) => other.createdAt - one.createdAt);
        return latest?.type === type ? outcomeOf(latest) : undefined;
      },
      change: (defender, machine, call) =>
        sendTo(defender, machine, call, { name: type.toLowerCase(), idempotent: true, ...fields }),
      // Another machine action is in progress.
      conflict: 400,
    }),
    poll,
  };
}

/** https://learn.microsoft.com/en-us/defender-endpoint/api/get-machineactions-collection */
function actionsOn(defender: VendorApi, { id }: Machine): Promise<MachineAction[]> {
  const query = { $filter: `machineId eq '${id}'`, $top: LATEST };
  return defender.ask({ path: MACHINE_ACTIONS, query }, (json) =>
    listAt(json, 'value').map(readAction),
  );
}

function complaintIn(json: unknown): string | undefined {
  if (valueAt(json, 'error') === undefined) return undefined;
  return said(valueAt(json, 'error', 'message')) ?? 'an error without a message';
}

function readAction(json: unknown): MachineAction {
  return {
    id: textAt(json, 'id'),
    type: textAt(json, 'type'),
    status: textAt(json, 'status'),
    machineId: textAt(json, 'machineId'),
    createdAt: Date.parse(textAt(json, 'creationDateTimeUtc')) || 0,
  };
}

function outcomeOf({ id: machine_action_id, type, machineId, status }: MachineAction): Outcome {
  const message = `Defender says: ${status}.`;
  // A scan is done when it has started, because it may take hours.
  if (status === 'Succeeded' || (status === 'InProgress' && type === SCAN)) {
    return { kind: 'done', message, data: { machine_id: machineId, machine_action_id, status } };
  }
  if (IN_VAIN.has(status)) return { kind: 'refused', message };
  return { kind: 'accepted', message, handle: { machine_action_id } };
}
