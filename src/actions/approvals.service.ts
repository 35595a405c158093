import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Action, invalidState, SYSTEM, withExpiry } from './action.js';
import { ActionRecorder } from './action-records.js';
import { ActionsRepository } from './actions.repository.js';
import { Clock } from '../platform/clock.js';
import type { ActionApprovalDto } from './approvals.dto.js';
import { ApprovalLevelGuard } from './approval-level.guard.js';
import { ActionDecisions } from './action-decisions.js';
import { OwnRequestError } from '../auth/auth.errors.js';
import type { Principal } from '../auth/principal.js';
import { Settings } from '../platform/config/settings.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../platform/database/transactions.js';
import { ActionConnectors } from './execution/connector-calls.js';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Histogram } from 'prom-client';
import { Work } from '../platform/work/work.js';

/** Decisions of people on actions that wait for approval. The row lock lets one of several simultaneous decisions win. */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly guard: ApprovalLevelGuard,
    private readonly decisions: ActionDecisions,
    private readonly connectors: ActionConnectors,
    private readonly actions: ActionsRepository,
    private readonly recorder: ActionRecorder,
    private readonly clock: Clock,
    private readonly settings: Settings,
    @InjectMetric('approval_wait_seconds') private readonly waitSeconds: Histogram,
  ) {}

  /** Approves the action, runs it, and returns the action after the run. */
  async approve(
    caller: Principal,
    id: string,
    { comment, confirm_resolved }: ActionApprovalDto,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const found = await this.decisions.find(id);
    const connector = await this.connectors.of(found);
    return await this.decisions.decideAndRun(
      caller,
      connector,
      idempotency,
      async (tx, requirePermit) => {
        const locked = await this.decisions.lock(tx, found);
        const level = this.guard.requireForApproval(caller, locked);
        if (await this.decisions.isOwnRequest(tx, caller, locked.action)) {
          throw new OwnRequestError(caller);
        }
        requireWaiting(locked.action);
        if (locked.incident?.status === 'resolved' && !confirm_resolved) {
          const message =
            'The incident of the action is resolved. Send confirm_resolved: true to approve it all the same.';
          throw invalidState(message, { reason: 'incident_resolved' });
        }
        requirePermit();
        const approval = {
          approved_by: caller.name,
          approved_at: this.clock.now(),
          comment,
          approval_level: level === 'none' ? undefined : level,
        };
        const ttl = this.settings.approvalTtlMinutes;
        const after = await this.actions.approve(tx, id, approval, ttl);
        if (!after) throw invalidState(expiredReason(ttl));
        await this.recorder.record(tx, 'approved', caller.name, [after]);
        return this.measured(tx, after);
      },
    );
  }

  /** A requester may reject their own action. */
  async reject(
    caller: Principal,
    id: string,
    reason: string,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const found = await this.decisions.find(id);
    return await this.transactions.run<Action>(
      async (tx) => {
        const locked = await this.decisions.lock(tx, found);
        this.guard.requireForRejection(caller, locked);
        requireWaiting(locked.action);
        const after = await this.decisions.reject(tx, id, caller.name, reason);
        if (!after) throw new Error('A locked action that waits for approval was not rejected.');
        return this.measured(tx, after);
      },
      caller,
      idempotency,
    );
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

/** Reason for the rejection of an action that nobody decided on in time. */
function expiredReason(minutes: number): string {
  return `Nobody decided on it within ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
}

const EVERY_SECONDS = 30;
const BATCH = 100;

/** Jobs that remind of undecided actions, and reject them after APPROVAL_TTL_MINUTES. */
@Injectable()
export class ApprovalExpiry implements OnModuleInit {
  constructor(
    private readonly work: Work,
    private readonly transactions: Transactions,
    private readonly actions: ActionsRepository,
    private readonly recorder: ActionRecorder,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.work.every('approvals.expire', EVERY_SECONDS, (signal) => this.expire(signal));
    this.work.every('approvals.remind', EVERY_SECONDS, (signal) => this.remind(signal));
  }

  /** Rejects the actions that nobody decided on in time. */
  async expire(signal?: AbortSignal): Promise<void> {
    await this.inBatches(signal, async (tx, ttl) => {
      const rejection = {
        rejected_by: SYSTEM,
        rejected_at: this.clock.now(),
        rejection_reason: expiredReason(ttl),
        rejection_code: 'expired',
      } as const;
      const rejected = await this.actions.rejectExpired(tx, ttl, rejection, BATCH);
      await this.recorder.record(tx, 'rejected', SYSTEM, rejected);
      return rejected;
    });
  }

  /** Reminds of the actions that expire soon. */
  async remind(signal?: AbortSignal): Promise<void> {
    await this.inBatches(signal, async (tx, ttl) => {
      const expiring = await this.actions.remind(tx, ttl, BATCH);
      await this.recorder.remind(
        tx,
        expiring.map((action) => withExpiry(action, ttl)),
      );
      return expiring;
    });
  }

  private async inBatches(
    signal: AbortSignal | undefined,
    work: (tx: Tx, ttlMinutes: number) => Promise<readonly Action[]>,
  ): Promise<void> {
    const ttl = this.settings.approvalTtlMinutes;
    let done = ttl === 0 ? 0 : BATCH;
    while (done === BATCH && !signal?.aborted) {
      done = (await this.transactions.run((tx) => work(tx, ttl))).length;
    }
  }
}
