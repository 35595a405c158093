import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import type { AuditEntry } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../platform/clock.js';
import { beginAtZero } from '../../platform/metrics/known-series.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import type { NewTimelineEntry } from '../../incidents/timeline/timeline-entry.js';
import { eventOf, type NewEvent } from '../../platform/jobs/events/domain-event.js';
import { DomainEvents } from '../../platform/jobs/events/domain-events.js';
import type { Severity } from '../../incidents/incident.js';
import { type Action, FAILURE_CODES, type FailureCode, type RequiredLevel } from '../action.js';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { shownActionId } from '../action-id.js';
import {
  type ActionChange,
  changeInWords,
  messageOf,
  shownReason,
  targetOf,
  timelineDetails,
} from './action-words.js';
import { ActionRecordsRepository, type ChangeRecords } from './action-records.repository.js';

/** The domain events of this module, by their names. */
export const ACTION_EVENTS = {
  pendingApproval: 'action.pending_approval',
  /** Half, and then nine tenths, of its time for approval is over. */
  expiring: 'action.expiring',
  /** Of a playbook's action alone: its run waits for nobody any more. */
  approved: 'action.approved',
  completed: 'action.completed',
  failed: 'action.failed',
  rejected: 'action.rejected',
} as const;

/** What the events of this module carry. */
export interface ActionEventPayload {
  readonly action_type: string;
  /** What the action is done to: the value of its first parameter, cut when it is long. */
  readonly target: string;
  readonly requested_by: string;
  /** Why it was asked for. */
  readonly reason?: string;
  /** While it waits for approval: until when. */
  readonly expires_at?: string;
  readonly approved_by?: string;
  readonly rejected_by?: string;
  readonly incident_id?: string;
  /** Of the incident at that time, like the severity. */
  readonly incident_number?: string;
  readonly incident_title?: string;
  readonly severity?: Severity;
  readonly approval_level?: RequiredLevel;
  readonly rollback_of?: string;
  readonly playbook_run_id?: string;
  readonly message?: string;
  /** Why it failed. */
  readonly code?: FailureCode;
  /** Nothing happened outside: a sandbox answered. */
  readonly simulated?: true;
}

/** One change of one action, and who made it. */
export interface ActionChanged {
  readonly change: ActionChange;
  readonly actor: string;
  /** As it is after the change. */
  readonly action: Action;
}

/**
 * Records each change of actions in the transaction that makes it: an audit record, a line in the incident's timeline, and
 * the event for the modules above. Metrics count it when the transaction has committed.
 */
@Injectable()
export class ActionRecorder implements OnModuleInit {
  constructor(
    private readonly audit: AuditLog,
    private readonly timeline: IncidentTimeline,
    private readonly events: DomainEvents,
    @InjectMetric('actions_executed_total')
    private readonly executed: Counter<'action_type' | 'status'>,
    @InjectMetric('action_failures_total')
    private readonly failures: Counter<'action_type' | 'code'>,
    private readonly records: ActionRecordsRepository,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    beginAtZero(this.executed, { action_type: ACTION_TYPES, status: ['completed', 'failed'] });
    beginAtZero(this.failures, { action_type: ACTION_TYPES, code: FAILURE_CODES });
  }

  async record(
    tx: Tx,
    change: ActionChange,
    actor: string,
    actions: readonly Action[],
  ): Promise<void> {
    await this.recordAll(
      tx,
      actions.map((action) => ({ change, actor, action })),
    );
  }

  /** Tells that they expire soon. Nobody changed them, so there is nothing else to record. */
  async remind(tx: Tx, actions: readonly Action[]): Promise<void> {
    for (const action of actions) {
      await this.events.record(tx, actionEvent(ACTION_EVENTS.expiring, action));
    }
  }

  /** Many changes of many actors, in one statement. */
  async recordAll(tx: Tx, changes: readonly ActionChanged[]): Promise<void> {
    if (changes.length === 0) return;
    const records = this.recordsOf(changes);
    await this.records.insert(tx, records);
    afterCommit(tx, () => this.recorded(records, changes));
  }

