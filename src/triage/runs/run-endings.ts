import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { incidentEvent, type IncidentEventPayload } from '../../incidents/change-records.js';
import { defang } from '../../incidents/defang.js';
import type { Incident } from '../../incidents/incident.js';
import { IncidentsService, type RecordedChange } from '../../incidents/incidents.service.js';
import { Incidents } from '../../incidents/incidents.js';
import { shortened } from '../../incidents/raw-data-text.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { afterCommit, Transactions, type Tx } from '../../platform/database/transactions.js';
import { shownName } from '../../platform/text.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import type { Claimed } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import { ModelUnavailableError, TokenMeter, TriageModel } from '../model/triage-model.port.js';
import {
  type RunChange,
  TRIAGE,
  TriageRunsRepository,
  type WhichRuns,
} from '../records/triage-runs.repository.js';
import {
  noPersonAsked,
  type NotApplied,
  type RunError,
  SYSTEM,
  TRIAGE_EVENTS,
  type TriageRun,
} from '../triage-run.js';
import { ProviderState } from './provider-state.js';
import {
  BROKEN,
  INCIDENT_DELETED,
  isVerdictOutdated,
  KILLED,
  LONGEST_WAIT_MS,
  runErrorOf,
  whyNotApplied,
} from './run-rules.js';
import type { Found } from './triage-judging.js';

/** Result of an attempt: `found` or an `error`. A run with `isWaiting` gets another attempt. */
export interface Outcome {
  readonly run: TriageRun;
  readonly found?: Found;
  readonly error?: RunError;
  readonly isWaiting?: boolean;
  readonly unavailable?: ModelUnavailableError;
  readonly notes?: readonly string[];
  readonly startedAt?: Date;
  readonly duration_ms?: number;
  readonly used?: TokenMeter;
}

const OVERDUE_SECONDS = 60;

/** Ends runs in sets, in the transaction of the caller, with audit records, timeline entries and events. Locks incidents first. */
@Injectable()
export class RunEndings implements OnModuleInit {
  private readonly log = new Logger('Triage');

  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: Incidents,
    private readonly changes: IncidentsService,
    private readonly runs: TriageRunsRepository,
    private readonly audit: AuditLog,
    private readonly timeline: IncidentTimeline,
    private readonly events: DomainEvents,
    private readonly provider: ProviderState,
    private readonly killSwitch: KillSwitch,
    private readonly model: TriageModel,
    private readonly work: Work,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.changes.registerEnding({
      end: (tx, incidentId) => this.failWaiting(tx, INCIDENT_DELETED, { incidentId }),
    });
    this.work.every('triage-overdue', OVERDUE_SECONDS, () => this.failOverdue());
    if (!this.model.asksOutside) return;
    this.killSwitch.register('triage_runs', {
      inFlight: async () => (await this.runs.countOpen()).running,
      count: async () => (await this.runs.countOpen()).queued,
      discard: async (tx, { name }) => {
        const message = `Discarded by ${name}, who turned the kill switch off.`;
        return await this.failWaiting(tx, { reason: 'discarded', message });
      },
    });
  }

  /**
   * Returns the changed runs by id, without runs that had already ended.
   * @param locked the incidents, if the caller has locked them
   */
  async write(
    tx: Tx,
    outcomes: readonly Outcome[],
    locked?: ReadonlyMap<string, Incident>,
  ): Promise<ReadonlyMap<string, TriageRun>> {
    if (outcomes.length === 0) return new Map();
    const ending = outcomes.filter(({ isWaiting }) => !isWaiting);
    const ids = ending.map(({ run }) => run.incident_id);
    const incidents = locked ?? (await this.incidents.lockAllForUpdate(tx, ids));
    const changes = outcomes.map((outcome) => changeBy(outcome, incidents));
    const changed = await this.runs.change(tx, changes);
    const applied: RecordedChange[] = [];
    const judged: { incident_id: string; indicators: Found['indicators'] }[] = [];
    const failed: TriageRun[] = [];
    for (const { run: before, found, duration_ms = 0 } of ending) {
      const run = changed.get(before.id);
      const incident = incidents.get(before.incident_id);
      if (!run) continue;
      const status = run.status === 'completed' ? 'completed' : 'failed';
      if (run.error?.reason !== 'not_needed') {
        afterCommit(tx, () => this.provider.ended(status, duration_ms));
      }
      if (!found || !incident) {
        failed.push(run);
        continue;
      }
      const isProposed = run.not_applied !== null && isVerdictOutdated(incident, found.reportedAt);
      await this.completed(tx, run, isProposed);
      judged.push({ incident_id: incident.id, indicators: found.indicators });
      if (!run.not_applied || isProposed) applied.push(changeOf(incident, run, found, isProposed));
    }
    await this.runs.addIndicators(tx, judged);
    await this.failed(tx, failed, incidents);
    await this.changes.changeAll(tx, applied);
    return changed;
  }

  async gaveUp(tx: Tx, { ref, attempt }: Claimed): Promise<void> {
    const runs = await this.runs.queued(tx, [ref]);
    const error = attempt > TRIAGE.mostAttempts ? KILLED : BROKEN;
    await this.write(
      tx,
      runs.map((run) => ({ run, error })),
    );
  }

  private async failWaiting(tx: Tx, error: RunError, which?: WhichRuns): Promise<number> {
    const open = await this.runs.open(tx, which);
    const waiting = await this.work.cancelWaiting(tx, TRIAGE, open);
    const columns = { status: 'failed', error } as const;
    const changes = waiting.map((id) => ({ id, columns }));
    const failed = [...(await this.runs.change(tx, changes)).values()];
    const told = failed.filter(({ incident_id }) => incident_id !== which?.incidentId);
    const incidents = told.map(({ incident_id }) => incident_id);
    await this.failed(tx, failed, await this.incidents.findBySubject(incidents, tx));
    return failed.length;
  }

  /** Fails runs that waited for a day. Without a provider, runs wait for a replica with a provider. */
  private async failOverdue(): Promise<void> {
    const { unusable } = this.model;
    if (!unusable) return;
    const before = new Date(this.clock.now().getTime() - LONGEST_WAIT_MS);
    const error = runErrorOf(unusable);
    await this.transactions.run((tx) => this.failWaiting(tx, error, { before }));
  }

  /** @param isAwaited true if a request waits for the run; the timeline then shows only the end */
  async requested(tx: Tx, runs: readonly TriageRun[], isAwaited = false): Promise<void> {
    for (const run of runs) {
      const details = { force: run.force, playbook: run.playbook ?? undefined };
      await this.record(tx, 'requested', run, details, isAwaited ? undefined : requestInWords(run));
    }
  }

  /** @param isProposed true if the incident keeps the verdict of a person, which is older than the report */
  private async completed(tx: Tx, run: TriageRun, isProposed: boolean): Promise<void> {
    const { verdict, provider, model, not_applied, recommended_actions, prompt_hash } = run;
    const details = {
      classification: verdict?.classification,
      ...{ recommended_actions, provider, model, prompt_hash },
      not_applied: not_applied ?? undefined,
    };
    await this.record(tx, 'completed', run, details, completionInWords(run, isProposed));
  }

  /** @param incidents by id, without deleted incidents, which need neither timeline nor event */
  private async failed(
    tx: Tx,
    runs: readonly TriageRun[],
    incidents: ReadonlyMap<string, IncidentEventPayload & Pick<Incident, 'id' | 'incident_number'>>,
  ): Promise<void> {
    for (const run of runs) {
      const { reason, message } = run.error!;
      const incident = incidents.get(run.incident_id);
      // A person decided before the run began. Nobody must act, so there is no event.
      const isNeeded = reason !== 'not_needed';
      const summary = isNeeded ? `Triage failed: ${message}` : `Not triaged: ${message}`;
      await this.record(tx, 'failed', run, { reason, message }, incident && summary);
      if (!incident || !isNeeded) continue;
      const failure = { triage_id: run.id, reason, message };
      await this.events.record(tx, incidentEvent(TRIAGE_EVENTS.failed, incident, failure));
      if (!noPersonAsked(run) || reason === 'discarded') continue;
      const line = `${incident.incident_number} is not triaged: ${reason}. A person has to.`;
      afterCommit(tx, () => this.log.warn({ triage: run.id }, line));
    }
  }

  private async record(
    tx: Tx,
    event: keyof typeof TRIAGE_EVENTS,
    { id, incident_id, requested_by }: TriageRun,
    more: Readonly<Record<string, unknown>>,
    summary: string | undefined,
  ): Promise<void> {
    const subject = { type: 'triage', id };
    const actor = event === 'requested' ? requested_by : SYSTEM;
    const details = { incident_id, ...more };
    await this.audit.record(tx, { actor, action: TRIAGE_EVENTS[event], subject, details });
    if (summary === undefined) return;
    const told = { subject, event: `triage_${event}`, summary };
    await this.timeline.add(tx, { incidentId: incident_id, actor: requested_by, ...told });
  }
}

