import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Outcome } from '../../connector.port.js';

/** https://learn.microsoft.com/en-us/defender-endpoint/api/machineaction */
export interface MachineAction {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly machineId: string;
  readonly comment: string;
  readonly createdAt: number;
}

interface Wish {
  /** The last segment of the request's address. */
  readonly command: string;
  /** What the vendor calls such an action. */
  readonly type: string;
  /** The action is done when its work has begun: that takes hours. */
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
 * Whether the host is already as it is wanted, or about to be: what the latest isolation or release of it says that was not in
 * vain. Undefined when it is not.
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

/** What was made for one of our actions: its id stands in the comment. */
export function ownOf(
  type: DefenderAction,
  actionId: string,
  actions: readonly MachineAction[],
): MachineAction | undefined {
  return actions.find((one) => one.type === wishOf(type).type && one.comment.includes(actionId));
}
