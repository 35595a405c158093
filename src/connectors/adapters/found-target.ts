import { shownName } from '../../platform/text.js';
import { RefusedError } from '../calls/refused.error.js';
import type { ActionCall } from '../connector.port.js';

/** Judges the target that a look-up found, before anything is done to it. Throws RefusedError. */
export function judgeTarget({ mayTarget }: ActionCall, found: unknown): void {
  const name = typeof found === 'string' && found !== '' ? found : undefined;
  if (mayTarget(name)) return;
  throw new RefusedError(
    name === undefined
      ? 'The vendor knows no name of the target, which may be a protected one.'
      : `${JSON.stringify(shownName(name))} is a protected target. Request the action by that name, for a manager to approve.`,
  );
}
