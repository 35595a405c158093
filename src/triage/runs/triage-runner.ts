import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import {
  CallDeadlineError,
  ClaimLostError,
  LeaseKeeper,
} from '../../actions/execution/lease-keeper.js';
import {
  isKillSwitchActive,
  KillSwitch,
  PermitGate,
  PermitLapsed,
} from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { unlessAborted, within } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import type { Participant } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { traced } from '../../platform/tracing/tracing.js';
import { ModelUnavailableError } from '../model/model.errors.js';
import { TokenMeter } from '../model/token-use.js';
import type { Used } from '../records/run-claims.repository.js';
import { TriageSignals } from '../signals/triage-signals.js';
import type { RunError, TriageRun } from '../triage-run.js';
import { type ClaimedRun, RunClaims } from './run-claims.js';
import { RunEndings } from './run-endings.js';
import { RunObstacles } from './run-obstacles.js';
import {
  BROKEN,
  INCIDENT_DELETED,
  isTriedAgain,
  runErrorOf,
  STOPPED_BY_KILL_SWITCH,
} from './run-rules.js';
import { type Found, NotNeededError, TriageJudging } from './triage-judging.js';

/** A request that waits for the run: it is told of a failure at once, instead of the run being tried again. */
export interface Waiting {
  /** Takes part in the transaction that completes the run. */
  readonly completed: Participant<TriageRun>;
  /** Takes part in the transaction that ends it without a verdict. */
  readonly failed: Participant<TriageRun>;
}

export interface RunOutcome {
  /** It has ended, or waits again. */
  readonly run: TriageRun;
  /** Why there is no verdict, where this replica knows. */
  readonly cause?: unknown;
}

/** One attempt, as far as its errors have to know. */
interface Attempt {
  readonly run: TriageRun;
  readonly waiting?: Waiting;
  /** Whether it is tried again where that may help. */
  readonly goesOn: boolean;
  readonly durationMs: number;
  readonly used: Used;
}

class ShutdownError extends Error {}

const AGAIN_SOON_MS = 1_000;
/** A stopping service lets runs end for this part of its grace; the rest is for writing down that they wait. */
const PART_OF_GRACE = 0.5;

