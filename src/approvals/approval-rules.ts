import type { Action } from '../actions/action.js';

/** Why nobody can decide on the action any more, or not yet; nothing while it waits for a decision. */
export function decisionObstacle({ status }: Pick<Action, 'status'>): string | undefined {
  return status === 'pending_approval'
    ? undefined
    : `The action is ${status}: it does not wait for approval.`;
}
