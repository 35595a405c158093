import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../audit/audit-log.js';
import { IncidentTimeline } from '../../../incidents/timeline/incident-timeline.js';
import { afterCommit, type Tx } from '../../../platform/database/transactions.js';
import type { PlaybookRunSummary } from '../playbook-run.js';
import { RunSignals } from '../run-signals.js';
import { newsOfEnd, newsOfStart, type RunEnd, type RunNews } from './run-words.js';

/** Writes what is told of a run into the audit trail and the timeline, in the transaction of its change. */
@Injectable()
export class RunRecorder {
  constructor(
    private readonly audit: AuditLog,
    private readonly timeline: IncidentTimeline,
    private readonly signals: RunSignals,
  ) {}

  async started(tx: Tx, run: PlaybookRunSummary): Promise<void> {
    await this.tell(tx, newsOfStart(run));
  }

  async ended(tx: Tx, run: PlaybookRunSummary, end: RunEnd, by: string): Promise<void> {
    await this.tell(tx, newsOfEnd(run, end, by));
    afterCommit(tx, () => this.signals.ended(run, end));
  }

  private async tell(tx: Tx, { audit, timeline }: RunNews): Promise<void> {
    await this.audit.record(tx, audit);
    if (timeline) await this.timeline.add(tx, timeline);
  }
}
