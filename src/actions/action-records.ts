import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import type { AuditEntry } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { beginAtZero } from '../platform/metrics/metrics.js';
import { afterCommit, type Tx } from '../platform/database/transactions.js';
import {
  IncidentTimeline,
  type NewTimelineEntry,
  type TimelineDetails,
} from '../incidents/timeline/incident-timeline.js';
import { DomainEvents, type NewEvent } from '../platform/work/domain-events.js';
import { type Action, type ActionChange, FAILURE_CODES, hasEnded, withShownIds } from './action.js';
import { ACTION_TYPES, actionType } from '../action-catalogue/action-types.js';
import { RequiredLevels } from './required-levels.js';
import { shortened, titleLine } from '../incidents/raw-data-text.js';
import { shownStart, storable } from '../platform/text.js';

export const ACTION_EVENTS = {
  pendingApproval: 'action.pending_approval',
  /** Sent after 50 % and after 90 % of the approval window. */
  expiring: 'action.expiring',
  /** Sent only if a playbook run requested the action, because the run waits for the action. */
  approved: 'action.approved',
  completed: 'action.completed',
  failed: 'action.failed',
  rejected: 'action.rejected',
} as const;

export interface ActionChanged {
  readonly change: ActionChange;
  readonly actor: string;
  readonly action: Action;
  /** True if the action ends in the transaction that creates the action. */
  readonly atOnce?: true;
}

/** Records each change in its transaction: audit record, timeline entry, event. Metrics count it after the commit. */
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
    private readonly levels: RequiredLevels,
  ) {}

  onModuleInit(): void {
    beginAtZero(this.executed, { action_type: ACTION_TYPES, status: ['completed', 'failed'] });
    beginAtZero(this.failures, { action_type: ACTION_TYPES, code: FAILURE_CODES });
  }

  async record(tx: Tx, changes: readonly ActionChanged[]): Promise<void> {
    const shown = changes.map((one) => ({ ...one, action: withShownIds(one.action) }));
    await this.audit.record(tx, ...shown.map(auditEntryOf));
    await this.timeline.add(tx, ...shown.flatMap(timelineOf));
    await this.events.record(tx, ...shown.flatMap((one) => this.eventsOf(one)));
    afterCommit(tx, () => {
      for (const { change, action } of changes) {
        if (change !== 'completed' && change !== 'failed') continue;
        const { action_type, status, result } = action;
        this.executed.inc({ action_type, status });
        if (result?.code) this.failures.inc({ action_type, code: result.code });
      }
    });
  }

  /** The actions do not change, so there is no audit record and no timeline entry. */
  async remind(tx: Tx, actions: readonly Action[]): Promise<void> {
    const { expiring: type } = ACTION_EVENTS;
    for (const action of actions.map(withShownIds)) {
      const payload = this.payloadOf(type, action);
      await this.events.record(tx, { type, subject: subjectOf(action), payload });
    }
  }

  private eventsOf({ change, action, atOnce }: ActionChanged): NewEvent[] {
    const type = eventTypeOf(change, action);
    if (!type) return [];
    // `at_once`: the playbook run has already seen the end of the action, so the event does not need to wake the run.
    const payload = { ...this.payloadOf(type, action), at_once: atOnce };
    return [{ type, subject: subjectOf(action), payload }];
  }

  private payloadOf(type: string, action: Action) {
    const { action_type, requested_by, incident, result } = action;
    const { approved_by, rejected_by, incident_id, approval_level } = action;
    const waits = type === ACTION_EVENTS.pendingApproval || type === ACTION_EVENTS.expiring;
    const reason = reasonOf(action);
    return {
      action_type,
      target: targetOf(action),
      requested_by,
      reason: reason && shownStart(reason, LONGEST_REASON),
      expires_at: action.expires_at?.toISOString(),
      approved_by,
      rejected_by,
      incident_id,
      incident_number: incident?.incident_number,
      incident_title: incident?.title,
      severity: incident?.severity,
      approval_level,
      level_reason: waits ? this.levels.reasonFor(action) : undefined,
      rollback_of: action.rollback_of,
      playbook_run_id: action.playbook_run_id,
      message: messageOf(action),
      code: result?.code,
      simulated: result?.simulated && true,
    };
  }
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

