import { Injectable, type OnModuleInit } from '@nestjs/common';
import { isPerson, SYSTEM } from '../../actions/action.js';
import { INCIDENT_EVENTS } from '../../incidents/change-records.js';
import type { Incident } from '../../incidents/incident.js';
import { Incidents } from '../../incidents/incidents.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import type { Tx } from '../../platform/database/transactions.js';
import { type DomainEvent, DomainEvents } from '../../platform/work/domain-events.js';
import { Work } from '../../platform/work/work.js';
import { isTriggeredBy } from '../playbook.js';
import { PlaybooksService } from '../playbooks.service.js';
import { AUTO_RUNS, newRun, RUN_WORK } from './playbook-run.js';
import { RunRecorder } from './run-records.js';
import { RunsRepository } from './runs.repository.js';

/** Starts the automatic playbooks after a triage by a person or by the service. */
@Injectable()
export class AutoRuns implements OnModuleInit {
  constructor(
    private readonly playbooks: PlaybooksService,
    private readonly incidents: Incidents,
    private readonly runs: RunsRepository,
    private readonly recorder: RunRecorder,
    private readonly events: DomainEvents,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.events.inTransaction({ types: [INCIDENT_EVENTS.triaged] }, AUTO_RUNS, (tx, events) =>
      this.startAll(tx, events),
    );
  }

  /** Starts at most one run of each playbook version for an incident and a verdict, however often the event comes. */
  private async startAll(tx: Tx, triages: readonly DomainEvent[]): Promise<void> {
    const events = new Map(triages.toReversed().map((event) => [event.subject.id, event]));
    const incidents = await this.incidents.lockAllForUpdate(tx, [...events.keys()]);
    const open = [...incidents.values()].filter(({ status }) => status !== 'resolved');
    if (open.length === 0) return;
    const playbooks = await this.playbooks.autoRuns(tx);
    const candidates = open.flatMap((incident) =>
      playbooks
        .filter(({ definition }) => isTriggeredBy(definition.triggers, incident))
        .map((playbook) => ({ playbook, incident })),
    );
    if (candidates.length === 0) return;
    const limit = this.settings.playbookRunsPerHour;
    const wanted = await this.runs.worseThanBefore(tx, candidates);
    if (wanted.length === 0) return;
    const now = this.clock.now();
    const created = wanted.map(({ playbook, incident }) => ({
      ...newRun({ playbook, incident, variables: playbook.definition.variables }, SYSTEM, now),
      automatic: true,
      on_behalf_of: verdictIsOf(incident, events.get(incident.id)!.payload),
    }));
    const inserted = await this.runs.insert(tx, created);
    const turns = new Map<string, Date | null>(inserted.map(({ id }) => [id, null]));
    const ofPlaybooks = limit > 0 ? Map.groupBy(inserted, (run) => run.playbook_id) : [];
    for (const [playbook, runs] of ofPlaybooks) {
      const newRuns = runs.map(({ id }) => id);
      for (const turn of await this.runs.giveTurns(tx, playbook, limit, newRuns, now)) {
        turns.set(turn.id, turn.starts_at);
      }
    }
    for (const run of inserted) {
      await this.recorder.started(tx, { ...run, starts_at: turns.get(run.id)! });
    }
    // Work of a run whose turn became later finds out that it is early.
    const added = [...turns].map(([ref, turn]) => ({ ref, dueAt: turn ?? undefined }));
    await this.work.add(tx, RUN_WORK, ...added);
  }
}

/**
 * Returns the person who caused the verdict: under four eyes this person must not approve the actions of the run. `null` if no
 * person caused it.
 */
function verdictIsOf(
  { verdict, verdict_by_person }: Incident,
  { triaged_by }: { readonly triaged_by?: string },
): string | null {
  const by = verdict && verdict_by_person ? verdict.decided_by : triaged_by;
  return by !== undefined && isPerson(by) ? by : null;
}
