import { Injectable, type OnModuleInit } from '@nestjs/common';
import { INCIDENT_EVENTS, type TriageWantedPayload } from '../../incidents/change-records.js';
import { afterCommit, Transactions } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import type { DomainEvent } from '../../platform/jobs/events/domain-event.js';
import { DomainEvents } from '../../platform/jobs/events/domain-events.js';
import { shownStart } from '../../platform/text.js';
import { TriageRunsRepository } from '../records/triage-runs.repository.js';
import { TriageInProgressError } from '../triage.errors.js';
import { SYSTEM } from '../triage-run.js';
import { RunQueue } from './run-queue.js';
import { RunRequests } from './run-requests.js';

const HANDLER = 'auto-triage';
const LONGEST_PLAYBOOK = 200;

/** Queues a run where whoever made an incident wants it triaged, such as a webhook source: once for each event. */
@Injectable()
export class AutoTriage implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly requests: RunRequests,
    private readonly runs: TriageRunsRepository,
    private readonly queue: RunQueue,
    private readonly events: DomainEvents,
  ) {}

  onModuleInit(): void {
    this.events.on([INCIDENT_EVENTS.triageWanted], HANDLER, (event) => this.queueRun(event), {
      concurrency: 2,
      inBackup: true,
    });
  }

  private async queueRun(event: DomainEvent): Promise<void> {
    const { playbook, requested_by = SYSTEM, again = false } = event.payload as TriageWantedPayload;
    const wanted = {
      incidentId: event.subject.id,
      force: false,
      playbook: playbook === undefined ? undefined : shownStart(playbook, LONGEST_PLAYBOOK),
    };
    await this.transactions.run(async (tx) => {
      if (!(await this.events.firstTime(tx, HANDLER, event))) return;
      if (!again && (await this.runs.hasCompletedIn(tx, wanted.incidentId))) return;
      try {
        await this.requests.queueIn(tx, wanted, requested_by);
      } catch (error) {
        // The run under way began with less than is known now: the event is delivered again.
        if (again && isUnderWay(error)) throw error;
        // A person was faster, or the incident is gone: nothing was written, and nothing is left to do.
        if (!isNeedless(error)) throw error;
        return;
      }
      afterCommit(tx, () => this.queue.wake());
    });
  }
}

function isUnderWay(error: unknown): boolean {
  return error instanceof TriageInProgressError && error.extras.details?.['status'] === 'running';
}

function isNeedless(error: unknown): boolean {
  return error instanceof TriageInProgressError || error instanceof NotFoundError;
}
