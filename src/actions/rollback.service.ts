import { Injectable } from '@nestjs/common';
import { requireApprovalLevel, SamePerson } from '../auth/authorisation.js';
import type { Principal } from '../auth/principal.js';
import type { ApprovalLevel } from '../platform/access/roles.js';
import { actionType, type ActionTypeName } from '../action-catalogue/action-types.js';
import { AppError, NotFoundError } from '../platform/errors/app-error.js';
import { Settings } from '../platform/config/settings.js';
import { mapConstraints } from '../platform/database/sqlstate.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import type { Severity } from '../incidents/incident.js';
import { KillSwitch, type Permit } from '../kill-switch/kill-switch.js';
import { type Action, askersOf, type Parameters, type RequiredLevel } from './action.js';
import { higherLevel, RequiredLevels } from './required-levels.js';
import { ActionsRepository } from './actions.repository.js';
import { ActionDecisions } from './action-decisions.js';
import { ActionRequests } from './action-requests.js';
import { ActionConnectors } from './execution/action-connectors.js';
import { AwaitedRuns, claimPermitLate, decidedAction } from './execution/awaited-runs.js';
/** Rolls back an action with a new action of the inverse type. It runs at once unless another person has to approve it. */
@Injectable()
export class RollbackService {
  constructor(
    private readonly transactions: Transactions,
    private readonly decisions: ActionDecisions,
    private readonly killSwitch: KillSwitch,
    private readonly connectors: ActionConnectors,
    private readonly requests: ActionRequests,
    private readonly levels: RequiredLevels,
    private readonly actions: ActionsRepository,
    private readonly runs: AwaitedRuns,
    private readonly persons: SamePerson,
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
    const { inverse } = actionType(original.action_type);
    const connector = inverse && (await this.connectors.ofRollback(original, inverse));
    let permit: Permit | undefined;
    const rollback = await mapConstraints(
      {
        uq_actions_rollback_of: () =>
          notInState('The action has been rolled back, or its rollback is under way.'),
      },
      () =>
        this.transactions.run<Action>(
          async (tx) => {
            const claimedPermit = await claimPermitLate(this.killSwitch, tx);
            const { action, incident } = await this.decisions.lock(tx, original);
            const level = this.levelFor(action, inverse, incident?.severity);
            requireApprovalLevel(caller, level);
            if (!inverse) {
              throw new AppError(
                'rollback_not_supported',
                `${action.action_type} cannot be rolled back.`,
              );
            }
            const obstacle = rollbackObstacle(action);
            if (obstacle !== undefined) throw notInState(obstacle);
            permit = claimedPermit();
            const approvalLevel = await this.levelToWaitFor(tx, caller, action, level);
            return await this.requests.record(tx, {
              action_type: inverse,
              parameters: inverseParameters(inverse, action.parameters, reason),
              requested_by: caller.name,
              available: connector !== undefined,
              connector_id: approvalLevel ? undefined : connector?.identity.id,
              rollback_of: action.id,
              reason,
              incident,
              approval_level: approvalLevel,
            });
          },
          caller,
          idempotency,
        ),
    );
    const decided = decidedAction(rollback, permit, connector);
    return await this.runs.runAndWait(decided, idempotency);
  }

  /** The higher of the levels of the original and of its inverse. */
  private levelFor(
    original: Action,
    inverse: ActionTypeName | undefined,
    incidentSeverity: Severity | undefined,
  ): ApprovalLevel {
    const own = original.approval_level ?? 'none';
    if (!inverse) return own;
    const { parameters } = original;
    return higherLevel(
      own,
      this.levels.forRequest({ action_type: inverse, parameters, incidentSeverity }),
    );
  }

  /** Under the rule of four eyes, another person has to approve the rollback of one's own action. */
  private async levelToWaitFor(
    tx: Tx,
    caller: Principal,
    original: Action,
    level: ApprovalLevel,
  ): Promise<RequiredLevel | undefined> {
    if (!this.settings.approvalFourEyes) return undefined;
    if (!(await this.persons.isAmong(tx, caller, askersOf(original)))) return undefined;
    return level === 'none' ? 'analyst' : level;
  }
}

function notInState(message: string): AppError {
  return new AppError('invalid_state', message);
}

/** Why the action cannot be rolled back. Undefined if it can. */
export function rollbackObstacle(action: Action): string | undefined {
  if (action.rolled_back_by !== undefined)
    return 'The action has been rolled back, or its rollback is under way.';
  const mayHaveHappened =
    action.status === 'completed' ||
    (action.status === 'failed' && action.result?.code === 'outcome_unknown');
  return mayHaveHappened ? undefined : `The action is ${action.status}, and not completed.`;
}

/** Parameters of the inverse: the same values as the original, with the reason of the rollback. */
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
