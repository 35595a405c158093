import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import type { AuditEntry } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { Clock } from '../platform/clock.js';
import { beginAtZero } from '../platform/metrics/metrics.js';
import { afterCommit, type Tx } from '../platform/database/transactions.js';
import { IncidentTimeline } from '../incidents/timeline/incident-timeline.js';
import type { NewTimelineEntry, TimelineDetails } from '../incidents/timeline/timeline-entry.js';
import { eventOf, type NewEvent } from '../platform/work/domain-event.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import type { Severity } from '../incidents/incident.js';
import {
  type Action,
  FAILURE_CODES,
  type FailureCode,
  hasEnded,
  type RequiredLevel,
  shownActionId,
} from './action.js';
import { ACTION_TYPES, actionType } from '../action-catalogue/action-types.js';
import { RequiredLevels } from './required-levels.js';
import { Statements } from '../platform/database/statements.js';
import { type ChangeRecords, INSERT_RECORDS, recordValues } from './action-rows.js';
import { shortened, titleLine } from '../incidents/raw-data-text.js';
import { shownStart, storable } from '../platform/text.js';

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
  /** While it waits for approval: why it needs a higher level than its type. */
  readonly level_reason?: string;
  readonly rollback_of?: string;
  readonly playbook_run_id?: string;
  readonly message?: string;
  /** Why it failed. */
  readonly code?: FailureCode;
  /** A sandbox answered, and nothing happened outside the service. */
  readonly simulated?: true;
  /** It ended in the transaction that created it, so nobody waits for its end. Channels are not told. */
  readonly at_once?: true;
}

/** One change of one action, and who made it. */
export interface ActionChanged {
  readonly change: ActionChange;
  readonly actor: string;
  /** As it is after the change. */
  readonly action: Action;
  /** The action ends in the transaction that creates it. */
  readonly atOnce?: true;
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
    private readonly statements: Statements,
    private readonly clock: Clock,
    private readonly levels: RequiredLevels,
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
      await this.events.record(
        tx,
        this.withReason(actionEvent(ACTION_EVENTS.expiring, action), action),
      );
    }
  }

  /** Many changes of many actors, in one statement. */
  async recordAll(tx: Tx, changes: readonly ActionChanged[]): Promise<void> {
    if (changes.length === 0) return;
    const records = this.recordsOf(changes);
    await this.statements.rowsIn(tx, INSERT_RECORDS, recordValues(records));
    afterCommit(tx, () => this.recorded(records, changes));
  }

  /** For a hot path that inserts the records in the statement of its change (see ActionEndings). */
  recordsOf(changes: readonly ActionChanged[]): ChangeRecords {
    const now = this.clock.now();
    return {
      audit: this.audit.valuesOfAll(changes.map(auditEntryOf)),
      timeline: this.timeline.valuesOf(changes.flatMap(timelineOf)),
      events: changes.flatMap((one) => this.toldOf(one)).map((event) => eventOf(event, now)),
    };
  }

  /** To be called when that statement has committed, with the changes that it has really made. */
  recorded({ events }: ChangeRecords, changes: readonly ActionChanged[]): void {
    if (events.length > 0) this.events.wake();
    for (const changed of changes) this.count(changed);
  }

  private toldOf(changed: ActionChanged): NewEvent<ActionEventPayload>[] {
    return eventsOf(changed).map((event) =>
      event.type === ACTION_EVENTS.pendingApproval ? this.withReason(event, changed.action) : event,
    );
  }

  private withReason(
    event: NewEvent<ActionEventPayload>,
    action: Action,
  ): NewEvent<ActionEventPayload> {
    const level_reason = this.levels.reasonFor(action);
    return level_reason ? { ...event, payload: { ...event.payload, level_reason } } : event;
  }

  private count({ change, action: { action_type, status, result } }: ActionChanged): void {
    if (change !== 'completed' && change !== 'failed') return;
    this.executed.inc({ action_type, status });
    if (result?.code) this.failures.inc({ action_type, code: result.code });
  }
}

function auditEntryOf({ change, actor, action }: ActionChanged): AuditEntry {
  const subject = { type: 'action', id: shownActionId(action.id) };
  return { actor, action: `action.${change}`, subject, details: auditDetails(change, action) };
}

function timelineOf({ change, actor, action }: ActionChanged): NewTimelineEntry[] {
  const { incident_id, id } = action;
  if (incident_id === undefined) return [];
  const subject = { type: 'action', id: shownActionId(id) };
  return [
    {
      incidentId: incident_id,
      event: `action_${change}`,
      actor,
      summary: changeInWords(change, action),
      subject,
      details: timelineDetails(change, action),
    },
  ];
}

function eventsOf({ change, action, atOnce }: ActionChanged) {
  const type = eventTypeOf(change, action);
  if (!type) return [];
  const event = actionEvent(type, action, messageOf(change, action));
  return [atOnce ? { ...event, payload: { ...event.payload, at_once: atOnce } } : event];
}

