import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Incident } from '../../incidents/incident.js';
import { IncidentsService, type RecordedChange } from '../../incidents/incidents.service.js';
import { Incidents } from '../../incidents/incidents.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { afterCommit, Transactions, type Tx } from '../../platform/database/transactions.js';
import { Work } from '../../platform/work/work.js';
import { TokenMeter, TriageModel } from '../model/triage-model.port.js';
import { RunRecorder } from '../records/run-recorder.js';
import { type RunChange, TRIAGE, TriageRunsRepository } from '../records/triage-runs.repository.js';
import { type NotApplied, type RunError, SYSTEM, type TriageRun } from '../triage-run.js';
import { ProviderState } from './provider-state.js';
import {
  BROKEN,
  INCIDENT_DELETED,
  isVerdictOutdated,
  LONGEST_WAIT_MS,
  NOT_NEEDED,
  runErrorOf,
  whyNotApplied,
} from './run-rules.js';
import type { Found } from './triage-judging.js';

/** End of an attempt: `found`, `error` or `dropped`. A run that waits again has none of these. */
export interface Outcome {
  readonly run: TriageRun;
  readonly found?: Found;
  readonly error?: RunError;
  readonly dropped?: NotApplied;
  /** Why the next attempt waits. */
  readonly waitsFor?: RunError;
  /** The provider gave no verdict. */
  readonly isOfProvider?: boolean;
  readonly notes?: readonly string[];
  readonly startedAt?: Date;
  readonly duration_ms?: number;
  readonly used?: TokenMeter;
}

/** Maximum number of runs that one step gives up. */
const MOST_OVERDUE = 100;
const OVERDUE_SECONDS = 60;

