import { Injectable, Logger } from '@nestjs/common';
import type { AuditEntry } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import { incidentEvent } from '../../incidents/change-records.js';
import type { IncidentSummary } from '../../incidents/incident.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import type { NewEvent } from '../../platform/work/domain-event.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { noPersonAsked, SYSTEM, TRIAGE_EVENTS, type TriageRun } from '../triage-run.js';
import { completionInWords, requestInWords } from './run-words.js';

/** Writes what is told of a run into the audit trail, the timeline and the outbox, in the transaction of its change. */
@Injectable()
export class RunRecorder {
  private readonly log = new Logger('Triage');

  constructor(
    private readonly audit: AuditLog,
    private readonly timeline: IncidentTimeline,
    private readonly events: DomainEvents,
  ) {}

  async requested(tx: Tx, run: TriageRun): Promise<void> {
    const { force, playbook } = run;
    await this.note(tx, TRIAGE_EVENTS.requested, run.requestedBy, run, { force, playbook });
    // Of a run that somebody waits for, its end tells soon enough.
    if (run.status !== 'queued') return;
    await this.timeline.add(tx, {
      ...aboutRun(run),
      event: 'triage_requested',
      summary: requestInWords(run),
    });
  }

  /** @param isProposed whether the verdict stands beside that of a person, which is older than the report */
  async completed(tx: Tx, run: TriageRun, isProposed: boolean): Promise<void> {
    const { verdict, provider, model, notApplied, recommendedActions, promptHash } = run;
    await this.note(tx, TRIAGE_EVENTS.completed, SYSTEM, run, {
      classification: verdict?.classification,
      recommended_actions: recommendedActions,
      provider,
      model,
      prompt_hash: promptHash,
      not_applied: notApplied,
    });
    await this.timeline.add(tx, {
      ...aboutRun(run),
      event: 'triage_completed',
      summary: completionInWords(run, isProposed),
    });
  }

  /** @param incident undefined when it was deleted meanwhile: then nobody sees its timeline, and nobody is to be told */
  async failed(tx: Tx, run: TriageRun, incident: IncidentSummary | undefined): Promise<void> {
    await this.allFailed(tx, [run], new Map(incident && [[incident.id, incident]]));
    // Nobody is there who would be answered.
    if (!incident || !noPersonAsked(run)) return;
    const line = `${incident.incident_number} is not triaged: ${run.error?.reason}. A person has to.`;
    afterCommit(tx, () => this.log.warn({ triage: run.id }, line));
  }

  /** It ended without a question, because people were faster: whoever listens for failures is not told. */
  async dropped(tx: Tx, run: TriageRun): Promise<void> {
    await this.note(tx, TRIAGE_EVENTS.failed, SYSTEM, run, { ...run.error });
    await this.timeline.add(tx, {
      ...aboutRun(run),
      event: 'triage_failed',
      summary: `Not triaged: ${run.error?.message}`,
    });
  }

  /** The same for many runs at once. @param incidents by their ids, without the deleted ones */
  async allFailed(
    tx: Tx,
    runs: readonly TriageRun[],
    incidents: ReadonlyMap<string, IncidentSummary>,
  ): Promise<void> {
    await this.audit.record(
      tx,
      ...runs.map((run) => auditEntry(TRIAGE_EVENTS.failed, SYSTEM, run, { ...run.error })),
    );
    const told = runs.filter(({ incidentId }) => incidents.has(incidentId));
    await this.timeline.add(
      tx,
      ...told.map((run) => ({
        ...aboutRun(run),
        event: 'triage_failed',
        summary: `Triage failed: ${run.error?.message}`,
      })),
    );
    await this.events.record(
      tx,
      ...told.map((run) => failureEvent(run, incidents.get(run.incidentId)!)),
    );
  }

  private async note(tx: Tx, ...entry: Parameters<typeof auditEntry>): Promise<void> {
    await this.audit.record(tx, auditEntry(...entry));
  }
}

function auditEntry(
  action: (typeof TRIAGE_EVENTS)[keyof typeof TRIAGE_EVENTS],
  actor: string,
  { id, incidentId }: TriageRun,
  details: Readonly<Record<string, unknown>>,
): AuditEntry {
  const subject = { type: 'triage', id };
  return { actor, action, subject, details: { incident_id: incidentId, ...details } };
}

function failureEvent(run: TriageRun, incident: IncidentSummary): NewEvent {
  return incidentEvent(TRIAGE_EVENTS.failed, incident, { triage_id: run.id, ...run.error });
}

function aboutRun({ id, incidentId, requestedBy }: TriageRun) {
  return { incidentId, actor: requestedBy, subject: { type: 'triage', id } };
}
