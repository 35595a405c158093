import { Injectable } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Histogram } from 'prom-client';
import { actionType, type ActionTypeName } from '../../action-catalogue/action-types.js';
import { type Principal, RefusedError, requireApprovalLevel } from '../../auth/principal.js';
import { Credentials } from '../../auth/credentials.js';
import type { Connector } from '../../connectors/connector-type.js';
import { Incidents } from '../../incidents/incidents.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import type { Permit } from '../../kill-switch/permit.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { mapConstraints } from '../../platform/database/sqlstate.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import { AppError, NotFoundError } from '../../platform/errors/app-error.js';
import { ActionRecorder } from '../action-records.js';
import { ActionRequests } from '../action-requests.js';
import { type Action, askersOf, invalidState, type Parameters } from '../action.js';
import { Actions, WAITING } from '../actions.js';
import { expiredReason } from './waiting-approvals.js';
import { ApprovalLevelGuard } from './approval-level.guard.js';
import type { ActionApprovalDto } from '../actions.dto.js';
import { ActionEndings } from '../execution/action-endings.js';
import { ActionWork, claimPermitLate } from '../execution/action-work.js';
import { ConnectorCalls } from '../execution/connector-calls.js';
import { noConnector, simulatedResult } from '../execution/execution-rules.js';
import { higherLevel, RequiredLevels } from '../required-levels.js';

/** Makes a decision in the transaction that has locked the action. Calls `requirePermit` after all other checks. */
type Decide = (tx: Tx, action: Action, requirePermit: () => Permit) => Promise<Action>;

