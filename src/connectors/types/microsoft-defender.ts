import type { Gate } from '../../platform/net/outbound-request.js';
import { shownStart } from '../../platform/text.js';
import { address, fields } from '../../targets/target-config.js';
import { MICROSOFT_LOGIN_FIELDS, microsoftTokens } from '../calls/microsoft-login.js';
import { foundSo, isHostName, isNamed, judgeTarget, marked, nothingToUndo } from '../calls/undo.js';
import { listAt, RefusedError, textAt, valueAt } from '../calls/vendor-answers.js';
import { VendorApi } from '../calls/vendor-api.js';
import {
  type ActionCall,
  type ActionDefinition,
  defineConnector,
  type Outcome,
} from '../connector-type.js';

const LONGEST_REASON = 500;
/** Resource of the permissions, for every server of the service. */
const RESOURCE = 'https://api.securitycenter.microsoft.com';
const MACHINE_ID = /^[0-9a-f]{40}$/i;
const LATEST = '50';
const MACHINE_ACTIONS = ['api', 'machineactions'];

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
  readonly comment: string;
  readonly createdAt: number;
}

/** A request for a machine action. */
interface Command {
  /** Last path segment of the request. */
  readonly name: string;
  /** Name of the machine action at the vendor. */
  readonly type: 'Isolate' | 'Unisolate' | 'RunAntiVirusScan';
  readonly idempotent: boolean;
  readonly bodyOf: (call: ActionCall) => object;
}

const ISOLATE: Command = {
  name: 'isolate',
  type: 'Isolate',
  idempotent: true,
  bodyOf: () => ({ IsolationType: 'Full' }),
};
const RELEASE: Command = {
  name: 'unisolate',
  type: 'Unisolate',
  idempotent: true,
  bodyOf: () => ({}),
};
const SCAN: Command = {
  name: 'runAntiVirusScan',
  type: 'RunAntiVirusScan',
  // Each scan is a new one.
  idempotent: false,
  bodyOf: ({ parameters }) => ({ ScanType: parameters.scan_type === 'full' ? 'Full' : 'Quick' }),
};

/** Requests to Microsoft Defender for Endpoint. Requests without a gate only read, for a poll, a probe or a test. */
class Defender {
  constructor(readonly api: VendorApi) {}

  /** Finds a machine by its id or name: https://learn.microsoft.com/en-us/defender-endpoint/api/get-machine-by-id */
  async machine(hostId: string, gate?: Gate): Promise<Machine> {
    if (!isHostName(hostId))
      throw new RefusedError(
        'host_id must be a Defender machine id (40 hex digits) or a host name.',
      );
    const path = ['api', 'machines', hostId];
    const found = await this.api.ask(gate, { method: 'GET', path }, (json) => ({
      id: textAt(json, 'id'),
      name: valueAt(json, 'computerDnsName'),
    }));
    const isMeant = found.id.toLowerCase() === hostId.toLowerCase() || isNamed(found.name, hostId);
    if (!isMeant || !MACHINE_ID.test(found.id)) {
      throw new RefusedError('Defender knows no such host.');
    }
    return found;
  }

  /** Latest first: https://learn.microsoft.com/en-us/defender-endpoint/api/get-machineactions-collection */
  async actionsOn(machineId: string, gate?: Gate): Promise<MachineAction[]> {
    const query = { $filter: `machineId eq '${machineId}'`, $top: LATEST };
    return await this.api.ask(gate, { method: 'GET', path: MACHINE_ACTIONS, query }, (json) =>
      listAt(json, 'value').map(readAction),
    );
  }

  async send(gate: Gate, machineId: string, command: Command, call: ActionCall): Promise<Outcome> {
    const { actionId, parameters } = call;
    const { name, idempotent, bodyOf } = command;
    const { reason } = parameters;
    const why = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
    const Comment = `Incident triage ${actionId}${shownStart(why, LONGEST_REASON)}`;
    const path = ['api', 'machines', machineId, name];
    const body = { Comment, ...bodyOf(call) };
    const request = { method: 'POST', path, body, idempotent } as const;
    return outcomeOf(command, await this.api.change(gate, request, readAction));
  }
}

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
  destinations: [{ address: 'base_url' }, { address: 'login_url' }],
  connect: (config, outbound) => {
    const api = new VendorApi(outbound, {
      vendor: 'Defender',
      baseUrl: config.base_url,
      credentials: microsoftTokens(outbound, config, RESOURCE),
      secrets: [config.client_secret],
      complaintIn,
    });
    return new Defender(api);
  },
  actions: {
    isolate_host: machineAction(ISOLATE, isolate),
    unisolate_host: machineAction(RELEASE, isolate),
    scan_host: machineAction(SCAN, (defender, machineId, call, gate) =>
      defender.send(gate, machineId, SCAN, call),
    ),
  },
  test: async ({ api }) => {
    const request = { method: 'GET', path: ['api', 'machines'], query: { $top: '1' } } as const;
    await api.ask(undefined, request, (json) => listAt(json, 'value'));
    return 'Defender accepts the credentials.';
  },
});

