import { Injectable } from '@nestjs/common';
import { type Action } from '../actions/action.js';
import { ActionsService } from '../actions/actions.service.js';
import { requireLevel } from '../actions/approval-level.errors.js';
import { Decisions } from '../actions/decisions.js';
import { ActionRuns } from '../actions/execution/action-runs.js';
import type { Principal } from '../auth/principal.js';
import { NotFoundError } from '../common/errors/app-error.js';
import { Settings } from '../config/settings.js';
import { type Participant, Transactions, type Tx } from '../database/transactions.js';
import { KillSwitch } from '../kill-switch/kill-switch.js';
import { Metrics } from '../metrics/metrics.js';
import { decisionObstacle, isOwnRequest } from './approval-rules.js';
import { NotWaitingError, OwnRequestError } from './approvals.errors.js';

/** People's decisions on what waits for them. Of any number that come at once, the row's lock lets one win. */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly actions: ActionsService,
    private readonly decisions: Decisions,
    private readonly runs: ActionRuns,
    private readonly killSwitch: KillSwitch,
    private readonly metrics: Metrics,
    private readonly settings: Settings,
  ) {}

  /** Runs what it approves, and answers with what became of it. */
  async approve(
    caller: Principal,
    id: string,
    comment: string | undefined,
    keep: Participant<Action>,
  ): Promise<Action> {
    const waiting = await this.actions.get(id);
    this.requireMayApprove(caller, waiting);
    requireWaiting(waiting);
    const approved = await this.transactions.run<Action>(
      async (tx) => {
        // First of all locks. An active switch leaves the action waiting.
        await this.killSwitch.claimPermit(tx);
        const action = await this.lock(tx, waiting);
        this.requireMayApprove(caller, action);
        requireWaiting(action);
        const after = await this.decisions.approve(tx, id, caller.name, comment);
        return this.decided(tx, after);
      },
      caller,
      keep,
    );
    return await this.runs.runAndWait(approved, keep);
  }

  async reject(
    caller: Principal,
    id: string,
    reason: string,
    keep: Participant<Action>,
  ): Promise<Action> {
    const waiting = await this.actions.get(id);
    requireMayDecide(caller, waiting);
    return await this.transactions.run<Action>(
      async (tx) => {
        const action = await this.lock(tx, waiting);
        requireMayDecide(caller, action);
        requireWaiting(action);
        return this.decided(tx, await this.decisions.reject(tx, id, caller.name, reason));
      },
      caller,
      keep,
    );
  }

  private async lock(tx: Tx, action: Action): Promise<Action> {
    const locked = await this.decisions.lock(tx, action);
    if (!locked) throw new NotFoundError('Action');
    return locked;
  }

  private requireMayApprove(caller: Principal, action: Action): void {
    requireMayDecide(caller, action);
    if (this.settings.approvalFourEyes && isOwnRequest(action, caller.name)) {
      throw new OwnRequestError();
    }
  }

  private decided(tx: Tx, after: Action | undefined): Action {
    if (!after) throw new NotWaitingError('The action does not wait for approval any more.');
    const at = after.approvedAt ?? after.rejectedAt;
    this.transactions.onCommit(tx, () => {
      const waitedMs = (at ?? after.requestedAt).getTime() - after.requestedAt.getTime();
      this.metrics.approvalWait.observe(Math.max(0, waitedMs) / 1_000);
    });
    return after;
  }
}

function requireMayDecide(caller: Principal, { approvalLevel }: Action): void {
  requireLevel(caller, approvalLevel ?? 'none');
}

function requireWaiting(action: Action): void {
  const obstacle = decisionObstacle(action);
  if (obstacle !== undefined) throw new NotWaitingError(obstacle);
}