  /** For a hot path that inserts the records in the statement of its change (see ActionEndings). */
  recordsOf(changes: readonly ActionChanged[]): ChangeRecords {
    const now = this.clock.now();
    return {
      audit: this.audit.valuesOfAll(changes.map(auditEntryOf)),
      timeline: this.timeline.valuesOf(changes.flatMap(timelineOf)),
      events: changes.flatMap(eventsOf).map((event) => eventOf(event, now)),
    };
  }

  /** To be called when that statement has committed, with the changes that it has really made. */
  recorded({ audit, events }: ChangeRecords, changes: readonly ActionChanged[]): void {
    this.audit.count(audit, changes.length);
    if (events.length > 0) this.events.wake();
    for (const changed of changes) this.count(changed);
  }

  private count({ change, action: { type, status, result } }: ActionChanged): void {
    if (change !== 'completed' && change !== 'failed') return;
    this.executed.inc({ action_type: type, status });
    if (result?.code) this.failures.inc({ action_type: type, code: result.code });
  }
}

function auditEntryOf({ change, actor, action }: ActionChanged): AuditEntry {
  const subject = { type: 'action', id: shownActionId(action.id) };
  return { actor, action: `action.${change}`, subject, details: auditDetails(change, action) };
}

function timelineOf({ change, actor, action }: ActionChanged): NewTimelineEntry[] {
  const { incidentId, id } = action;
  if (incidentId === undefined) return [];
  const subject = { type: 'action', id: shownActionId(id) };
  return [
    {
      incidentId,
      event: `action_${change}`,
      actor,
      summary: changeInWords(change, action),
      subject,
      details: timelineDetails(change, action),
    },
  ];
}

function eventsOf({ change, action }: ActionChanged) {
  const type = eventTypeOf(change, action);
  return type ? [actionEvent(type, action, messageOf(change, action))] : [];
}

function actionEvent(type: string, action: Action, message?: string): NewEvent<ActionEventPayload> {
  const payload: ActionEventPayload = {
    action_type: action.type,
    target: targetOf(action),
    requested_by: action.requestedBy,
    reason: shownReason(action),
    expires_at: action.expiresAt?.toISOString(),
    approved_by: action.approvedBy,
    rejected_by: action.rejectedBy,
    incident_id: action.incidentId,
    incident_number: action.incident?.incidentNumber,
    incident_title: action.incident?.title,
    severity: action.incident?.severity,
    approval_level: action.approvalLevel,
    rollback_of: action.rollbackOf && shownActionId(action.rollbackOf),
    playbook_run_id: action.playbookRunId,
    message,
    code: action.result?.code,
    simulated: action.result?.simulated && true,
  };
  return { type, subject: { type: 'action', id: shownActionId(action.id) }, payload };
}

function eventTypeOf(change: ActionChange, { status, playbookRunId }: Action): string | undefined {
  if (change === 'requested') {
    return status === 'pending_approval' ? ACTION_EVENTS.pendingApproval : undefined;
  }
  if (change === 'approved' && playbookRunId === undefined) return undefined;
  return ACTION_EVENTS[change];
}

function auditDetails(change: ActionChange, action: Action): Record<string, unknown> {
  const { type, incidentId, parameters, approvalLevel, rollbackOf, reason, result } = action;
  const about = { action_type: type, incident_id: incidentId };
  switch (change) {
    case 'requested':
      return {
        ...about,
        parameters,
        status: action.status,
        approval_level: approvalLevel,
        rollback_of: rollbackOf && shownActionId(rollbackOf),
        playbook_run_id: action.playbookRunId,
        on_behalf_of: action.onBehalfOf,
        reason,
      };
    case 'approved':
      return {
        ...about,
        parameters,
        approval_level: approvalLevel,
        comment: action.comment,
        incident_status: action.incident?.status === 'resolved' ? 'resolved' : undefined,
      };
    case 'rejected':
      return { ...about, reason: action.rejectionReason };
    case 'completed':
    case 'failed':
      return { ...about, result, connector: action.connectorId };
  }
}
