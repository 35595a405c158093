import { Injectable, Logger } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { incidentEvent, type IncidentEventPayload } from '../../incidents/change-records.js';
import type { Incident } from '../../incidents/incident.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import { shownName } from '../../platform/text.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { defang } from '../../incidents/defang.js';
import { shortened } from '../../incidents/raw-data-text.js';
import {
  noPersonAsked,
  type NotApplied,
  SYSTEM,
  TRIAGE_EVENTS,
  type TriageRun,
} from '../triage-run.js';

/** Writes audit records, timeline entries and events of runs, in the transaction of their change. */
@Injectable()
export class RunRecorder {
  private readonly log = new Logger('Triage');

  constructor(
    private readonly audit: AuditLog,
    private readonly timeline: IncidentTimeline,
    private readonly events: DomainEvents,
  ) {}

  /** @param isAwaited whether a request waits for the run, so that the timeline only has its end */
  async requested(tx: Tx, runs: readonly TriageRun[], isAwaited = false): Promise<void> {
    for (const run of runs) {
      const { force, playbook, requested_by } = run;
      const details = { force, playbook: playbook ?? undefined };
      await this.note(tx, TRIAGE_EVENTS.requested, requested_by, run, details);
      if (!isAwaited) await this.tell(tx, run, 'triage_requested', requestInWords(run));
    }
  }

  /** @param isProposed whether the verdict stands beside that of a person, which is older than the report */
  async completed(tx: Tx, run: TriageRun, isProposed: boolean): Promise<void> {
    const { verdict, provider, model, not_applied, recommended_actions, prompt_hash } = run;
    await this.note(tx, TRIAGE_EVENTS.completed, SYSTEM, run, {
      classification: verdict?.classification,
      recommended_actions,
      provider,
      model,
      prompt_hash,
      not_applied: not_applied ?? undefined,
    });
    await this.tell(tx, run, 'triage_completed', completionInWords(run, isProposed));
  }

  /** @param incidents by id, without deleted incidents, which need neither timeline nor event */
  async failed(
    tx: Tx,
    runs: readonly TriageRun[],
    incidents: ReadonlyMap<string, IncidentEventPayload & Pick<Incident, 'id' | 'incident_number'>>,
  ): Promise<void> {
    for (const run of runs) {
      await this.note(tx, TRIAGE_EVENTS.failed, SYSTEM, run, { ...run.error });
      if (run.error?.reason === 'not_needed') {
        // A person decided before the run began. No person has to act, so there is no event.
        await this.tell(tx, run, 'triage_failed', `Not triaged: ${run.error.message}`);
        continue;
      }
      const incident = incidents.get(run.incident_id);
      if (!incident) continue;
      await this.tell(tx, run, 'triage_failed', `Triage failed: ${run.error?.message}`);
      const failure = { triage_id: run.id, ...run.error };
      await this.events.record(tx, incidentEvent(TRIAGE_EVENTS.failed, incident, failure));
      if (!noPersonAsked(run) || run.error?.reason === 'discarded') continue;
      const line = `${incident.incident_number} is not triaged: ${run.error?.reason}. A person has to.`;
      afterCommit(tx, () => this.log.warn({ triage: run.id }, line));
    }
  }

  private async note(
    tx: Tx,
    action: (typeof TRIAGE_EVENTS)[keyof typeof TRIAGE_EVENTS],
    actor: string,
    { id, incident_id }: TriageRun,
    more: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const subject = { type: 'triage', id };
    await this.audit.record(tx, { actor, action, subject, details: { incident_id, ...more } });
  }

  private async tell(
    tx: Tx,
    { id, incident_id: incidentId, requested_by: actor }: TriageRun,
    event: string,
    summary: string,
  ): Promise<void> {
    const subject = { type: 'triage', id };
    await this.timeline.add(tx, { incidentId, actor, subject, event, summary });
  }
}

const LONGEST_REASONING = 500;
const LONGEST_VALUE = 100;
const MOST_EVIDENCE = 5;

const KEPT_BACK: Readonly<Record<NotApplied, string>> = {
  verdict_by_person: 'Kept as a run only: a person gave the verdict of the incident.',
  incident_resolved: 'Kept as a run only: the incident is resolved.',
};

const PROPOSED =
  'A person gave the verdict of the incident before this report. That verdict stays, with this verdict beside it as proposed.';

function requestInWords({ playbook, force }: TriageRun): string {
  const guided =
    playbook === null ? '' : `, with the playbook ${JSON.stringify(shownName(playbook))}`;
  return `Triage was asked for${guided}${force ? ', whatever was decided before' : ''}.`;
}

/** Addresses are defanged, because attackers may have written them. */
function completionInWords(run: TriageRun, isProposed: boolean): string {
  const { classification, category, confidence, reasoning, evidence } = run.verdict!;
  const shown = evidence.slice(0, MOST_EVIDENCE).map(({ source, pointer, value }) => {
    const place = source === 'raw_data' ? pointer : `${source}${pointer}`;
    const text = shortened(JSON.stringify(value), LONGEST_VALUE);
    return `${shortened(place, LONGEST_VALUE)} is ${defang(text)}`;
  });
  return [
    `${run.model ?? run.provider} found it ${classification} (${category}), confidence ${confidence.toFixed(2)}.`,
    ...(isProposed ? [PROPOSED] : run.not_applied ? [KEPT_BACK[run.not_applied]] : []),
    ...(reasoning ? [defang(shortened(reasoning, LONGEST_REASONING))] : []),
    ...(shown.length > 0 ? [`Evidence: ${shown.join(', ')}.`] : []),
    ...run.notes,
  ].join(' ');
}