type Send = (
  defender: Defender,
  machineId: string,
  call: ActionCall,
  gate: Gate,
  command: Command,
) => Promise<Outcome>;

function machineAction(command: Command, send: Send): ActionDefinition<Defender> {
  return {
    idempotent: command.idempotent,
    send: async (defender, call, gate) => {
      const unchanged = nothingToUndo(call);
      if (unchanged) return unchanged;
      const { id, name } = await defender.machine(hostOf(call), gate);
      judgeTarget(call, name);
      return await send(defender, id, call, gate, command);
    },
    /** https://learn.microsoft.com/en-us/defender-endpoint/api/get-machineaction-object */
    poll: async ({ api }, handle) => {
      const path = [...MACHINE_ACTIONS, textAt(handle, 'machine_action_id')];
      const action = await api.ask(undefined, { method: 'GET', path }, readAction);
      return marked(outcomeOf(command, action), handle.changed);
    },
    /** Finds the machine action by the action id in its comment. */
    ask: async (defender, call) => {
      const { id } = await defender.machine(hostOf(call));
      const actions = await defender.actionsOn(id);
      const own = actions.find(
        ({ type, comment }) => type === command.type && comment.includes(call.actionId),
      );
      return own ? outcomeOf(command, own) : (outcomeFromLatest(command, actions) ?? 'unknown');
    },
  };
}

/** Isolates or releases a host. Doing it twice has the same effect. */
async function isolate(
  ...[defender, machineId, call, gate, command]: Parameters<Send>
): Promise<Outcome> {
  const already = outcomeFromLatest(command, await defender.actionsOn(machineId, gate));
  if (already) return foundSo(already, call);
  try {
    return marked(await defender.send(gate, machineId, command, call), true);
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== 400) throw error;
    // Another machine action is in progress: this one, if an answer was lost, or one of somebody else.
    const now = outcomeFromLatest(command, await defender.actionsOn(machineId, gate));
    if (!now) throw error;
    return now;
  }
}

/** For a rollback: the id of the isolated host, because another host may have its name now. */
function hostOf({ parameters, undoes }: ActionCall): string {
  return String(undoes?.machine_id ?? parameters.host_id);
}

function complaintIn(json: unknown): string | undefined {
  if (valueAt(json, 'error') === undefined) return undefined;
  const message = valueAt(json, 'error', 'message');
  return typeof message === 'string' && message !== '' ? message : 'an error without a message';
}

function readAction(json: unknown): MachineAction {
  const comment = valueAt(json, 'requestorComment');
  const createdAt = Date.parse(textAt(json, 'creationDateTimeUtc'));
  return {
    id: textAt(json, 'id'),
    type: textAt(json, 'type'),
    status: textAt(json, 'status'),
    machineId: textAt(json, 'machineId'),
    comment: typeof comment === 'string' ? comment : '',
    createdAt: Number.isNaN(createdAt) ? 0 : createdAt,
  };
}

const IN_VAIN = new Set(['Failed', 'TimeOut', 'Cancelled']);

function outcomeOf(command: Command, { id, status, machineId }: MachineAction): Outcome {
  const message = `Defender says: ${status}.`;
  // A scan is done when it has started, because it may take hours.
  const hasBegun = status === 'InProgress' && command === SCAN;
  if (status === 'Succeeded' || hasBegun) {
    return {
      kind: 'done',
      message,
      data: { machine_id: machineId, machine_action_id: id, status },
    };
  }
  if (IN_VAIN.has(status)) return { kind: 'refused', message };
  return { kind: 'accepted', message, handle: { machine_action_id: id } };
}

/**
 * Outcome if the host is already in the wanted state or about to be, by its latest isolation or release that did not
 * fail; otherwise `undefined`.
 */
function outcomeFromLatest(
  command: Command,
  actions: readonly MachineAction[],
): Outcome | undefined {
  const [latest] = actions
    .filter(({ type }) => type === ISOLATE.type || type === RELEASE.type)
    .filter(({ status }) => !IN_VAIN.has(status))
    .sort((one, other) => other.createdAt - one.createdAt);
  return latest?.type === command.type ? outcomeOf(command, latest) : undefined;
}