const subjectOf = ({ id }: Action) => ({ type: 'action', id });

function auditEntryOf({ change, actor, action }: ActionChanged): AuditEntry {
  const { action_type, incident_id } = action;
  const details = { action_type, incident_id, ...RECORDED[change](action).audit };
  return { actor, action: `action.${change}`, subject: subjectOf(action), details };
}

function timelineOf({ change, actor, action }: ActionChanged): NewTimelineEntry[] {
  const { action_type, incident_id: incidentId, rollback_of } = action;
  if (incidentId === undefined) return [];
  const { summary, timeline } = RECORDED[change](action);
  const details = { action_type, target: targetOf(action), rollback_of, ...timeline };
  const subject = subjectOf(action);
  return [{ incidentId, event: `action_${change}`, actor, summary, subject, details }];
}

interface Recorded {
  /** Timeline text. Third-party text in the summary is quoted or comes last. */
  readonly summary: string;
  readonly audit: Readonly<Record<string, unknown>>;
  readonly timeline?: TimelineDetails;
}

const RECORDED: Readonly<Record<ActionChange, (action: Action) => Recorded>> = {
  requested: (action) => {
    const { parameters, status, approval_level, rollback_of, reason } = action;
    const { playbook_run_id, on_behalf_of } = action;
    const why = rollback_of ? ` to roll back ${rollback_of}` : '';
    const waits = `, which waits for approval at level ${approval_level}`;
    const until = status === 'pending_approval' ? waits : '';
    const given = reasonOf(action);
    return {
      summary: `Requested ${inWords(action)}${why}${until}.${said('Reason', given)}`,
      audit: {
        parameters,
        status,
        approval_level,
        rollback_of,
        playbook_run_id,
        on_behalf_of,
        reason,
      },
      timeline: { parameters, reason: given },
    };
  },
  approved: (action) => {
    const { parameters, approval_level, comment, incident } = action;
    const incident_status = incident?.status === 'resolved' ? 'resolved' : undefined;
    return {
      summary: `Approved ${inWords(action)}.${said('Comment', comment)}`,
      audit: { parameters, approval_level, comment, incident_status },
      timeline: { comment },
    };
  },
  rejected: (action) => {
    const { rejection_reason: reason } = action;
    return { summary: ending('Rejected', action), audit: { reason }, timeline: { reason } };
  },
  completed: (action) => ({ summary: ending('Completed', action), audit: endOf(action) }),
  failed: (action) => ({ summary: ending('Could not complete', action), audit: endOf(action) }),
};

const LONGEST_MESSAGE = 1_000;
const LONGEST_TARGET = 500;
const LONGEST_REASON = 500;
const LONGEST_TARGET_IN_SUMMARY = 120;

const endOf = ({ result, connector_id: connector }: Action) => ({ result, connector });
const ending = (verb: string, action: Action) => `${verb} ${inWords(action)}: ${messageOf(action)}`;

function inWords(action: Action): string {
  const target = titleLine(targetOf(action), LONGEST_TARGET_IN_SUMMARY) ?? '';
  return `${action.action_type} ${JSON.stringify(target)}`;
}

function messageOf(action: Action): string | undefined {
  if (!hasEnded(action)) return undefined;
  const text = action.status === 'rejected' ? action.rejection_reason : action.result?.message;
  return text === undefined ? undefined : shownStart(text, LONGEST_MESSAGE);
}

function targetOf({ action_type, parameters }: Action): string {
  const { name } = actionType(action_type).parameters[0]!;
  return shownStart(String(parameters[name]), LONGEST_TARGET);
}

function reasonOf({ reason, parameters }: Action): string | undefined {
  const given = reason ?? parameters['reason'];
  return typeof given === 'string' ? given : undefined;
}

function said(label: string, text: string | undefined): string {
  return text ? ` ${label}: ${shortened(storable(text), LONGEST_MESSAGE)}` : '';
}
