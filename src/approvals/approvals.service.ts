import { AppError } from '../platform/errors/app-error.js';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Action, askersOf } from '../actions/action.js';
import { SamePerson } from '../auth/authorisation.js';
import { ApprovalLevelGuard } from './approval-level.guard.js';
import { ActionDecisions } from '../actions/action-decisions.js';
import { AwaitedRuns, claimPermitLate, decidedAction } from '../actions/execution/awaited-runs.js';
import { OwnRequestError } from '../auth/auth.errors.js';
import type { Principal } from '../auth/principal.js';
import { Settings } from '../platform/config/settings.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../platform/database/transactions.js';
import { ActionConnectors } from '../actions/execution/action-connectors.js';
import { KillSwitch, type Permit } from '../kill-switch/kill-switch.js';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Histogram } from 'prom-client';
import { Work } from '../platform/work/work.js';

/** The incident is resolved, so the approver must confirm the action. */
class IncidentResolvedError extends AppError {
  constructor() {
    super(
      'invalid_state',
      'The incident of the action is resolved. Send confirm_resolved: true to approve it all the same.',
      { details: { reason: 'incident_resolved' } },
    );
  }
}

class NotWaitingError extends AppError {
  constructor(message: string) {
    super('invalid_state', message);
  }
}

export interface WantedApproval {
  readonly comment?: string;
  /** Approves the action even if its incident is resolved. */
  readonly confirm_resolved?: boolean;
}

/**
 * Decisions of people on actions that wait for approval. The row lock lets one of several simultaneous decisions win.
 */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly guard: ApprovalLevelGuard,
    private readonly decisions: ActionDecisions,
    private readonly runs: AwaitedRuns,
    private readonly connectors: ActionConnectors,
    private readonly killSwitch: KillSwitch,
    private readonly persons: SamePerson,
    @InjectMetric('approval_wait_seconds') private readonly waitSeconds: Histogram,
    private readonly settings: Settings,
  ) {}

  /** Approves the action, runs it, and returns the action after the run. */
  async approve(
    caller: Principal,
    id: string,
    { comment, confirm_resolved }: WantedApproval,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const route = await this.decisions.routeTo(id);
    const connector = await this.connectors.of(route);
    let permit: Permit | undefined;
    const approved = await this.transactions.run<Action>(
      async (tx) => {
        const claimedPermit = await claimPermitLate(this.killSwitch, tx);
        const locked = await this.decisions.lock(tx, route);
        const level = this.guard.requireForApproval(caller, locked);
        await this.requireOther(tx, caller, locked.action);
        requireWaiting(locked.action);
        if (locked.incident?.status === 'resolved' && !confirm_resolved) {
          throw new IncidentResolvedError();
        }
        permit = claimedPermit();
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
    const route = await this.decisions.routeTo(id);
    return await this.transactions.run<Action>(
      async (tx) => {
        const locked = await this.decisions.lock(tx, route);
        this.guard.requireForRejection(caller, locked);
        requireWaiting(locked.action);
        const after = await this.decisions.reject(tx, id, caller.name, reason);
        if (!after) throw new Error('A locked action that waits for approval was not rejected.');
        return this.decided(tx, after);
      },
      caller,
      idempotency,
    );
  }

  /** A requester cannot approve their own action, but can always reject it. */
  private async requireOther(tx: Tx, caller: Principal, action: Action): Promise<void> {
    if (!this.settings.approvalFourEyes) return;
    if (await this.persons.isAmong(tx, caller, askersOf(action))) throw new OwnRequestError(caller);
  }

  private decided(tx: Tx, after: Action): Action {
    const at = after.approved_at ?? after.rejected_at;
    afterCommit(tx, () => {
      const waitedMs = (at ?? after.requested_at).getTime() - after.requested_at.getTime();
      this.waitSeconds.observe(Math.max(0, waitedMs) / 1_000);
    });
    return after;
  }
}

function requireWaiting({ status }: Action): void {
  if (status === 'pending_approval') return;
  throw new NotWaitingError(`The action is ${status}: it does not wait for approval.`);
}

const EVERY_SECONDS = 30;
const BATCH = 100;

/** Jobs that remind of undecided actions, and reject them after APPROVAL_TTL_MINUTES. */
@Injectable()
export class ApprovalExpiry implements OnModuleInit {
  constructor(
    private readonly work: Work,
    private readonly transactions: Transactions,
    private readonly decisions: ActionDecisions,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.work.every('approvals.expire', EVERY_SECONDS, (signal) => this.expire(signal));
    this.work.every('approvals.remind', EVERY_SECONDS, (signal) => this.remind(signal));
  }

  async expire(signal?: AbortSignal): Promise<void> {
    await this.inBatches((tx) => this.decisions.rejectExpired(tx, BATCH), signal);
  }

  async remind(signal?: AbortSignal): Promise<void> {
    await this.inBatches((tx) => this.decisions.remindOfExpiry(tx, BATCH), signal);
  }

  private async inBatches(
    work: (tx: Tx) => Promise<number>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (this.settings.approvalTtlMinutes === 0) return;
    let done = BATCH;
    while (done === BATCH && !signal?.aborted) done = await this.transactions.run(work);
  }
}
