import { Injectable, type OnModuleInit } from '@nestjs/common';
import { isPerson } from '../../actions/action.js';
import { INCIDENT_EVENTS, type IncidentTriagedPayload } from '../../incidents/change-records.js';
import type { Incident } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { afterCommit, Transactions } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import type { DomainEvent } from '../../platform/jobs/events/domain-event.js';
import { DomainEvents } from '../../platform/jobs/events/domain-events.js';
import { PlaybooksService } from '../playbooks.service.js';
import { RunQueue } from './run-queue.js';
import { RunRequests } from './run-requests.js';

/** Starts the playbooks that are to run by themselves after a triage, whoever or whatever gave the verdict. */
@Injectable()
export class AutoRuns implements OnModuleInit {
  constructor(
    private readonly playbooks: PlaybooksService,
    private readonly incidents: IncidentsService,
    private readonly requests: RunRequests,
    private readonly queue: RunQueue,
    private readonly transactions: Transactions,
    private readonly events: DomainEvents,
  ) {}

  onModuleInit(): void {
    this.events.on(
      [INCIDENT_EVENTS.triaged],
      'playbook-auto-runs',
      (event) => this.startFor(event),
      { concurrency: 2, inBackup: true },
    );
  }

  /** However often the event comes: the database keeps one automatic run of each version for an incident. */
  private async startFor({ subject, payload }: DomainEvent): Promise<void> {
    const incident = await this.find(subject.id);
    if (!incident) return;
    const { incidentType: type, severity, source } = incident;
    const onBehalfOf = verdictIsOf(incident, payload);
    for (const playbook of await this.playbooks.autoRunsFor({ type, severity, source })) {
      await this.transactions.run(async (tx) => {
        const started = await this.requests.startAutomatic(tx, { playbook, incident, onBehalfOf });
        if (started) afterCommit(tx, () => this.queue.wake());
      });
    }
  }

  private async find(id: string): Promise<Incident | undefined> {
    try {
      return await this.incidents.get(id);
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }
}

/**
 * Whose doing the verdict is that the run goes by. Where four eyes are wanted, nobody is to begin a run by a verdict of their
 * own and then approve its actions. Undefined where nobody in person is behind it. An event of an earlier release does not
 * tell who asked for a triage.
 */
function verdictIsOf(
  { verdict, verdictByPerson }: Incident,
  { triaged_by }: Partial<IncidentTriagedPayload>,
): string | undefined {
  const by = verdict && verdictByPerson ? verdict.decided_by : triaged_by;
  return by !== undefined && isPerson(by) ? by : undefined;
}
