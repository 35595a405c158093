import { Injectable } from '@nestjs/common';
import { requireApprovalLevel } from '../../auth/authorisation.js';
import type { Principal } from '../../auth/principal.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { SamePerson } from '../../auth/principals/same-person.js';
import { type ActionTypeName, actionType } from '../../action-catalogue/action-types.js';
import { AppError, NotFoundError } from '../../platform/errors/app-error.js';
import { Settings } from '../../platform/config/settings.js';
import { mapConstraints } from '../../platform/database/sqlstate.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import type { LockedIncident, Severity } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import type { Permit } from '../../kill-switch/permit.js';
import { type Action, type Parameters, type RequiredLevel } from '../action.js';
import { RequiredLevels } from '../policy/required-levels.js';
import { higherLevel } from '../policy/approval-policy.js';
import { ActionsRepository } from '../records/actions.repository.js';
import { ActionRequests } from './action-requests.js';
import { ActionConnectors } from '../execution/action-connectors.js';
import { AwaitedRuns } from '../execution/awaited-runs.js';
import { Askers } from './askers.js';
import { decidedAction } from '../execution/decided-action.js';

/** Undoes an action with a new one of the inverse type, which runs at once unless another person has to approve it. */
@Injectable()
export class RollbackService {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: IncidentsService,
    private readonly killSwitch: KillSwitch,
    private readonly connectors: ActionConnectors,
    private readonly requests: ActionRequests,
    private readonly levels: RequiredLevels,
    private readonly actions: ActionsRepository,
    private readonly runs: AwaitedRuns,
    private readonly persons: SamePerson,
    private readonly askers: Askers,
    private readonly settings: Settings,
  ) {}

  async rollBack(
    caller: Principal,
    id: string,
    reason: string,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const original = await this.actions.findById(id);
    if (!original) throw new NotFoundError('Action');
    const { inverse } = actionType(original.type);
    requireApprovalLevel(caller, this.levelFor(original, inverse, original.incident?.severity));
    if (!inverse) {
      throw new AppError('rollback_not_supported', `${original.type} cannot be rolled back.`);
    }
    refuseFor(rollbackObstacle(original));
    const connector = await this.connectors.ofRollback(original, inverse);
    let permit: Permit | undefined;
    const rollback = await mapConstraints(
      {
        uq_actions_rollback_of: () =>
          notInState('The action has been rolled back, or its rollback is under way.'),
      },
      () =>
        this.transactions.run<Action>(
          async (tx) => {
            permit = await this.killSwitch.claimPermit(tx);
            const incident = await this.lockIncident(tx, original);
            const locked = await this.actions.lockById(tx, id);
            if (!locked) throw new NotFoundError('Action');
            const level = this.levelFor(locked, inverse, incident?.severity);
            requireApprovalLevel(caller, level);
            refuseFor(rollbackObstacle(locked));
            const approvalLevel = await this.levelToWaitFor(tx, caller, locked, level);
            return await this.requests.record(tx, {
              type: inverse,
              parameters: inverseParameters(inverse, original.parameters, reason),
              requestedBy: caller.name,
              available: connector !== undefined,
              connectorId: approvalLevel ? undefined : connector?.identity.id,
              rollbackOf: original.id,
              reason,
              incident,
              approvalLevel,
            });
          },
          caller,
          idempotency,
        ),
    );
    const decided = decidedAction(rollback, permit, connector);
    return await this.runs.runAndWait(decided, idempotency);
  }

  /** The higher of what the original needed and what its inverse needs. */
  private levelFor(
    original: Action,
    inverse: ActionTypeName | undefined,
    incidentSeverity: Severity | undefined,
  ): ApprovalLevel {
    const own = original.approvalLevel ?? 'none';
    if (!inverse) return own;
    const { parameters } = original;
    return higherLevel(
      own,
      this.levels.forRequest({ type: inverse, parameters, incidentSeverity }),
    );
  }

  /** Where four eyes are wanted, nobody undoes alone what they requested themselves: another person has to approve it. */
  private async levelToWaitFor(
    tx: Tx,
    caller: Principal,
    original: Action,
    level: ApprovalLevel,
  ): Promise<RequiredLevel | undefined> {
    if (!this.settings.approvalFourEyes) return undefined;
    if (!(await this.persons.isAmong(tx, caller, await this.askers.of(tx, original))))
      return undefined;
    return level === 'none' ? 'analyst' : level;
  }

  /** What was done about an incident that is deleted by now can be undone all the same, as a direct action. */
  private async lockIncident(tx: Tx, { incidentId }: Action): Promise<LockedIncident | undefined> {
    return incidentId === undefined ? undefined : await this.incidents.lockForShare(tx, incidentId);
  }
}

function refuseFor(obstacle: string | undefined): void {
  if (obstacle !== undefined) throw notInState(obstacle);
}

function notInState(message: string): AppError {
  return new AppError('invalid_state', message);
}

/** Why the action cannot be rolled back as it is; nothing when it can. */
export function rollbackObstacle(action: Action): string | undefined {
  if (action.rolledBackBy !== undefined)
    return 'The action has been rolled back, or its rollback is under way.';
  const mayHaveHappened =
    action.status === 'completed' ||
    (action.status === 'failed' && action.result?.code === 'outcome_unknown');
  return mayHaveHappened ? undefined : `The action is ${action.status}, and not completed.`;
}

/** The parameters that the inverse takes, as the original had them; `reason` says why it is rolled back now. */
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
