import { Injectable } from '@nestjs/common';
import type { Action } from '../actions/action.js';
import { Askers } from '../actions/requests/askers.js';
import { ActionsService } from '../actions/actions.service.js';
import { requireApprovalLevel } from '../auth/authorisation.js';
import { RequiredLevels } from '../actions/policy/required-levels.js';
import { ActionDecisions, type LockedAction } from '../actions/requests/action-decisions.js';
import { AwaitedRuns } from '../actions/execution/awaited-runs.js';
import { decidedAction } from '../actions/execution/decided-action.js';
import { OwnRequestError } from '../auth/auth.errors.js';
import type { Principal } from '../auth/principal.js';
import type { ApprovalLevel } from '../platform/access/roles.js';
import { SamePerson } from '../auth/principals/same-person.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import { Settings } from '../platform/config/settings.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../platform/database/transactions.js';
import { ActionConnectors } from '../actions/execution/action-connectors.js';
import { KillSwitch } from '../kill-switch/kill-switch.js';
import type { Permit } from '../kill-switch/permit.js';
import type { IncidentStatus } from '../incidents/incident.js';
import { IncidentResolvedError, NotWaitingError } from './approvals.errors.js';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Histogram } from 'prom-client';

export interface WantedApproval {
  readonly comment?: string;
  /** Also where the incident of the action is resolved. */
  readonly confirmResolved: boolean;
}

/** People's decisions on actions that wait for approval. Of several that come at once, the lock of the row lets one win. */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly actions: ActionsService,
    private readonly levels: RequiredLevels,
    private readonly decisions: ActionDecisions,
    private readonly runs: AwaitedRuns,
    private readonly connectors: ActionConnectors,
    private readonly killSwitch: KillSwitch,
    private readonly persons: SamePerson,
    private readonly askers: Askers,
    @InjectMetric('approval_wait_seconds') private readonly waitSeconds: Histogram,
    private readonly settings: Settings,
  ) {}

  /** Runs what it approves, and answers with what became of it. */
  async approve(
    caller: Principal,
    id: string,
    { comment, confirmResolved }: WantedApproval,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const waiting = await this.actions.get(id);
    requireApprovalLevel(caller, this.levels.forDecision(waiting));
    const connector = await this.connectors.of(waiting);
    let permit: Permit | undefined;
    const approved = await this.transactions.run<Action>(
      async (tx) => {
        await this.requireOther(tx, caller, waiting);
        requireApprovable(waiting, waiting.incident?.status, confirmResolved);
        // The first of all locks, as in every claim. An active kill switch leaves the action waiting.
        permit = await this.killSwitch.claimPermit(tx);
        const { action, incident } = await this.lock(tx, waiting);
        const level = this.levels.forDecision(action, incident?.severity);
        requireApprovalLevel(caller, level);
        requireApprovable(action, incident?.status, confirmResolved);
        const connectorId = connector?.identity.id;
        const approval = { by: caller.name, level, comment, connectorId };
        const after = await this.decisions.approve(tx, id, approval);
        if (!after) throw new NotWaitingError(this.decisions.expiredReason);
        return this.decided(tx, after);
      },
      caller,
      idempotency,
    );
    return await this.runs.runAndWait(decidedAction(approved, permit, connector), idempotency);
  }

  async reject(
    caller: Principal,
    id: string,
    reason: string,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const waiting = await this.actions.get(id);
    requireApprovalLevel(caller, levelOf(waiting));
    return await this.transactions.run<Action>(
      async (tx) => {
        const { action } = await this.lock(tx, waiting);
        // Again: the transaction has read the caller's role anew, and it may have been lowered.
        requireApprovalLevel(caller, levelOf(action));
        requireWaiting(action);
        const after = await this.decisions.reject(tx, id, caller.name, reason);
        if (!after) throw new Error('What is locked and waits was not rejected.');
        return this.decided(tx, after);
      },
      caller,
      idempotency,
    );
  }

  private async lock(tx: Tx, action: Action): Promise<LockedAction> {
    const locked = await this.decisions.lock(tx, action);
    if (!locked) throw new NotFoundError('Action');
    return locked;
  }

  /** Rejecting one's own request is always allowed: it harms nobody. */
  private async requireOther(tx: Tx, caller: Principal, action: Action): Promise<void> {
    if (!this.settings.approvalFourEyes) return;
    const askers = await this.askers.of(tx, action);
    if (await this.persons.isAmong(tx, caller, askers)) throw new OwnRequestError(caller);
  }

  private decided(tx: Tx, after: Action): Action {
    const at = after.approvedAt ?? after.rejectedAt;
    afterCommit(tx, () => {
      const waitedMs = (at ?? after.requestedAt).getTime() - after.requestedAt.getTime();
      this.waitSeconds.observe(Math.max(0, waitedMs) / 1_000);
    });
    return after;
  }
}

function levelOf({ approvalLevel }: Action): ApprovalLevel {
  return approvalLevel ?? 'none';
}

function requireApprovable(
  action: Action,
  incidentStatus: IncidentStatus | undefined,
  confirmResolved: boolean,
): void {
  requireWaiting(action);
  if (incidentStatus === 'resolved' && !confirmResolved) throw new IncidentResolvedError();
}

/** Nobody can decide on the action any more, or not yet. */
function requireWaiting({ status }: Action): void {
  if (status === 'pending_approval') return;
  throw new NotWaitingError(`The action is ${status}: it does not wait for approval.`);
}
