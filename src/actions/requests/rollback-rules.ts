import type { Action, Parameters } from '../action.js';
import { actionType, type ActionTypeName } from '../catalogue/action-types.js';

/** Why the action cannot be rolled back as it is; nothing when it can. */
export function rollbackObstacle(action: Action): string | undefined {
  if (action.rolledBackBy !== undefined)
    return 'The action has been rolled back, or its rollback is under way.';
  const mayHaveHappened =
    action.status === 'completed' ||
    (action.status === 'failed' && action.result?.code === 'outcome_unknown');
  return mayHaveHappened ? undefined : `The action is ${action.status}, and not completed.`;
}

/** What the two types have in common; the reason is why it is rolled back now. */
export function inverseParameters(
  inverse: ActionTypeName,
  original: Parameters,
  reason: string,
): Parameters {
  const common = actionType(inverse).parameters.flatMap(({ name }): [string, unknown][] => {
    if (name === 'reason') return [[name, reason]];
    return Object.hasOwn(original, name) ? [[name, original[name]]] : [];
  });
  return Object.fromEntries(common);
}
