import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { isPerson, SYSTEM } from '../../actions/action.js';
import { AuditLog } from '../../audit/audit-log.js';
import { incidentEvent, type IncidentEventPayload } from '../../incidents/change-records.js';
import { defang } from '../../incidents/defang.js';
import type { Incident } from '../../incidents/incident.js';
import { IncidentsService, type RecordedChange } from '../../incidents/incidents.service.js';
import { Incidents } from '../../incidents/incidents.js';
import { shortened } from '../../incidents/raw-data-text.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import { shownName } from '../../platform/text.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import type { Claimed } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import { ModelUnavailableError, type TokenUse, TriageModel } from '../model/triage-model.port.js';
import { type RunChange, TRIAGE, TriageRunsRepository } from '../triage-runs.repository.js';
import {
  failureOf,
  isVerdictOutdated,
  type NotApplied,
  type RunError,
  type TriageRun,
  type TriageRunEntity,
  whyNotApplied,
} from '../triage-run.js';
import { ProviderState } from './provider-state.js';
import type { RunResult } from './triage-judging.js';

/** Result of an attempt. If `isWaiting` is true, the run gets another attempt. */
export interface Outcome extends RunResult {
  readonly run: TriageRun;
  readonly isWaiting?: boolean;
  readonly unavailable?: ModelUnavailableError;
  readonly notes?: readonly string[];
  readonly columns?: Partial<TriageRunEntity>;
  readonly tokens?: TokenUse;
}

/** Ends runs in the caller's transaction, with audit records, timeline and events. Locks incidents before runs. */
@Injectable()
export class RunEndings implements OnModuleInit {
  private readonly log = new Logger('Triage');

  constructor(
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
  ) {}

