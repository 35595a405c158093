import { AppError } from '../platform/errors/app-error.js';

/** The switch as it is, and who turned it last. What does not apply is absent. */
export interface KillSwitchState {
  readonly active: boolean;
  readonly reason?: string;
  readonly activatedBy?: string;
  readonly activatedAt?: Date;
  readonly deactivatedBy?: string;
  readonly deactivatedAt?: Date;
  readonly deactivationReason?: string;
}

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

/** Whoever cannot read the switch has to take it for active. */
export class KillSwitchUnreadableError extends AppError {
  constructor(cause?: unknown) {
    super('kill_switch_active', 'The kill switch cannot be read, and so counts as active.', {
      cause,
    });
  }
}
