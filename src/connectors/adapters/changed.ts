import type { ActionCall, Outcome } from '../connector.port.js';

/**
 * An outcome that tells whether the action changed something, for a rollback: what was so before it is left alone then. What
 * a vendor has accepted keeps it in its handle until it ends. Undefined when nobody knows.
 */
export function marked(outcome: Outcome, changed: unknown): Outcome {
  if (typeof changed !== 'boolean') return outcome;
  switch (outcome.kind) {
    case 'done':
      return { ...outcome, data: { ...outcome.data, changed } };
    case 'accepted':
      return { ...outcome, handle: { ...outcome.handle, changed } };
    case 'refused':
      return outcome;
  }
}

/** For what an action finds as it is wanted. An earlier attempt may have made it so, of which nobody knows. */
export function foundSo(outcome: Outcome, { attempt }: ActionCall): Outcome {
  return marked(outcome, attempt === 1 ? false : undefined);
}

/** For a rollback of what changed nothing. */
export function nothingToUndo({ undoes }: ActionCall): Outcome | undefined {
  if (undoes?.changed !== false) return undefined;
  return { kind: 'done', message: 'Nothing to undo: it was so before.', data: { changed: false } };
}