/** Carries a claimed run out, for a request that waits and for the queue alike. */
@Injectable()
export class TriageRunner implements BeforeApplicationShutdown {
  private readonly log = new Logger('Triage');
  private readonly stop = new AbortController();
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    private readonly judging: TriageJudging,
    private readonly killSwitch: KillSwitch,
    private readonly claims: RunClaims,
    private readonly endings: RunEndings,
    private readonly obstacles: RunObstacles,
    private readonly signals: TriageSignals,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  async run(claimed: ClaimedRun, waiting?: Waiting): Promise<RunOutcome> {
    const outcome = this.attemptInTrace(claimed, waiting);
    this.underWay.add(outcome);
    try {
      return await outcome;
    } finally {
      this.underWay.delete(outcome);
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    const ended = Promise.allSettled(this.underWay);
    await within(this.settings.shutdownGraceMs * PART_OF_GRACE, ended, () => undefined);
    this.stop.abort(new ShutdownError('The service stops.'));
    await Promise.allSettled(this.underWay);
  }

  private attemptInTrace(claimed: ClaimedRun, waiting?: Waiting): Promise<RunOutcome> {
    const { id, incidentId } = claimed.run;
    const attributes = { 'triage.id': id, 'incident.id': incidentId };
    return traced(
      () => ({ name: 'triage run', kind: 'internal', attributes }),
      async (span) => {
        const outcome = await this.attempt(claimed, waiting).catch(async (error: unknown) => {
          if (!(error instanceof ClaimLostError)) throw error;
          return { run: await this.claims.present(claimed.run) };
        });
        span?.note({ 'triage.status': outcome.run.status });
        return outcome;
      },
    );
  }

  private async attempt(
    { run, permit, hasWaited = false }: ClaimedRun,
    waiting?: Waiting,
  ): Promise<RunOutcome> {
    const lease = new LeaseKeeper(run, {
      leaseMs: this.settings.actionLeaseMs,
      deadlineMs: this.settings.triageTimeoutMs,
      renew: (claimed) => this.claims.renew(claimed),
    });
    const meter = new TokenMeter();
    const started = performance.now();
    const elapsed = () => Math.round(performance.now() - started);
    let tokens: Used['tokens'];
    try {
      const found = await this.judge(run, permit, lease.signal, meter);
      tokens = found.tokens;
      this.signals.answered();
      this.obstacles.answered();
      return { run: await this.endings.complete(run, found, elapsed(), waiting?.completed) };
    } catch (error) {
      tokens ??= tokensOf(error) ?? meter.used;
      const used = { tokens, asked: meter.asked };
      const goesOn = !waiting || hasWaited;
      return await this.afterError({ run, waiting, goesOn, durationMs: elapsed(), used }, error);
    } finally {
      if (tokens) this.signals.used(tokens);
      lease.stop();
    }
  }

  /** Throws what ended the attempt: a model that ignores the signal is not waited for. */
  private async judge(
    run: TriageRun,
    permit: ClaimedRun['permit'],
    over: AbortSignal,
    meter: TokenMeter,
  ): Promise<Found> {
    const signal = AbortSignal.any([over, this.stop.signal]);
    const gate = new PermitGate(this.killSwitch, permit, signal, {
      reclaim: (tx) => this.claims.confirm(tx, run),
    });
    try {
      return await unlessAborted(signal, this.judging.judge(run, gate, signal, meter));
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  }

  private async afterError(attempt: Attempt, error: unknown): Promise<RunOutcome> {
    const { run, waiting, used } = attempt;
    if (error instanceof ClaimLostError) throw error;
    if (error instanceof ShutdownError) return { run: await this.claims.release(run, 0, used) };
    if (error instanceof PermitLapsed || isDatabaseUnavailable(error)) {
      return { run: await this.claims.release(run, AGAIN_SOON_MS, used) };
    }
    if (isKillSwitchActive(error)) {
      if (!waiting) return { run: await this.claims.release(run, 0, used) };
      return await this.fail(attempt, STOPPED_BY_KILL_SWITCH, error);
    }
    if (error instanceof NotNeededError) return { run: await this.endings.drop(run, error.why) };
    if (error instanceof NotFoundError) return await this.fail(attempt, INCIDENT_DELETED, error);
    const unavailable = error instanceof CallDeadlineError ? this.tooLate() : error;
    if (unavailable instanceof ModelUnavailableError) {
      return await this.withoutVerdict(attempt, unavailable);
    }
    this.log.error({ err: error, triage: run.id }, 'A triage run ended in an error.');
    return await this.fail(attempt, BROKEN, error);
  }

  private async withoutVerdict(
    attempt: Attempt,
    error: ModelUnavailableError,
  ): Promise<RunOutcome> {
    this.signals.unavailable(error);
    this.obstacles.met(error);
    const { run, waiting, goesOn, used } = attempt;
    if (goesOn && isTriedAgain(run, error, this.clock.now())) {
      const waits = await this.claims.retryLater(run, error, used, waiting?.failed);
      return { run: waits, cause: error };
    }
    return await this.fail(attempt, runErrorOf(error), error);
  }

  private async fail(attempt: Attempt, error: RunError, cause: unknown): Promise<RunOutcome> {
    const { run, waiting, durationMs, used } = attempt;
    const ofProvider = cause instanceof ModelUnavailableError;
    const failure = { error, durationMs, used, ofProvider };
    return { run: await this.endings.fail(run, failure, waiting?.failed), cause };
  }

  private tooLate(): ModelUnavailableError {
    const message = `There was no verdict within ${this.settings.triageTimeoutMs} ms.`;
    return new ModelUnavailableError('timeout', message, { mayHelpLater: true });
  }
}

function tokensOf(error: unknown): Used['tokens'] {
  return error instanceof ModelUnavailableError ? error.extras.tokens : undefined;
}
