import { Injectable, type OnModuleInit } from '@nestjs/common';
import { isPerson } from '../../actions/action.js';
import { INCIDENT_EVENTS, type IncidentTriagedPayload } from '../../incidents/change-records.js';
import type { Incident } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { runParts } from '../../platform/concurrency/joint-transactions.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import type { DomainEvent } from '../../platform/work/domain-event.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { PlaybooksService } from '../playbooks.service.js';
import { RunQueue } from './run-queue.js';
import { RunRequests, type WantedAutomaticRun } from './run-requests.js';

export const AUTO_RUNS = 'playbook-auto-runs';

/** Starts the automatic playbooks after a triage by a person or by the service. */
@Injectable()
export class AutoRuns implements OnModuleInit {
  constructor(
    private readonly playbooks: PlaybooksService,
    private readonly incidents: IncidentsService,
    private readonly requests: RunRequests,
    private readonly queue: RunQueue,
    private readonly events: DomainEvents,
  ) {}

  onModuleInit(): void {
    const { triaged, severityChanged } = INCIDENT_EVENTS;
    this.events.inTransaction({ types: [triaged, severityChanged] }, AUTO_RUNS, (tx, events) =>
      this.startAll(tx, events),
    );
  }

  /**
   * However often the event comes: the database keeps one automatic run of each version for an incident. Another severity changes
   * the order of the runs that wait.
   */
  async startAll(tx: Tx, all: readonly DomainEvent[]): Promise<void> {
    const events = all.filter(({ type }) => type === INCIDENT_EVENTS.triaged);
    const others = all.filter((event) => !events.includes(event));
    const ofEach = await runParts(
      tx,
      events.map((event) => ({ keys: [event.subject.id], work: () => this.wantedBy(tx, event) })),
    );
    const wanted = ofEach.flat();
    const reordered = await this.requests.playbooksWaitingFor(
      tx,
      others.map(({ subject }) => subject.id),
    );
    const limited = new Set([...wanted.map(({ playbook }) => playbook.id), ...reordered]);
    if (limited.size === 0) return;
    await this.requests.lockTurns(tx, [...limited]);
    const started = await runParts(
      tx,
      wanted.map((run) => ({
        keys: this.requests.areLimited ? [run.incident.id, run.playbook.id] : [run.incident.id],
        work: () => this.requests.startAutomatic(tx, run),
      })),
    );
    for (const id of reordered) await this.requests.orderTurns(tx, id);
    if (started.includes(true)) afterCommit(tx, () => this.queue.wake());
  }

  private async wantedBy(tx: Tx, { subject, payload }: DomainEvent): Promise<WantedAutomaticRun[]> {
    const incident = await this.incidents.lockForUpdate(tx, subject.id);
    if (!incident || incident.status === 'resolved') return [];
    const { incident_type: type, severity, source } = incident;
    const onBehalfOf = verdictIsOf(incident, payload);
    const playbooks = await this.playbooks.autoRunsFor(tx, { type, severity, source });
    return playbooks.map((playbook) => ({ playbook, incident, onBehalfOf }));
  }
}

/**
 * Returns the person who caused the verdict: under four eyes this person must not approve the actions of the run. `undefined` if no
 * person caused it.
 */
function verdictIsOf(
  { verdict, verdict_by_person }: Incident,
  { triaged_by }: Partial<IncidentTriagedPayload>,
): string | undefined {
  const by = verdict && verdict_by_person ? verdict.decided_by : triaged_by;
  return by !== undefined && isPerson(by) ? by : undefined;
}
