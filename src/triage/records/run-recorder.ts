import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { incidentEvent } from '../../incidents/change-records.js';
import type { Incident } from '../../incidents/incident.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import type { Tx } from '../../platform/database/transactions.js';
import { DomainEvents } from '../../platform/jobs/events/domain-events.js';
import { SYSTEM, TRIAGE_EVENTS, type TriageRun } from '../triage-run.js';
import { completionInWords } from './run-words.js';

/** Writes what is told of a run into the audit trail, the timeline and the outbox, in the transaction of its change. */
@Injectable()
export class RunRecorder {
  constructor(
    private readonly audit: AuditLog,
    private readonly timeline: IncidentTimeline,
    private readonly events: DomainEvents,
  ) {}

  async requested(tx: Tx, run: TriageRun): Promise<void> {
    const { force, playbook } = run;
    await this.note(tx, TRIAGE_EVENTS.requested, run.requestedBy, run, { force, playbook });
  }

  async completed(tx: Tx, run: TriageRun): Promise<void> {
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
      summary: completionInWords(run),
    });
  }

  /** @param incident undefined when it was deleted meanwhile: then nobody sees its timeline, and nobody is to be told */
  async failed(tx: Tx, run: TriageRun, incident: Incident | undefined): Promise<void> {
    const { reason, message } = run.error!;
    await this.note(tx, TRIAGE_EVENTS.failed, SYSTEM, run, { reason, message });
    if (!incident) return;
    const summary = `Triage failed: ${message}`;
    await this.timeline.add(tx, { ...aboutRun(run), event: 'triage_failed', summary });
    const about = incidentEvent(TRIAGE_EVENTS.failed, incident.id, incident);
    await this.events.record(tx, {
      ...about,
      payload: { ...about.payload, triage_id: run.id, reason, message },
    });
  }

  private async note(
    tx: Tx,
    action: (typeof TRIAGE_EVENTS)[keyof typeof TRIAGE_EVENTS],
    actor: string,
    { id, incidentId }: TriageRun,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const subject = { type: 'triage', id };
    await this.audit.record(tx, {
      actor,
      action,
      subject,
      details: { incident_id: incidentId, ...details },
    });
  }
}

function aboutRun({ id, incidentId }: TriageRun) {
  return { incidentId, actor: SYSTEM, subject: { type: 'triage', id } };
}