/** Records the decisions of people on actions. The row lock lets one of several concurrent decisions win. */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly killSwitch: KillSwitch,
    private readonly incidents: Incidents,
    private readonly actions: Actions,
    private readonly calls: ConnectorCalls,
    private readonly requests: ActionRequests,
    private readonly recorder: ActionRecorder,
    private readonly endings: ActionEndings,
    private readonly work: ActionWork,
    private readonly guard: ApprovalLevelGuard,
    private readonly levels: RequiredLevels,
    private readonly credentials: Credentials,
    private readonly clock: Clock,
    private readonly settings: Settings,
    @InjectMetric('approval_wait_seconds') private readonly waitSeconds: Histogram,
  ) {}

  async approve(
    caller: Principal,
    id: string,
    { comment, confirm_resolved }: ActionApprovalDto,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const found = await this.actions.get(id);
    const decide: Decide = async (tx, action, requirePermit) => {
      const level = this.guard.requireForApproval(caller, action);
      if (await this.isOwnRequest(tx, caller, action)) {
        throw new RefusedError(
          { action: 'auth.own_request_refused', actor: caller.name },
          new AppError('forbidden', 'Nobody may approve their own request.'),
        );
      }
      requireWaiting(action);
      if (action.incident?.status === 'resolved' && !confirm_resolved) {
        const message =
          'The incident of the action is resolved. To approve the action anyway, send confirm_resolved: true.';
        throw invalidState(message, { reason: 'incident_resolved' });
      }
      requirePermit();
      const approval = {
        approved_by: caller.name,
        approved_at: this.clock.now(),
        comment,
        approval_level: level === 'none' ? undefined : level,
      };
      const after = await this.actions.approve(tx, id, approval);
      if (!after) throw invalidState(expiredReason(this.settings.approvalTtlMinutes));
      const changed = { change: 'approved', actor: caller.name, action: after } as const;
      await this.recorder.record(tx, [changed]);
      return this.measured(tx, after);
    };
    const connector = await this.calls.connectorOf(found);
    return await this.decideAndRun(caller, found, connector, idempotency, decide);
  }

  /** Rejects the action. A requester may reject their own action. */
  async reject(
    caller: Principal,
    id: string,
    reason: string,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const found = await this.actions.get(id);
    return await this.transactions.run<Action>(
      async (tx) => {
        const action = await this.lock(tx, found);
        this.guard.requireForRejection(caller, action);
        requireWaiting(action);
        const waiting = { id, ...WAITING };
        const [after] = await this.endings.reject(tx, waiting, caller.name, reason);
        return this.measured(tx, after!);
      },
      caller,
      idempotency,
    );
  }

  /** The caller needs the levels of both actions. Without APPROVAL_FOUR_EYES, the rollback needs no approval. */
  async rollBack(
    caller: Principal,
    id: string,
    reason: string,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const original = await this.actions.get(id);
    const { inverse } = actionType(original.action_type);
    const connector = inverse && (await this.calls.connectorOfRollback(original, inverse));
    const decide: Decide = async (tx, action, requirePermit) => {
      const { action_type, parameters, approval_level = 'none', incident, incident_id } = action;
      const level = inverse
        ? this.levels.forRequest({ ...action, action_type: inverse })
        : approval_level;
      requireApprovalLevel(caller, level);
      if (!inverse) {
        throw new AppError('rollback_not_supported', `${action_type} cannot be rolled back.`);
      }
      const obstacle = rollbackObstacle(action);
      if (obstacle !== undefined) throw invalidState(obstacle);
      requirePermit();
      // A requester of the original action needs the approval of another person.
      const waits = await this.isOwnRequest(tx, caller, action);
      const wanted = {
        action_type: inverse,
        parameters: inverseParameters(inverse, parameters, reason),
        requested_by: caller.name,
        connector,
        rollback_of: action.id,
        reason,
        incident: incident && { ...incident, id: incident_id! },
        approval_level: waits ? higherLevel(level, 'analyst') : undefined,
      };
      return (await this.requests.createAll(tx, [wanted]))[0]!;
    };
    return await mapConstraints({ uq_actions_rollback_of: () => invalidState(ROLLED_BACK) }, () =>
      this.decideAndRun(caller, original, connector, idempotency, decide),
    );
  }

  /** Decides, and runs the action if it may run. An action with a simulating connector ends in the transaction. */
  private async decideAndRun(
    caller: Principal,
    found: Action,
    connector: Connector | undefined,
    idempotency: Participant<Action>,
    decide: Decide,
  ): Promise<Action> {
    let ended: (() => Promise<Action>) | undefined;
    const action = await this.transactions.run<Action>(
      async (tx) => {
        ended = undefined;
        const requirePermit = await claimPermitLate(this.killSwitch, tx);
        const decided = await decide(tx, await this.lock(tx, found), requirePermit);
        if (decided.status !== 'pending') return decided;
        const result = connector
          ? simulatedResult(connector, decided.action_type)
          : noConnector(decided);
        const connectorId = connector?.identity.id;
        if (result) {
          return (await this.endings.endAll(tx, [{ action: decided, result, connectorId }]))[0]!;
        }
        const started = { action: decided, connector: connector! };
        ended = (await this.work.begin(tx, [started], requirePermit())).get(decided.id);
        return decided;
      },
      caller,
      idempotency,
    );
    return ended ? await ended() : action;
  }

  /** Locks the incident, then the action. A deletion uses the same order, which prevents deadlocks. */
  private async lock(tx: Tx, { id, incident_id }: Action): Promise<Action> {
    if (incident_id) await this.incidents.lockForShare(tx, incident_id);
    const [action] = await this.actions.lock(tx, [id]);
    if (!action) throw new NotFoundError('Action');
    return action;
  }

  private async isOwnRequest(tx: Tx, caller: Principal, action: Action): Promise<boolean> {
    const { approvalFourEyes } = this.settings;
    return approvalFourEyes && (await this.credentials.isAmong(tx, caller, askersOf(action)));
  }

  private measured(tx: Tx, action: Action): Action {
    const { requested_at, approved_at, rejected_at } = action;
    const decidedAt = approved_at ?? rejected_at ?? requested_at;
    const waitedMs = Math.max(0, decidedAt.getTime() - requested_at.getTime());
    afterCommit(tx, () => this.waitSeconds.observe(waitedMs / 1_000));
    return action;
  }
}

function requireWaiting({ status }: Action): void {
  if (status === 'pending_approval') return;
  throw invalidState(`The action is ${status}: it does not wait for approval.`);
}

const ROLLED_BACK = 'The action has been rolled back, or its rollback is under way.';

export function rollbackObstacle({ rolled_back_by, status, result }: Action): string | undefined {
  if (rolled_back_by !== undefined) return ROLLED_BACK;
  const mayHaveHappened =
    status === 'completed' || (status === 'failed' && result?.code === 'outcome_unknown');
  return mayHaveHappened ? undefined : `The action is ${status}, and not completed.`;
}

export function inverseParameters(
  inverse: ActionTypeName,
  original: Parameters,
  reason: string,
): Parameters {
  const names = actionType(inverse).parameters.map(({ name }) => name);
  const given = Object.entries({ ...original, reason });
  return Object.fromEntries(given.filter(([name]) => names.includes(name)));
}
