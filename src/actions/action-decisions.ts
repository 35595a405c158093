import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import { Settings } from '../platform/config/settings.js';
import type { Tx } from '../platform/database/transactions.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import type { LockedIncident } from '../incidents/incident.js';
import { IncidentsService, IncidentEndings } from '../incidents/incidents.service.js';
import { type Action, SYSTEM, withExpiry } from './action.js';
import { ActionRecorder } from './action-records.js';
import { type ActionRoute, ActionsRepository, type Approval } from './actions.repository.js';
import { AwaitedRuns } from './execution/awaited-runs.js';
import type { Caller } from '../platform/http/caller.js';
import { KillSwitch } from '../kill-switch/kill-switch.js';
import { resultOfLoss } from './execution/execution-rules.js';
interface LockedAction {
  readonly action: Action;
  /** Absent for direct actions, and if the incident was deleted. */
  readonly incident?: LockedIncident;
}

type ApprovalToGive = Pick<Approval, 'by' | 'level' | 'comment' | 'connectorId'>;

/** Approves, rejects and expires actions that wait for approval. The caller judges who may decide. */
@Injectable()
export class ActionDecisions {
  constructor(
    private readonly incidents: IncidentsService,
    private readonly actions: ActionsRepository,
    private readonly recorder: ActionRecorder,
    private readonly runs: AwaitedRuns,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** What has to be known of an action before the transaction that locks it. Throws NotFoundError. */
  async routeTo(id: string): Promise<ActionRoute> {
    const route = await this.actions.findRoute(id);
    if (!route) throw new NotFoundError('Action');
    return route;
  }

  /**
   * Locks the incident and then the action until the transaction ends. A deletion locks them in the same order, so that the
   * two never wait for each other. Throws NotFoundError.
   */
  async lock(tx: Tx, { id, incident_id }: ActionRoute): Promise<LockedAction> {
    const incident =
      incident_id === undefined ? undefined : await this.incidents.lockForShare(tx, incident_id);
    const action = await this.actions.lockById(tx, id);
    if (!action) throw new NotFoundError('Action');
    return { action, incident };
  }

  /**
   * Approves the action and claims it for its connector, for which the transaction needs a permit. The caller runs the action.
   * Undefined if the action does not wait for approval, or waited too long.
   */
  async approve(tx: Tx, id: string, approval: ApprovalToGive): Promise<Action | undefined> {
    const approved = await this.actions.approve(tx, id, {
      ...approval,
      at: this.clock.now(),
      leaseMs: approval.connectorId ? this.settings.actionLeaseMs : this.runs.graceMs,
      ttlMinutes: this.settings.approvalTtlMinutes,
    });
    if (approved) await this.recorder.record(tx, 'approved', approval.by, [approved]);
    return approved;
  }

  /** Undefined if the action no longer waits for approval. */
  async reject(tx: Tx, id: string, by: string, reason: string): Promise<Action | undefined> {
    const rejected = await this.actions.reject(tx, id, { by, at: this.clock.now(), reason });
    if (rejected) await this.recorder.record(tx, 'rejected', by, [rejected]);
    return rejected;
  }

  /** Reason for the rejection of an action that nobody decided on in time. */
  get expiredReason(): string {
    const { approvalTtlMinutes: minutes } = this.settings;
    return `Nobody decided on it within ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
  }

  /** Reminds of at most `limit` actions that expire soon. Returns their number. */
  async remindOfExpiry(tx: Tx, limit: number): Promise<number> {
    const ttl = this.settings.approvalTtlMinutes;
    const expiring = await this.actions.remind(tx, ttl, limit);
    await this.recorder.remind(
      tx,
      expiring.map((action) => withExpiry(action, ttl)),
    );
    return expiring.length;
  }

  /** Rejects at most `limit` actions that nobody decided on in time. Returns their number. */
  async rejectExpired(tx: Tx, limit: number): Promise<number> {
    const reason = this.expiredReason;
    const rejection = { by: SYSTEM, at: this.clock.now(), reason, code: 'expired' } as const;
    const ttl = this.settings.approvalTtlMinutes;
    const rejected = await this.actions.rejectExpired(tx, ttl, rejection, limit);
    await this.recorder.record(tx, 'rejected', SYSTEM, rejected);
    return rejected.length;
  }
}

/**
 * Ends actions that have not begun: when a held action is discarded, when an incident is deleted or closed with
 * `pending: withdraw`, and when a playbook run is cancelled. It also counts held actions and calls under way for the kill
 * switch.
 */
@Injectable()
export class ActionWithdrawal implements OnModuleInit {
  constructor(
    private readonly killSwitch: KillSwitch,
    private readonly endings: IncidentEndings,
    private readonly actions: ActionsRepository,
    private readonly recorder: ActionRecorder,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.killSwitch.registerInFlight(() => this.actions.countUnderWay());
    this.killSwitch.registerHeld('actions', {
      count: () => this.actions.countUnclaimed(),
      discard: (tx, caller) => this.discard(tx, caller),
    });
    this.endings.register({
      onDeleted: async (tx, incidentId) => {
        await this.rejectOfIncident(tx, incidentId, SYSTEM, 'Its incident was deleted.');
      },
      pending: {
        name: 'actions',
        count: (tx, incidentId) => this.actions.countPendingOf(tx, incidentId),
        withdraw: (...ending) => this.rejectOfIncident(...ending),
      },
    });
  }

  /** Rejects the action if it has not begun. Does nothing if it has begun or waits for approval. */
  async withdraw(tx: Tx, id: string, by: string, reason: string): Promise<void> {
    const rejection = { by, at: this.clock.now(), reason };
    const rejected = await this.actions.rejectUnclaimed(tx, id, rejection);
    if (rejected) await this.recorder.record(tx, 'rejected', by, [rejected]);
  }

  private async discard(tx: Tx, caller: Caller): Promise<number> {
    const at = this.clock.now();
    const reason = `Discarded by ${caller.name}, who turned the kill switch off.`;
    const rejected = await this.actions.rejectHeld(tx, { by: SYSTEM, at, reason });
    await this.recorder.record(tx, 'rejected', SYSTEM, rejected);
    const unknown = resultOfLoss({
      kind: 'stopped',
      message: reason,
      sent: true,
      idempotent: false,
    });
    const failed = await this.actions.failHeld(tx, unknown, at);
    await this.recorder.record(tx, 'failed', SYSTEM, failed);
    return rejected.length + failed.length;
  }

  private async rejectOfIncident(
    tx: Tx,
    incidentId: string,
    by: string,
    reason: string,
  ): Promise<number> {
    const rejection = { by, at: this.clock.now(), reason };
    const rejected = await this.actions.rejectOfIncident(tx, incidentId, rejection);
    await this.recorder.record(tx, 'rejected', by, rejected);
    return rejected.length;
  }
}
