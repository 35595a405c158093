import { OutcomeUnknownError } from '../../platform/net/net.errors.js';

/** Another replica has taken the action over, or it has ended: whatever this one still knows about it does not count. */
export class ClaimLostError extends Error {
  constructor() {
    super('The action is no longer claimed by this run.');
    this.name = new.target.name;
  }
}

/** The vendor has been asked for longer than an action may take. */
export class CallDeadlineError extends OutcomeUnknownError {
  constructor(ms: number) {
    super(`The call took longer than ${ms} ms.`, 'timeout');
  }
}
