import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { LockedIncident } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { type Action, SYSTEM, UNDECIDED, withExpiry } from '../action.js';
import { ActionRecorder } from '../records/action-recorder.js';
import { ActionsRepository, type Approval } from '../records/actions.repository.js';
import { AwaitedRuns } from '../execution/awaited-runs.js';

export interface LockedAction {
  readonly action: Action;
  /** Absent for direct actions, and when it was deleted. */
  readonly incident?: LockedIncident;
}

export type ApprovalToGive = Pick<Approval, 'by' | 'level' | 'comment' | 'connectorId'>;

/** Every way out of `pending_approval`: approved, rejected, or waited too long. Who may decide is for the caller to judge. */
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

  /**
   * Locks the incident and then the action until the transaction ends: a deletion locks them in the same order, so that
   * the two never wait for each other. Undefined when there is no such action.
   */
  async lock(tx: Tx, { id, incidentId }: Action): Promise<LockedAction | undefined> {
    const incident =
      incidentId === undefined ? undefined : await this.incidents.lockForShare(tx, incidentId);
    const action = await this.actions.lockById(tx, id);
    return action && { action, incident };
  }

  /**
   * Undefined when it does not wait for approval, or has waited too long. It is claimed for the connector, where one
   * provides it: the transaction needs a permit then. Whoever calls it runs the action.
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

  /** Undefined when it did not wait for approval any more. */
  async reject(tx: Tx, id: string, by: string, reason: string): Promise<Action | undefined> {
    const rejected = await this.actions.reject(tx, id, { by, at: this.clock.now(), reason });
    if (rejected) await this.recorder.record(tx, 'rejected', by, [rejected]);
    return rejected;
  }

  /** Why an action that nobody decided on in time is rejected. */
  get expiredReason(): string {
    const { approvalTtlMinutes: minutes } = this.settings;
    return `${UNDECIDED} ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
  }

  /** Tells of at most `limit` actions that they expire soon; returns how many those were. */
  async remindOfExpiry(tx: Tx, limit: number): Promise<number> {
    const ttl = this.settings.approvalTtlMinutes;
    const expiring = await this.actions.remind(tx, ttl, limit);
    await this.recorder.remind(
      tx,
      expiring.map((action) => withExpiry(action, ttl)),
    );
    return expiring.length;
  }

  /** Rejects at most `limit` of those that nobody decided on in time; answers how many those were. */
  async rejectExpired(tx: Tx, limit: number): Promise<number> {
    const rejection = { by: SYSTEM, at: this.clock.now(), reason: this.expiredReason };
    const ttl = this.settings.approvalTtlMinutes;
    const rejected = await this.actions.rejectExpired(tx, ttl, rejection, limit);
    await this.recorder.record(tx, 'rejected', SYSTEM, rejected);
    return rejected.length;
  }
}
