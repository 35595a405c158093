import type { ConfigSchema } from '../../../targets/target-config.js';
import { MICROSOFT_LOGIN_FIELDS, type MicrosoftLogin } from '../../calls/microsoft-login.js';
import type { Gate } from '../../../platform/net/outbound-request.js';
import { listAt, textAt, valueAt } from '../../calls/vendor-answers.js';
import { RefusedError } from '../../calls/vendor-answers.js';
import type { VendorApi } from '../../calls/vendor-api.js';
import { isHostName, isNamed } from '../../calls/undo.js';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Outcome } from '../../connector-type.js';

export interface DefenderConfig extends MicrosoftLogin {
  readonly base_url: string;
}

export const DEFENDER_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      maxLength: 2_000,
      default: 'https://api.security.microsoft.com',
      description: 'Address of the service, or of its server in your region.',
    },
    ...MICROSOFT_LOGIN_FIELDS,
  },
  required: ['tenant_id', 'client_id', 'client_secret'],
  additionalProperties: false,
};

export interface Machine {
  readonly id: string;
  /** Missing if the sensor has not reported it. */
  readonly name: unknown;
}

const MACHINE_ID = /^[0-9a-f]{40}$/i;
const LATEST = '50';

/** Requests to Microsoft Defender for Endpoint. Requests without a gate only read, for a poll, a probe or a test. */
export class DefenderApi {
  constructor(private readonly api: VendorApi) {}

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
    const path = ['api', 'machineactions'];
    return await this.api.ask(gate, { method: 'GET', path, query }, (json) =>
      listAt(json, 'value').map(readAction),
    );
  }

  /** https://learn.microsoft.com/en-us/defender-endpoint/api/get-machineaction-object */
  async action(id: string): Promise<MachineAction> {
    const path = ['api', 'machineactions', id];
    return await this.api.ask(undefined, { method: 'GET', path }, readAction);
  }

  async command(
    gate: Gate,
    machineId: string,
    command: string,
    body: object,
    idempotent: boolean,
  ): Promise<MachineAction> {
    const path = ['api', 'machines', machineId, command];
    return await this.api.change(gate, { method: 'POST', path, body, idempotent }, readAction);
  }

  /** Checks the credentials. */
  async look(): Promise<void> {
    const query = { $top: '1' };
    await this.api.ask(undefined, { method: 'GET', path: ['api', 'machines'], query }, (json) =>
      listAt(json, 'value'),
    );
  }
}

export function complaintIn(json: unknown): string | undefined {
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

/** https://learn.microsoft.com/en-us/defender-endpoint/api/machineaction */
interface MachineAction {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly machineId: string;
  readonly comment: string;
  readonly createdAt: number;
}

interface Wish {
  /** Last path segment of the request. */
  readonly command: string;
  /** Name of the action type at the vendor. */
  readonly type: string;
  /** The action is done when its work has started, which then takes hours. */
  readonly doneWhenBegun?: true;
}

const WISHES = {
  isolate_host: { command: 'isolate', type: 'Isolate' },
  unisolate_host: { command: 'unisolate', type: 'Unisolate' },
  scan_host: { command: 'runAntiVirusScan', type: 'RunAntiVirusScan', doneWhenBegun: true },
} as const satisfies Partial<Record<ActionTypeName, Wish>>;
export type DefenderAction = keyof typeof WISHES;

export const DEFENDER_ACTIONS = Object.keys(WISHES) as DefenderAction[];

export function isDefenderAction(type: string): type is DefenderAction {
  return Object.hasOwn(WISHES, type);
}

export function wishOf(type: DefenderAction): Wish {
  return WISHES[type];
}

const IN_VAIN = new Set(['Failed', 'TimeOut', 'Cancelled']);

export function outcomeOf(type: DefenderAction, action: MachineAction): Outcome {
  const { id, status, machineId } = action;
  const begun = status === 'InProgress' && wishOf(type).doneWhenBegun === true;
  if (status === 'Succeeded' || begun) {
    const data = { machine_id: machineId, machine_action_id: id, status };
    return { kind: 'done', message: `Defender says: ${status}.`, data };
  }
  if (IN_VAIN.has(status)) return { kind: 'refused', message: `Defender says: ${status}.` };
  const handle = { machine_action_id: id };
  return { kind: 'accepted', message: `Defender says: ${status}.`, handle };
}

/**
 * Outcome if the host is already in the wanted state or about to be, by its latest isolation or release that did not
 * fail; otherwise `undefined`.
 */
export function standOf(
  type: DefenderAction,
  actions: readonly MachineAction[],
): Outcome | undefined {
  const wishes: readonly string[] = [WISHES.isolate_host.type, WISHES.unisolate_host.type];
  const [latest] = actions
    .filter((one) => wishes.includes(one.type) && !IN_VAIN.has(one.status))
    .sort((one, other) => other.createdAt - one.createdAt);
  return latest?.type === wishOf(type).type ? outcomeOf(type, latest) : undefined;
}

/** Machine action of one of our actions, by the action id in its comment. */
export function ownOf(
  type: DefenderAction,
  actionId: string,
  actions: readonly MachineAction[],
): MachineAction | undefined {
  return actions.find((one) => one.type === wishOf(type).type && one.comment.includes(actionId));
}
