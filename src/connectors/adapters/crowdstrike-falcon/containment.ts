import type { Outcome } from '../../connector.port.js';

/**
 * The containment of a host, as its `status` says. The vendor's schema names the field and not its values; these four are
 * what its console and its own tools show.
 */
export type ContainmentStatus =
  'normal' | 'containment_pending' | 'contained' | 'lift_containment_pending';

interface Wish {
  /** What the vendor calls the action. */
  readonly actionName: 'contain' | 'lift_containment';
  readonly done: ContainmentStatus;
  readonly underWay: ContainmentStatus;
  readonly inWords: string;
}

export const WISHES = {
  isolate_host: {
    actionName: 'contain',
    done: 'contained',
    underWay: 'containment_pending',
    inWords: 'contained',
  },
  unisolate_host: {
    actionName: 'lift_containment',
    done: 'normal',
    underWay: 'lift_containment_pending',
    inWords: 'released from containment',
  },
} as const satisfies Readonly<Record<string, Wish>>;
export type ContainmentAction = keyof typeof WISHES;

export function isContainmentAction(type: string): type is ContainmentAction {
  return Object.hasOwn(WISHES, type);
}

/** What is kept to ask by. */
export interface ContainmentHandle extends Record<string, unknown> {
  readonly device_id: string;
  /** The vendor was seen doing it. What is no longer under way after that and not done was taken back. */
  readonly seen_under_way: boolean;
}

/** What the status of a host says about what is wanted of it. Undefined when nothing of that has happened. */
export function standOf(
  type: ContainmentAction,
  deviceId: string,
  status: string,
): Outcome | undefined {
  const { done, underWay, inWords } = WISHES[type];
  if (status === done) {
    const data = { device_id: deviceId, status };
    return { kind: 'done', message: `The host is ${inWords}.`, data };
  }
  if (status !== underWay) return undefined;
  const handle: ContainmentHandle = { device_id: deviceId, seen_under_way: true };
  return { kind: 'accepted', message: `The host is about to be ${inWords}.`, handle };
}

/** The same for a host of which the vendor has accepted that. A host that is offline stays under way until it is back. */
export function progressOf(
  type: ContainmentAction,
  handle: ContainmentHandle,
  status: string,
): Outcome {
  const stand = standOf(type, handle.device_id, status);
  if (stand) return stand;
  // For a moment after its answer the vendor still shows the host as it was.
  if (!handle.seen_under_way) return { kind: 'accepted', message: 'Not begun yet.', handle };
  const message = `It was taken back at the vendor: the host is ${JSON.stringify(status)}, and not ${WISHES[type].inWords}.`;
  return { kind: 'refused', message };
}