/** Ends runs in sets, in the transaction of the caller. Locks incidents first. */
@Injectable()
export class RunEndings implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: Incidents,
    private readonly changes: IncidentsService,
    private readonly runs: TriageRunsRepository,
    private readonly recorder: RunRecorder,
    private readonly provider: ProviderState,
    private readonly killSwitch: KillSwitch,
    private readonly model: TriageModel,
    private readonly work: Work,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.changes.registerEnding({ end: (tx, id) => this.failWaiting(tx, INCIDENT_DELETED, id) });
    this.work.every('triage-overdue', OVERDUE_SECONDS, () => this.giveUpOverdue());
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
   * Returns the runs by id as they are afterwards, without those that had ended before.
   *
   * @param locked the incidents, if the caller has locked them
   */
  async write(
    tx: Tx,
    outcomes: readonly Outcome[],
    locked?: ReadonlyMap<string, Incident>,
  ): Promise<ReadonlyMap<string, TriageRun>> {
    if (outcomes.length === 0) return new Map();
    const ending = outcomes.filter(({ found, error }) => found ?? error);
    const ids = ending.map(({ run }) => run.incident_id);
    const incidents = locked ?? (await this.incidents.lockAllForUpdate(tx, ids));
    const changes = outcomes.map((outcome) => changeBy(outcome, incidents));
    const changed = await this.runs.change(tx, changes);
    const applied: RecordedChange[] = [];
    const judged: { incident_id: string; indicators: Found['indicators'] }[] = [];
    const failed: TriageRun[] = [];
    for (const { run: before, found, duration_ms = 0, dropped } of outcomes) {
      const run = changed.get(before.id);
      if (!run || run.status === 'queued') continue;
      if (dropped) {
        failed.push(run);
        continue;
      }
      const status = run.status === 'completed' ? 'completed' : 'failed';
      afterCommit(tx, () => this.provider.ended(status, duration_ms));
      const incident = incidents.get(run.incident_id);
      if (!found || !incident) failed.push(run);
      else {
        const isProposed =
          run.not_applied !== null && isVerdictOutdated(incident, found.reportedAt);
        await this.recorder.completed(tx, run, isProposed);
        judged.push({ incident_id: incident.id, indicators: found.indicators });
        if (!run.not_applied || isProposed)
          applied.push(changeOf(incident, run, found, isProposed));
      }
    }
    await this.runs.addIndicators(tx, judged);
    await this.recorder.failed(tx, failed, incidents);
    await this.changes.changeAll(tx, applied);
    return changed;
  }

  /** Fails a run whose attempts ended in errors. */
  async gaveUp(tx: Tx, id: string): Promise<void> {
    const runs = await this.runs.queued(tx, [id]);
    const outcomes = runs.map((run) => ({ run, error: BROKEN }));
    await this.write(tx, outcomes);
  }

  /** Fails waiting runs: all runs, or the run of a deleted incident. Attempts in progress end on their own. */
  private async failWaiting(tx: Tx, error: RunError, deletedId?: string): Promise<number> {
    const open = await this.runs.open(tx, deletedId);
    const waiting = await this.work.cancelWaiting(tx, TRIAGE, open);
    const columns = { status: 'failed', error } as const;
    const changes = waiting.map((id) => ({ id, columns }));
    const failed = [...(await this.runs.change(tx, changes)).values()];
    const told = failed.filter(({ incident_id }) => incident_id !== deletedId);
    const incidents = told.map(({ incident_id }) => incident_id);
    await this.recorder.failed(tx, failed, await this.incidents.findBySubject(incidents, tx));
    return failed.length;
  }

  /** Gives up runs that have waited for a day for a provider. */
  private async giveUpOverdue(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - LONGEST_WAIT_MS);
    const { unusable } = this.model;
    let overdue: TriageRun[];
    do {
      overdue = await this.runs.overdue(before, unusable !== undefined, MOST_OVERDUE);
      const outcomes = overdue.map((run) => {
        return { run, error: unusable ? runErrorOf(unusable) : run.error! };
      });
      if (outcomes.length > 0) await this.transactions.run((tx) => this.giveUp(tx, outcomes));
    } while (overdue.length === MOST_OVERDUE);
  }

  private async giveUp(tx: Tx, outcomes: readonly Outcome[]): Promise<void> {
    const incidentIds = outcomes.map(({ run }) => run.incident_id);
    const incidents = await this.incidents.lockAllForUpdate(tx, incidentIds);
    const ids = outcomes.map(({ run }) => run.id);
    const waiting = await this.work.cancelWaiting(tx, TRIAGE, ids);
    const given = outcomes.filter(({ run }) => waiting.includes(run.id));
    await this.write(tx, given, incidents);
  }
}

function changeBy(outcome: Outcome, incidents: ReadonlyMap<string, Incident>): RunChange {
  const { run, found, dropped, waitsFor, isOfProvider, startedAt, used } = outcome;
  const { duration_ms = null } = outcome;
  const common = {
    notes: [...run.notes, ...(outcome.notes ?? []), ...(found?.notes ?? [])],
    ...(isOfProvider && { failures: run.failures + 1 }),
    ...(startedAt && { started_at: startedAt, provider: run.provider }),
    ...used?.asked,
  };
  const change = (columns: RunChange['columns']): RunChange => {
    return {
      id: run.id,
      columns: { ...common, ...columns },
      tokens: found?.tokens ?? used?.tokens,
    };
  };
  const incident = incidents.get(run.incident_id);
  if (found && incident) {
    const { verdict, recommended_actions, model, prompt_hash, points = null, toolCalls } = found;
    return change({
      ...{ verdict, recommended_actions, model, prompt_hash, points, duration_ms },
      status: 'completed',
      not_applied: whyNotApplied(incident, run) ?? null,
      tool_calls: toolCalls,
      error: null,
    });
  }
  if (dropped) return change({ status: 'failed', error: NOT_NEEDED[dropped] });
  const error = found ? INCIDENT_DELETED : outcome.error;
  if (!error) return change(waitsFor ? { error: waitsFor } : {});
  return change({ status: 'failed', error, duration_ms });
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
