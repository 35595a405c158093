import { Injectable } from '@nestjs/common';
import type { Action } from '../../../actions/action.js';
import { AuditLog } from '../../../audit/audit-log.js';
import { IncidentTimeline } from '../../../incidents/timeline/incident-timeline.js';
import { afterCommit, type Tx } from '../../../platform/database/transactions.js';
import type { LockedIncident } from '../../../incidents/incident.js';
import { DomainEvents } from '../../../platform/work/domain-events.js';
import type { SettledStep } from '../next-move.js';
import type { PlaybookRunSummary } from '../playbook-run.js';
import { RunSignals } from '../run-signals.js';
import {
  entryOfFailedStep,
  entryOfSharedAction,
  eventOfFailedStep,
  newsOfEnd,
  newsOfStart,
  type RunEnd,
  type RunNews,
} from './run-words.js';

/** Writes what is told of a run into the audit trail and the timeline, in the transaction of its change. */
@Injectable()
export class RunRecorder {
  constructor(
    private readonly audit: AuditLog,
    private readonly timeline: IncidentTimeline,
    private readonly events: DomainEvents,
    private readonly signals: RunSignals,
  ) {}

  async started(tx: Tx, run: PlaybookRunSummary): Promise<void> {
    await this.tell(tx, newsOfStart(run));
  }

  async ended(tx: Tx, run: PlaybookRunSummary, end: RunEnd, by: string): Promise<void> {
    await this.tell(tx, newsOfEnd(run, end, by));
    afterCommit(tx, () => this.signals.ended(run, end));
  }

  /** Also of a step that ends its run: whoever looks for what failed finds each step. */
  async stepsFailed(
    tx: Tx,
    run: PlaybookRunSummary,
    settled: readonly SettledStep[],
    incident?: Pick<LockedIncident, 'title' | 'severity'>,
  ): Promise<void> {
    const failed = settled.filter(({ status }) => status === 'failed');
    for (const step of failed) {
      await this.events.record(tx, eventOfFailedStep(run, step, incident));
      if (run.incidentId) await this.timeline.add(tx, entryOfFailedStep(run, step, run.incidentId));
    }
    afterCommit(tx, () => failed.forEach((step) => this.signals.stepFailed(run, step)));
  }

  /** The incident's own actions are in its timeline already. */
  async sharedAction(tx: Tx, run: PlaybookRunSummary, step: string, action: Action): Promise<void> {
    if (run.incidentId === undefined || action.incident_id === run.incidentId) return;
    await this.timeline.add(tx, entryOfSharedAction(run, step, action, run.incidentId));
  }

  private async tell(tx: Tx, { audit, timeline }: RunNews): Promise<void> {
    await this.audit.record(tx, audit);
    if (timeline) await this.timeline.add(tx, timeline);
  }
}