  onModuleInit(): void {
    this.changes.registerEnding({
      end: (tx, incidentId) => this.failWaiting(tx, failureOf('incident_deleted'), incidentId),
    });
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

  async write(
    tx: Tx,
    outcomes: readonly Outcome[],
    locked?: ReadonlyMap<string, Incident>,
  ): Promise<ReadonlyMap<string, TriageRun>> {
    if (outcomes.length === 0) return new Map();
    const ending = outcomes.filter(({ isWaiting }) => !isWaiting);
    const ids = ending.map(({ run }) => run.incident_id);
    const incidents = locked ?? (await this.incidents.lockAllForUpdate(tx, ids));
    const changes = outcomes.map((one) => changeBy(one, incidents.get(one.run.incident_id)));
    const changed = await this.runs.change(tx, changes);
    const applied: RecordedChange[] = [];
    for (const { run: before, found } of ending) {
      const run = changed.get(before.id);
      if (!run) continue;
      const incident = incidents.get(run.incident_id);
      if (run.error?.reason !== 'not_needed') afterCommit(tx, () => this.provider.ended(run));
      if (!found || !incident) {
        await this.failed(tx, run, incident);
        continue;
      }
      const isProposed = run.not_applied !== null && isVerdictOutdated(incident, found.reportedAt);
      const { verdict, recommended_actions, provider, model, prompt_hash } = run;
      const details = {
        ...{ classification: verdict?.classification, recommended_actions, provider, model },
        ...{ prompt_hash, not_applied: run.not_applied ?? undefined },
      };
      await this.record(tx, 'completed', run, details, completionInWords(run, isProposed));
      if (!run.not_applied || isProposed) applied.push(changeOf(incident, run, isProposed));
    }
    await this.changes.changeAll(tx, applied);
    return changed;
  }

  async gaveUp(tx: Tx, { ref, attempt }: Claimed): Promise<void> {
    const isKilled = attempt > TRIAGE.mostAttempts;
    const error = failureOf(isKilled ? 'interrupted' : 'internal_error');
    const run = (await this.runs.change(tx, [{ id: ref, columns: {} }])).get(ref);
    await this.write(tx, run ? [{ run, error }] : []);
  }

  /** Returns why a run ended. An unexpected error appears only in the log. */
  errorOf(error: unknown, { id }: Pick<TriageRun, 'id'>): RunError {
    if (error instanceof ModelUnavailableError) return error.why;
    this.log.error({ err: error, triage: id }, 'A triage run ended in an error.');
    return failureOf('internal_error');
  }

  private async failWaiting(tx: Tx, error: RunError, incidentId?: string): Promise<number> {
    const open = await this.runs.open(tx, incidentId);
    const waiting = await this.work.cancel(tx, TRIAGE, open, 'waiting');
    const columns = { status: 'failed', error } as const;
    const changes = waiting.map((id) => ({ id, columns }));
    const failed = [...(await this.runs.change(tx, changes)).values()];
    const ids = incidentId ? [] : failed.map(({ incident_id }) => incident_id);
    const incidents = await this.incidents.findBySubject(ids, tx);
    for (const run of failed) await this.failed(tx, run, incidents.get(run.incident_id));
    return failed.length;
  }

  /** @param isAwaited true if a request waits for the run; the timeline then shows only the end */
  async requested(tx: Tx, runs: readonly TriageRun[], isAwaited = false): Promise<void> {
    for (const run of runs) {
      const { force, playbook } = run;
      const guided = playbook ? `, with the playbook ${JSON.stringify(shownName(playbook))}` : '';
      const replacing = force ? ', to replace any earlier verdict' : '';
      const summary = `Triage was requested${guided}${replacing}.`;
      const details = { force, playbook: playbook ?? undefined };
      await this.record(tx, 'requested', run, details, isAwaited ? undefined : summary);
    }
  }

  /** @param incident undefined if it is deleted: then there is neither a timeline entry nor an event */
  private async failed(
    tx: Tx,
    run: TriageRun,
    incident: (IncidentEventPayload & Pick<Incident, 'id' | 'incident_number'>) | undefined,
  ): Promise<void> {
    const { reason, message } = run.error!;
    // `not_needed`: a person decided before the run began. Nobody must act on this, so there is no event.
    const isNeeded = reason !== 'not_needed';
    const summary = isNeeded ? `Triage failed: ${message}` : `Not triaged: ${message}`;
    await this.record(tx, 'failed', run, { reason, message }, incident && summary);
    if (!incident || !isNeeded) return;
    const failure = { triage_id: run.id, reason, message };
    await this.events.record(tx, incidentEvent('triage.failed', incident, failure));
    if (isPerson(run.requested_by) || reason === 'discarded') return;
    const line = `${incident.incident_number} is not triaged: ${reason}. A person must judge it.`;
    afterCommit(tx, () => this.log.warn({ triage: run.id }, line));
  }

  private async record(
    tx: Tx,
    event: 'requested' | 'completed' | 'failed',
    { id, incident_id, requested_by }: TriageRun,
    more: Readonly<Record<string, unknown>>,
    summary: string | undefined,
  ): Promise<void> {
    const subject = { type: 'triage', id };
    const actor = event === 'requested' ? requested_by : SYSTEM;
    const details = { incident_id, ...more };
    await this.audit.record(tx, { actor, action: `triage.${event}`, subject, details });
    if (summary === undefined) return;
    const told = { subject, event: `triage_${event}`, summary };
    await this.timeline.add(tx, { incidentId: incident_id, actor: requested_by, ...told });
  }
}

function changeBy(outcome: Outcome, incident: Incident | undefined): RunChange {
  const { run, found, isWaiting, notes = [], columns, tokens } = outcome;
  const completed = found && incident && { ...found.columns, error: null };
  const error = found && !incident ? failureOf('incident_deleted') : outcome.error;
  return {
    id: run.id,
    tokens,
    columns: {
      ...columns,
      notes: [...new Set([...run.notes, ...notes, ...(found?.notes ?? [])])],
      ...(error && { error }),
      ...(!isWaiting && { status: completed ? 'completed' : 'failed' }),
      ...(completed && { ...completed, not_applied: whyNotApplied(incident, run) ?? null }),
    },
  };
}

function changeOf(before: Incident, run: TriageRun, isProposed: boolean): RecordedChange {
  const { id: triage_id, requested_by, model, recommended_actions } = run;
  const verdict = { ...run.verdict!, triage_id };
  const { classification, confidence, category, reasoning } = verdict;
  return {
    before,
    wanted: isProposed
      ? { proposed: { classification, confidence, category, reasoning, triage_id } }
      : { verdict: { ...verdict, model: model! }, recommended_actions: recommended_actions! },
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

const NOT_APPLIED: Readonly<Record<NotApplied, string>> = {
  verdict_by_person: 'Kept as a run only: a person gave the verdict of the incident.',
  incident_resolved: 'Kept as a run only: the incident is resolved.',
};

const PROPOSED =
  'A person gave the verdict of the incident before this report. That verdict stays, with this verdict beside it as proposed.';

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
    ...(isProposed ? [PROPOSED] : run.not_applied ? [NOT_APPLIED[run.not_applied]] : []),
    ...(reasoning ? [defang(shortened(reasoning, LONGEST_REASONING))] : []),
    ...(shown.length > 0 ? [`Evidence: ${shown.join(', ')}.`] : []),
    ...run.notes,
  ].join(' ');
}