function actionEvent(type: string, action: Action, message?: string): NewEvent<ActionEventPayload> {
  const payload: ActionEventPayload = {
    action_type: action.action_type,
    target: targetOf(action),
    requested_by: action.requested_by,
    reason: shownReason(action),
    expires_at: action.expires_at?.toISOString(),
    approved_by: action.approved_by,
    rejected_by: action.rejected_by,
    incident_id: action.incident_id,
    incident_number: action.incident?.incident_number,
    incident_title: action.incident?.title,
    severity: action.incident?.severity,
    approval_level: action.approval_level,
    rollback_of: action.rollback_of && shownActionId(action.rollback_of),
    playbook_run_id: action.playbook_run_id,
    message,
    code: action.result?.code,
    simulated: action.result?.simulated && true,
  };
  return { type, subject: { type: 'action', id: shownActionId(action.id) }, payload };
}

function eventTypeOf(
  change: ActionChange,
  { status, playbook_run_id }: Action,
): string | undefined {
  if (change === 'requested') {
    return status === 'pending_approval' ? ACTION_EVENTS.pendingApproval : undefined;
  }
  if (change === 'approved' && playbook_run_id === undefined) return undefined;
  return ACTION_EVENTS[change];
}

function auditDetails(change: ActionChange, action: Action): Record<string, unknown> {
  const { action_type, incident_id, parameters, approval_level, rollback_of, reason, result } =
    action;
  const about = { action_type, incident_id };
  switch (change) {
    case 'requested':
      return {
        ...about,
        parameters,
        status: action.status,
        approval_level,
        rollback_of: rollback_of && shownActionId(rollback_of),
        playbook_run_id: action.playbook_run_id,
        on_behalf_of: action.on_behalf_of,
        reason,
      };
    case 'approved':
      return {
        ...about,
        parameters,
        approval_level,
        comment: action.comment,
        incident_status: action.incident?.status === 'resolved' ? 'resolved' : undefined,
      };
    case 'rejected':
      return { ...about, reason: action.rejection_reason };
    case 'completed':
    case 'failed':
      return { ...about, result, connector: action.connector_id };
  }
}

export type ActionChange = 'requested' | 'approved' | 'rejected' | 'completed' | 'failed';

const LONGEST_MESSAGE = 1_000;
const LONGEST_TARGET = 500;
const LONGEST_REASON = 500;
/** In the words of the timeline; its details have more of it. */
const LONGEST_TARGET_TOLD = 120;

/** What happened to the action, for the timeline. What others wrote is in quotes, or comes last. */
export function changeInWords(change: ActionChange, action: Action): string {
  const { status, approval_level } = action;
  const what = `${action.action_type} ${targetInWords(action)}`;
  const message = messageOf(change, action);
  switch (change) {
    case 'requested': {
      const why = action.rollback_of ? ` to roll back ${shownActionId(action.rollback_of)}` : '';
      const waits =
        status === 'pending_approval'
          ? `, which waits for approval at level ${approval_level}`
          : '';
      return `Requested ${what}${why}${waits}.${said('Reason', reasonOf(action))}`;
    }
    case 'approved':
      return `Approved ${what}.${said('Comment', action.comment)}`;
    case 'rejected':
      return `Rejected ${what}: ${message}`;
    case 'completed':
      return `Completed ${what}: ${message}`;
    case 'failed':
      return `Could not complete ${what}: ${message}`;
  }
}

/** The same for programs, and whole. */
function timelineDetails(change: ActionChange, action: Action): TimelineDetails {
  const { action_type, parameters, rollback_of, comment, rejection_reason } = action;
  const about = {
    action_type,
    target: targetOf(action),
    rollback_of: rollback_of && shownActionId(rollback_of),
  };
  switch (change) {
    case 'requested':
      return { ...about, parameters, reason: reasonOf(action) };
    case 'approved':
      return { ...about, comment };
    case 'rejected':
      return { ...about, reason: rejection_reason };
    case 'completed':
    case 'failed':
      return about;
  }
}

/** How it ended, in words; cut when it is long. */
export function messageOf(change: ActionChange, action: Action): string | undefined {
  const text = change === 'rejected' ? action.rejection_reason : action.result?.message;
  return hasEnded(action) && text !== undefined ? shownStart(text, LONGEST_MESSAGE) : undefined;
}

/** The value of its first parameter, cut when it is long. */
export function targetOf({ action_type, parameters }: Action): string {
  const { name } = actionType(action_type).parameters[0]!;
  return shownStart(String(parameters[name]), LONGEST_TARGET);
}

function targetInWords(action: Action): string {
  return JSON.stringify(titleLine(targetOf(action), LONGEST_TARGET_TOLD) ?? '');
}

/** The beginning of why it was asked for; undefined where nobody said. */
function shownReason(action: Action): string | undefined {
  const reason = reasonOf(action);
  return reason ? shownStart(reason, LONGEST_REASON) : undefined;
}

/** Of a rollback why it is rolled back, else what was given as the parameter of that name. */
function reasonOf({ reason, parameters }: Action): string | undefined {
  const given = reason ?? parameters['reason'];
  return typeof given === 'string' ? given : undefined;
}

function said(what: string, words: string | undefined): string {
  return words ? ` ${what}: ${shortened(storable(words), LONGEST_MESSAGE)}` : '';
}
