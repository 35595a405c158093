import { shownStart } from '../../platform/text.js';
import { address, fields } from '../../targets/target-config.js';
import { hostIn, isHostName, isNamed, judgeTarget, stateAction } from '../calls/target-state.js';
import { listAt, RefusedError, said, textAt, valueAt } from '../calls/vendor-answers.js';
import {
  MICROSOFT_LOGIN_FIELDS,
  microsoftTokens,
  type VendorApi,
  vendorApi,
} from '../calls/vendor-api.js';
import {
  accepted,
  type ActionCall,
  defineConnector,
  done,
  type Outcome,
  refused,
} from '../connector-type.js';

const LONGEST_REASON = 500;
/** Resource name in token requests, which is the same for every server of the service. */
const RESOURCE = 'https://api.securitycenter.microsoft.com';
const MACHINES = ['api', 'machines'];
const MACHINE_ID = /^[0-9a-f]{40}$/i;
const MACHINE_ACTIONS = ['api', 'machineactions'];

interface Machine {
  readonly id: string;
  readonly name: unknown;
}

/** Defender creates a machine action for each request, and completes it when the host has received it. */
export const microsoftDefender = defineConnector({
  name: 'microsoft_defender',
  description:
    'Microsoft Defender for Endpoint: isolates hosts, releases them, and starts antivirus scans.',
  config: fields({
    base_url: address('Address of the service, or of its server in your region.', {
      default: 'https://api.security.microsoft.com',
    }),
    ...MICROSOFT_LOGIN_FIELDS,
  }),
  connect: (config, outbound) =>
    vendorApi(outbound, {
      vendor: 'Defender',
      baseUrl: config.base_url,
      tokens: microsoftTokens(outbound, config, RESOURCE),
      complaintIn: (json) =>
        valueAt(json, 'error') === undefined
          ? undefined
          : (said(valueAt(json, 'error', 'message')) ?? 'an error without a message'),
    }),
  actions: {
    isolate_host: isolation('Isolate', { IsolationType: 'Full' }),
    unisolate_host: isolation('Unisolate'),
    scan_host: {
      send: async (defender, call) => {
        const machine = await machineOf(defender, call);
        judgeTarget(call, machine.name);
        const ScanType = call.parameters['scan_type'] === 'full' ? 'Full' : 'Quick';
        return await request(defender, machine, call, 'runAntiVirusScan', { ScanType });
      },
      poll,
    },
  },
  test: async (defender) => {
    await defender.ask({ path: MACHINES, query: { $top: '1' } }, (json) => listAt(json, 'value'));
    return 'Defender accepts the credentials.';
  },
});

function isolation(type: 'Isolate' | 'Unisolate', fields = {}) {
  return {
    ...stateAction<VendorApi, Machine>({
      find: machineOf,
      // The latest isolation or release that did not fail shows the state of the host.
      reached: async (defender, { id }) => {
        const query = { $filter: `machineId eq '${id}'`, $top: '50' };
        return await defender.ask({ path: MACHINE_ACTIONS, query }, (json) => {
          const [latest] = listAt(json, 'value')
            .filter((action) => ['Isolate', 'Unisolate'].includes(textAt(action, 'type')))
            .filter((action) => !IN_VAIN.includes(textAt(action, 'status')))
            .sort((one, other) => createdAt(other) - createdAt(one));
          return valueAt(latest, 'type') === type ? outcomeOf(latest) : undefined;
        });
      },
      change: (defender, machine, call) =>
        request(defender, machine, call, type.toLowerCase(), fields, true),
    }),
    poll,
  };
}

async function machineOf(defender: VendorApi, call: ActionCall): Promise<Machine> {
  const hostId = hostIn(call, 'machine_id');
  if (!isHostName(hostId)) {
    throw new RefusedError('host_id must be a machine id (40 hex digits) or a host name.');
  }
  const found = await defender.ask({ path: [...MACHINES, hostId] }, (json) => ({
    id: textAt(json, 'id'),
    name: valueAt(json, 'computerDnsName'),
  }));
  const isMeant = found.id.toLowerCase() === hostId.toLowerCase() || isNamed(found.name, hostId);
  if (isMeant && MACHINE_ID.test(found.id)) return found;
  throw new RefusedError('Defender knows no such host.');
}

async function request(
  defender: VendorApi,
  { id }: Machine,
  { actionId, parameters: { reason } }: ActionCall,
  name: string,
  fields: object,
  idempotent = false,
): Promise<Outcome> {
  const why = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
  const Comment = `Incident triage ${actionId}${shownStart(why, LONGEST_REASON)}`;
  const path = [...MACHINES, id, name];
  return await defender.change({ path, body: { Comment, ...fields }, idempotent }, outcomeOf);
}

function poll(defender: VendorApi, handle: object): Promise<Outcome> {
  const path = [...MACHINE_ACTIONS, textAt(handle, 'machine_action_id')];
  return defender.ask({ path }, outcomeOf);
}

const createdAt = (action: unknown): number =>
  Date.parse(textAt(action, 'creationDateTimeUtc')) || 0;

const IN_VAIN = ['Failed', 'TimeOut', 'Cancelled'];

/** Returns the outcome of a machine action: https://learn.microsoft.com/en-us/defender-endpoint/api/machineaction */
function outcomeOf(action: unknown): Outcome {
  const [machine_id, machine_action_id] = [textAt(action, 'machineId'), textAt(action, 'id')];
  const [type, status] = [textAt(action, 'type'), textAt(action, 'status')];
  const message = `Defender says: ${status}.`;
  // The action is completed when the scan has started, because a scan may take hours.
  if (status === 'Succeeded' || (status === 'InProgress' && type === 'RunAntiVirusScan')) {
    return done(message, { machine_id, machine_action_id, status });
  }
  if (IN_VAIN.includes(status)) return refused(message);
  return accepted(message, { machine_action_id });
}
