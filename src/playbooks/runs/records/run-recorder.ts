import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../audit/audit-log.js';
import { IncidentTimeline } from '../../../incidents/timeline/incident-timeline.js';
import { afterCommit, type Tx } from '../../../platform/database/transactions.js';
import { type EndedStatus, PLAYBOOK_RUN_EVENTS, type PlaybookRunSummary } from '../playbook-run.js';
import { RunSignals } from '../run-signals.js';

type Change = keyof typeof PLAYBOOK_RUN_EVENTS;

export interface RunEnd {
  readonly status: EndedStatus;
  readonly error?: string;
  readonly stepsCompleted: number;
}

/** Writes what is told of a run into the audit trail and the timeline, in the transaction of its change. */
@Injectable()
export class RunRecorder {
  constructor(
    private readonly audit: AuditLog,
    private readonly timeline: IncidentTimeline,
    private readonly signals: RunSignals,
  ) {}

  async started(tx: Tx, run: Started): Promise<void> {
    const { automatic, variables } = run;
    const about = { automatic, variables };
    await this.note(tx, 'started', run.requestedBy, run, about, `Started ${named(run)}.`);
  }

  async ended(
    tx: Tx,
    run: PlaybookRunSummary,
    { status, error, stepsCompleted }: RunEnd,
    by: string,
  ): Promise<void> {
    const details = { error, steps_completed: stepsCompleted, steps_total: run.stepsTotal };
    const words = { completed: 'Completed', failed: 'Could not complete', cancelled: 'Cancelled' };
    const why = error === undefined ? '.' : `: ${error}`;
    await this.note(tx, status, by, run, details, `${words[status]} ${named(run)}${why}`);
    afterCommit(tx, () => this.signals.ended(run.playbookName, status));
  }

  private async note(
    tx: Tx,
    change: Change,
    actor: string,
    run: Started,
    details: Readonly<Record<string, unknown>>,
    summary: string,
  ): Promise<void> {
    const { incidentId } = run;
    const subject = { type: 'playbook_run', id: run.id };
    await this.audit.record(tx, {
      actor,
      action: PLAYBOOK_RUN_EVENTS[change],
      subject,
      details: {
        playbook_id: run.playbookId,
        playbook: run.playbookName,
        version: run.playbookVersion,
        incident_id: incidentId,
        ...details,
      },
    });
    if (incidentId === undefined) return;
    await this.timeline.add(tx, {
      incidentId,
      event: `playbook_${change}`,
      actor,
      summary,
      subject,
    });
  }
}

type Started = Pick<
  PlaybookRunSummary,
  | 'id'
  | 'playbookId'
  | 'playbookName'
  | 'playbookVersion'
  | 'incidentId'
  | 'requestedBy'
  | 'automatic'
  | 'variables'
>;

function named({ playbookName, playbookVersion }: Started): string {
  return `the playbook ${playbookName} (version ${playbookVersion})`;
}
