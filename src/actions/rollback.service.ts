import { Injectable } from '@nestjs/common';
import type { ApprovalLevel, Principal } from '../auth/principal.js';
import type { ActionTypeName } from '../common/action-types.js';
import { AppError, NotFoundError } from '../common/errors/app-error.js';
import { mapConstraints } from '../database/sqlstate.js';
import { type Participant, Transactions, type Tx } from '../database/transactions.js';
import { IncidentsService } from '../incidents/incidents.service.js';
import { KillSwitch } from '../kill-switch/kill-switch.js';
import type { Action } from './action.js';
import { inverseOf } from './action-catalogue.js';
import { higherLevel } from './action-policy.js';
import { ActionReadRepository } from './action-read.repository.js';
import { ActionRequests } from './action-requests.js';
import { requireLevel } from './approval-level.errors.js';
import { ActionRuns } from './execution/action-runs.js';
import { inverseParameters, rollbackObstacle } from './rollback-rules.js';

/** Undoes an action with a new one of the inverse type, which runs at once. */
@Injectable()
export class RollbackService {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: IncidentsService,
    private readonly killSwitch: KillSwitch,
    private readonly requests: ActionRequests,
    private readonly reads: ActionReadRepository,
    private readonly runs: ActionRuns,
  ) {}

  async rollBack(
    caller: Principal,
    id: string,
    reason: string,
    keep: Participant<Action>,
  ): Promise<Action> {
    const original = await this.reads.findById(id);
    if (!original) throw new NotFoundError('Action');
    const inverse = inverseOf(original.type);
    requireLevel(caller, this.levelFor(original, inverse));
    if (!inverse) {
      throw new AppError('rollback_not_supported', `${original.type} cannot be rolled back.`);
    }
    refuse(rollbackObstacle(original));
    const available = await this.requests.isAvailable(inverse);
    const rollback = await mapConstraints(
      { uq_actions_rollback_of: () => notInState('The action has been rolled back.') },
      () =>
        this.transactions.run<Action>(
          async (tx) => {
            await this.killSwitch.claimPermit(tx);
            const incidentId = await this.lockIncident(tx, original);
            const locked = await this.reads.lockById(tx, id);
            // Again: the role that let the caller in may be another by now.
            requireLevel(caller, this.levelFor(original, inverse));
            refuse(locked ? rollbackObstacle(locked) : 'The action is gone.');
            return await this.requests.enter(tx, {
              type: inverse,
              parameters: inverseParameters(inverse, original.parameters, reason),
              requestedBy: caller.name,
              available,
              rollbackOf: original.id,
              reason,
              ...(incidentId !== undefined && { incidentId }),
            });
          },
          caller,
          keep,
        ),
    );
    return await this.runs.runAndWait(rollback, keep);
  }

  /** The higher of what the original needed and what its inverse needs. */
  private levelFor(original: Action, inverse: ActionTypeName | undefined): ApprovalLevel {
    const own = original.approvalLevel ?? 'none';
    if (!inverse) return own;
    const { incident, parameters } = original;
    return higherLevel(own, this.requests.levelFor(inverse, parameters, incident?.severity));
  }

  /** What was done about an incident that is deleted by now can be undone all the same, as a direct action. */
  private async lockIncident(tx: Tx, { incidentId }: Action): Promise<string | undefined> {
    return incidentId && (await this.incidents.lockForShare(tx, incidentId))?.id;
  }
}

function refuse(obstacle: string | undefined): void {
  if (obstacle !== undefined) throw notInState(obstacle);
}

function notInState(message: string): AppError {
  return new AppError('invalid_state', message);
}
