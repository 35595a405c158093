import { Injectable, Logger } from '@nestjs/common';
import { ClaimLostError } from '../../actions/execution/lease-keeper.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import {
  afterCommit,
  type Participant,
  takesPart,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import { JointTransactions } from '../../platform/concurrency/joint-transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { IncidentIndicatorsRepository } from '../records/incident-indicators.repository.js';
import { RunClaimsRepository, type Used } from '../records/run-claims.repository.js';
import { RunRecorder } from '../records/run-recorder.js';
import { TriageSignals } from '../signals/triage-signals.js';
import { type NotApplied, type RunError, SYSTEM, type TriageRun } from '../triage-run.js';
import {
  INCIDENT_DELETED,
  isVerdictOutdated,
  KILLED,
  MOST_LAPSES,
  NOT_NEEDED,
  TAKEN_OVER,
  whyNotApplied,
} from './run-rules.js';
import type { Found } from './triage-judging.js';

export interface Failure {
  readonly error: RunError;
  readonly durationMs: number;
  readonly used: Used;
  /** The provider gave nothing. */
  readonly ofProvider: boolean;
}

/** Where no attempt ended the run there is no time of one. It counts all the same, for those who watch the failures. */
const NOT_TRIED_MS = 0;

/** The transactions that end runs: with a verdict, which may become that of the incident, or without one. */
@Injectable()
export class RunEndings {
  private readonly log = new Logger('Triage');
  private readonly together: JointTransactions;

  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: IncidentsService,
    private readonly claims: RunClaimsRepository,
    private readonly indicators: IncidentIndicatorsRepository,
    private readonly recorder: RunRecorder,
    private readonly signals: TriageSignals,
  ) {
    this.together = new JointTransactions(transactions);
  }

  /** Throws NotFoundError when the incident was deleted, and ClaimLostError. */
  async complete(
    run: TriageRun,
    found: Found,
    durationMs: number,
    idempotency: Participant<TriageRun> = {},
  ): Promise<TriageRun> {
    const end = (tx: Tx) => this.completeIn(tx, run, found, durationMs);
    if (takesPart(idempotency)) return await this.transactions.run<TriageRun>(end, idempotency);
    return await this.together.run(run.incidentId, end);
  }

  private async completeIn(
    tx: Tx,
    run: TriageRun,
    found: Found,
    durationMs: number,
  ): Promise<TriageRun> {
    const { verdict, recommendedActions, model, tokens } = found;
    const incident = await this.incidents.lockForUpdate(tx, run.incidentId);
    if (!incident) throw new NotFoundError('Incident');
    const notApplied = whyNotApplied(incident, run);
    const ended = await this.claims.end(tx, run, {
      status: 'completed',
      verdict,
      recommended_actions: recommendedActions,
      not_applied: notApplied ?? null,
      notes: [...run.notes, ...found.notes],
      model,
      prompt_hash: found.promptHash,
      points: found.points ?? null,
      toolCalls: found.toolCalls,
      error: null,
      duration_ms: durationMs,
      tokens,
    });
    if (!ended) throw new ClaimLostError();
    await this.indicators.add(tx, incident.id, found.indicators);
    const isProposed = notApplied !== undefined && isVerdictOutdated(incident, found.reportedAt);
    await this.recorder.completed(tx, ended, isProposed);
    afterCommit(tx, () => this.signals.ended('completed', durationMs));
    if (notApplied && !isProposed) return ended;
    const { classification, confidence, category, reasoning } = verdict;
    await this.incidents.change(
      tx,
      incident,
      isProposed
        ? { proposed: { classification, confidence, category, reasoning, triage_id: run.id } }
        : { verdict: { ...verdict, model, triage_id: run.id }, recommendedActions },
      {
        by: SYSTEM,
        byPerson: false,
        about: { type: 'triage', id: run.id },
        askedBy: run.requestedBy,
      },
    );
    return ended;
  }

  async fail(
    run: TriageRun,
    { error, durationMs, used, ofProvider }: Failure,
    idempotency: Participant<TriageRun> = {},
  ): Promise<TriageRun> {
    return await this.transactions.run<TriageRun>(async (tx) => {
      const failures = run.failures + (ofProvider ? 1 : 0);
      const changes = { status: 'failed', error, failures, duration_ms: durationMs } as const;
      const incident = await this.incidents.lockForUpdate(tx, run.incidentId);
      const ended = await this.claims.end(tx, run, { ...changes, ...used });
      if (!ended) throw new ClaimLostError();
      await this.recorder.failed(tx, ended, incident);
      afterCommit(tx, () => this.signals.ended('failed', durationMs));
      return ended;
    }, idempotency);
  }

  /** Nothing has failed, so that nobody is called: the run and the timeline tell. */
  async drop(run: TriageRun, why: NotApplied): Promise<TriageRun> {
    return await this.transactions.run(async (tx) => {
      const ended = await this.claims.end(tx, run, { status: 'failed', error: NOT_NEEDED[why] });
      if (!ended) throw new ClaimLostError();
      await this.recorder.dropped(tx, ended);
      return ended;
    });
  }

  /** It has waited for as long as a run may. Nothing happens when somebody else was faster. */
  async giveUp(run: TriageRun, error: RunError): Promise<void> {
    await this.transactions.run(async (tx) => {
      const incident = await this.incidents.lockForUpdate(tx, run.incidentId);
      const [ended] = await this.claims.failQueued(tx, error, { id: run.id });
      if (!ended) return;
      await this.recorder.failed(tx, ended, incident);
      afterCommit(tx, () => this.signals.ended('failed', NOT_TRIED_MS));
    });
  }

  /** What the kill switch held, where whoever turns it off does not want it any more. */
  async discardHeld(tx: Tx, by: string): Promise<number> {
    const message = `Discarded by ${by}, who turned the kill switch off.`;
    const ended = await this.claims.failQueued(tx, { reason: 'discarded', message });
    const ids = ended.map(({ incidentId }) => incidentId);
    await this.recorder.allFailed(tx, ended, await this.incidents.summariesOf(tx, ids));
    return ended.length;
  }

  /** One that is under way ends when it finds the incident gone. */
  async failOfDeleted(tx: Tx, incidentId: string): Promise<void> {
    const ended = await this.claims.failQueued(tx, INCIDENT_DELETED, { incident_id: incidentId });
    for (const run of ended) await this.recorder.failed(tx, run, undefined);
  }

  /** Settles the runs whose replica died: they wait again, until that has happened too often. */
  async settleLapsed(): Promise<void> {
    for (const run of await this.claims.lapsedTooOften(MOST_LAPSES)) {
      await this.transactions.run(async (tx) => {
        // First the incident, then the run: whoever completes a run locks them in the same order.
        const incident = await this.incidents.lockForUpdate(tx, run.incidentId);
        const [ended] = await this.claims.failLapsed(tx, run, KILLED);
        if (!ended) return;
        await this.recorder.failed(tx, ended, incident);
        afterCommit(tx, () => this.signals.ended('failed', NOT_TRIED_MS));
      });
    }
    const again = await this.claims.requeueLapsed(MOST_LAPSES, TAKEN_OVER);
    if (again.length === 0) return;
    const triage = again.map(({ id }) => id);
    this.log.warn({ triage }, `${again.length} triage runs are begun anew: their replica is gone.`);
  }
}
