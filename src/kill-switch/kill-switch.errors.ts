import { AppError } from '../platform/errors/app-error.js';
import type { KillSwitchState } from './kill-switch.js';

export class KillSwitchActiveError extends AppError {
  constructor({ reason, activatedBy, activatedAt }: KillSwitchState) {
    super('kill_switch_active', 'The kill switch is on: automation and actions are stopped.', {
      details: {
        reason,
        activated_by: activatedBy,
        activated_at: activatedAt && activatedAt.toISOString(),
      },
    });
  }
}

/** A switch that cannot be read counts as active. */
export class KillSwitchUnreadableError extends AppError {
  constructor(cause?: unknown) {
    super('kill_switch_active', 'The kill switch cannot be read, and so counts as active.', {
      cause,
    });
  }
}
