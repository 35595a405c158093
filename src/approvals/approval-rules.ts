import type { Action } from '../actions/action.js';

/** Why nobody can decide on the action any more, or not yet; nothing while it waits for a decision. */
export function decisionObstacle({ status }: Pick<Action, 'status'>): string | undefined {
  return status === 'pending_approval'
    ? undefined
    : `The action is ${status}: it does not wait for approval.`;
}

/** Rejecting one's own request is always allowed: it harms nobody. */
export function isOwnRequest({ requestedBy }: Pick<Action, 'requestedBy'>, name: string): boolean {
  return requestedBy === name;
}
