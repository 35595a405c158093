import { Injectable, type OnModuleInit } from '@nestjs/common';
import { INCIDENT_EVENTS, type TriageWantedPayload } from '../../incidents/change-records.js';
import { runParts } from '../../platform/concurrency/joint-transactions.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import type { DomainEvent } from '../../platform/work/domain-event.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
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
    private readonly requests: RunRequests,
    private readonly runs: TriageRunsRepository,
    private readonly queue: RunQueue,
    private readonly events: DomainEvents,
  ) {}

  onModuleInit(): void {
    this.events.inTransaction({ types: [INCIDENT_EVENTS.triageWanted] }, HANDLER, (tx, events) =>
      this.queueRuns(tx, events),
    );
  }

  private async queueRuns(tx: Tx, events: readonly DomainEvent[]): Promise<DomainEvent[]> {
    const parts = events.map((event) => {
      return { keys: [event.subject.id], work: () => this.queueRun(tx, event) };
    });
    const early = await runParts(tx, parts);
    afterCommit(tx, () => this.queue.wake());
    return events.filter((_, at) => early[at]);
  }

  /** Whether it is too early for the event: the run under way began with less than is known now. */
  private async queueRun(tx: Tx, event: DomainEvent): Promise<boolean> {
    const { playbook, requested_by = SYSTEM, again = false } = event.payload as TriageWantedPayload;
    const wanted = {
      incidentId: event.subject.id,
      force: false,
      playbook: playbook === undefined ? undefined : shownStart(playbook, LONGEST_PLAYBOOK),
    };
    if (!again && (await this.runs.hasCompletedIn(tx, wanted.incidentId))) return false;
    try {
      await this.requests.queueIn(tx, wanted, requested_by);
    } catch (error) {
      if (again && isUnderWay(error)) return true;
      // A person was faster, or the incident is gone: nothing was written, and nothing is left to do.
      if (!isNeedless(error)) throw error;
    }
    return false;
  }
}

function isUnderWay(error: unknown): boolean {
  return error instanceof TriageInProgressError && error.extras.details?.['status'] === 'running';
}

function isNeedless(error: unknown): boolean {
  return error instanceof TriageInProgressError || error instanceof NotFoundError;
}
