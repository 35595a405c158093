import { Injectable, type OnModuleInit } from '@nestjs/common';
import { isPerson, SYSTEM } from '../../actions/action.js';
import { INCIDENT_EVENTS } from '../../incidents/change-records.js';
import { type Incident, SEVERITIES } from '../../incidents/incident.js';
import { Incidents } from '../../incidents/incidents.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import type { Tx } from '../../platform/database/transactions.js';
import { type DomainEvent, DomainEvents } from '../../platform/work/domain-events.js';
import { Work } from '../../platform/work/work.js';
import { isTriggeredBy, type PlaybookVersion } from '../playbook.js';
import { PlaybooksRepository } from '../playbooks.repository.js';
import { AutoRunsRepository } from './auto-runs.repository.js';
import { newRun, type PlaybookRun, RUN_WORK, waitsForTurn } from './playbook-run.js';
import { RunRecorder } from './run-records.js';
import { RunsRepository } from './runs.repository.js';

export const AUTO_RUNS = 'playbook-auto-runs';

interface WantedAutoRun {
  readonly playbook: PlaybookVersion;
  readonly incident: Incident;
  /** Person who caused the verdict of the incident. */
  readonly on_behalf_of: string | null;
}

/** Starts the automatic playbooks after a triage by a person or by the service. */
@Injectable()
export class AutoRuns implements OnModuleInit {
  constructor(
    private readonly playbooks: PlaybooksRepository,
    private readonly incidents: Incidents,
    private readonly autoRuns: AutoRunsRepository,
    private readonly runs: RunsRepository,
    private readonly recorder: RunRecorder,
    private readonly events: DomainEvents,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    const { triaged, severityChanged } = INCIDENT_EVENTS;
    this.events.inTransaction({ types: [triaged, severityChanged] }, AUTO_RUNS, (tx, events) =>
      this.startAll(tx, events),
    );
  }

  /** Starts at most one run of each playbook version for an incident and a verdict, however often the event comes. */
  async startAll(tx: Tx, events: readonly DomainEvent[]): Promise<void> {
    const isTriage = ({ type }: DomainEvent) => type === INCIDENT_EVENTS.triaged;
    const candidates = await this.wantedBy(tx, events.filter(isTriage));
    // Another severity changes the order of the runs that wait for their turn.
    const changed = events.filter((event) => !isTriage(event)).map(({ subject }) => subject.id);
    const reordered =
      this.limit > 0 && changed.length > 0
        ? await this.autoRuns.playbooksWaitingFor(tx, changed)
        : [];
    const ids = [...candidates.map(({ playbook }) => playbook.id), ...reordered];
    if (ids.length === 0) return;
    if (this.limit > 0) await this.autoRuns.lockPlaybooks(tx, [...new Set(ids)]);
    if (candidates.length > 0) await this.start(tx, await this.worseThanBefore(tx, candidates));
    for (const id of reordered) await this.addWork(tx, await this.autoRuns.orderTurns(tx, id));
  }

  /** Runs of more severe incidents get the earlier turns. */
  private async wantedBy(tx: Tx, triages: readonly DomainEvent[]): Promise<WantedAutoRun[]> {
    const events = new Map(triages.toReversed().map((event) => [event.subject.id, event]));
    if (events.size === 0) return [];
    const locked = await this.incidents.lockAllForUpdate(tx, [...events.keys()]);
    const open = [...locked.values()]
      .filter(({ status }) => status !== 'resolved')
      .sort((one, other) => rank(other) - rank(one));
    if (open.length === 0) return [];
    const playbooks = await this.playbooks.autoRuns(tx);
    return open.flatMap((incident) => {
      const on_behalf_of = verdictIsOf(incident, events.get(incident.id)!.payload);
      return playbooks
        .filter(({ definition }) => isTriggeredBy(definition.triggers, incident))
        .map((playbook) => ({ playbook, incident, on_behalf_of }));
    });
  }

  /** Drops the runs of versions that ran for the same incident with an equal or worse verdict. */
  private async worseThanBefore(
    tx: Tx,
    wanted: readonly WantedAutoRun[],
  ): Promise<WantedAutoRun[]> {
    const earlier = await this.autoRuns.automaticallyRunFor(tx, wanted);
    return wanted.filter(({ incident }, at) =>
      earlier[at]!.every((one) => badness(one) < badness(incident.verdict?.classification)),
    );
  }

  private async start(tx: Tx, wanted: readonly WantedAutoRun[]): Promise<void> {
    const { limit } = this;
    const earliest = this.clock.now();
    const created: PlaybookRun[] = [];
    for (const [id, ofPlaybook] of Map.groupBy(wanted, ({ playbook }) => playbook.id)) {
      const count = ofPlaybook.length;
      const turns = limit > 0 ? await this.autoRuns.turns(tx, id, limit, count, earliest) : [];
      for (const [at, { playbook, incident, on_behalf_of }] of ofPlaybook.entries()) {
        const { variables } = playbook.definition;
        const run = newRun({ playbook, incident, variables }, SYSTEM, earliest);
        created.push({ ...run, automatic: true, on_behalf_of, starts_at: turns[at] ?? null });
      }
    }
    if (created.length === 0) return;
    const inserted = await this.runs.insert(tx, created);
    const late = Map.groupBy(inserted.filter(waitsForTurn), ({ playbook_id }) => playbook_id);
    const turns = new Map<string, Date | null>();
    for (const [playbook, runs] of late) {
      const ids = runs.map(({ id }) => id);
      for (const turn of await this.autoRuns.orderTurns(tx, playbook, ids)) {
        turns.set(turn.id, turn.starts_at);
      }
    }
    for (const run of inserted) {
      const starts_at = turns.get(run.id) ?? run.starts_at;
      await this.recorder.started(tx, { ...run, starts_at });
      turns.set(run.id, starts_at);
    }
    await this.addWork(
      tx,
      [...turns].map(([id, starts_at]) => ({ id, starts_at })),
    );
  }

  /** Work of a run whose turn became later finds out that it is early. */
  private async addWork(
    tx: Tx,
    runs: readonly Pick<PlaybookRun, 'id' | 'starts_at'>[],
  ): Promise<void> {
    const added = runs.map(({ id, starts_at }) => ({ ref: id, dueAt: starts_at ?? undefined }));
    await this.work.add(tx, RUN_WORK, ...added);
  }

  /** 0 without a limit. */
  private get limit(): number {
    return this.settings.playbookRunsPerHour;
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

const rank = ({ severity }: Incident): number => SEVERITIES.indexOf(severity);

/** Order of the verdicts. A worse verdict may need steps that the earlier run skipped. */
function badness(classification = ''): number {
  return ['inconclusive', 'suspicious', 'malicious'].indexOf(classification);
}