function changeBy(outcome: Outcome, incidents: ReadonlyMap<string, Incident>): RunChange {
  const { run, found, isWaiting, unavailable, startedAt, used } = outcome;
  const { duration_ms = null } = outcome;
  const incident = incidents.get(run.incident_id);
  const error = found && !incident ? INCIDENT_DELETED : outcome.error;
  const completed = found &&
    incident && {
      verdict: found.verdict,
      recommended_actions: found.recommended_actions,
      model: found.model,
      prompt_hash: found.prompt_hash,
      points: found.points ?? null,
      tool_calls: found.toolCalls,
      not_applied: whyNotApplied(incident, run) ?? null,
      status: 'completed' as const,
      error: null,
    };
  return {
    id: run.id,
    tokens: used?.tokens,
    columns: {
      notes: [...run.notes, ...(outcome.notes ?? []), ...(found?.notes ?? [])],
      ...(unavailable && error && { failures: run.failures + 1 }),
      ...(startedAt && { started_at: startedAt, provider: run.provider }),
      ...used?.asked,
      ...(error && { error }),
      ...(!isWaiting && { status: 'failed', duration_ms }),
      ...completed,
    },
  };
}

function changeOf(
  before: Incident,
  { id: triage_id, requested_by }: TriageRun,
  { verdict, model, recommended_actions }: Found,
  isProposed: boolean,
): RecordedChange {
  const { classification, confidence, category, reasoning } = verdict;
  return {
    before,
    wanted: isProposed
      ? { proposed: { classification, confidence, category, reasoning, triage_id } }
      : { verdict: { ...verdict, model, triage_id }, recommended_actions },
    origin: {
      by: SYSTEM,
      byPerson: false,
      about: { type: 'triage', id: triage_id },
      askedBy: requested_by,
    },
  };
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

/** Defangs addresses, because attackers may have written them. */
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
