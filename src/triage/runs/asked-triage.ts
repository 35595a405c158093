import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { isKillSwitchActive, KillSwitch } from '../../kill-switch/kill-switch.js';
import { type Permit, PermitGate, PermitLapsed } from '../../kill-switch/permit.js';
import { Clock } from '../../platform/clock.js';
import { unlessAborted, within } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { AgainOutcome, type Claimed, type Ended, LostClaims } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import {
  ModelUnavailableError,
  TokenMeter,
  TriageModel,
  type UnavailableReason,
} from '../model/triage-model.port.js';
import { TRIAGE, TriageRunsRepository } from '../records/triage-runs.repository.js';
import type { TriageRun } from '../triage-run.js';
import { type Outcome, RunEndings } from './run-endings.js';
import {
  BROKEN,
  hasLapsedTooOften,
  INCIDENT_DELETED,
  isTriedAgain,
  KILLED,
  MOST_CLAIMS,
  retryPauseMs,
  runErrorOf,
  STOPPED_BY_KILL_SWITCH,
  TAKEN_OVER,
} from './run-rules.js';
import { ProviderState } from './provider-state.js';
import { type Found, NotNeededError, TriageJudging } from './triage-judging.js';

/** Joins the transaction that ends the attempt for which a request waits. */
export interface Waiting {
  readonly completed: Participant<TriageRun>;
  readonly failed: Participant<TriageRun>;
}

interface Waiter extends Waiting {
  /** The run waited before the request, so it is retried after a failure of the provider. */
  readonly hasWaited: boolean;
  run?: TriageRun;
  /** Why there is no verdict. */
  cause?: unknown;
}

interface Attempt extends Outcome {
  readonly unavailable?: ModelUnavailableError;
}

const MOST_AT_ONCE = 4;
const AGAIN_SOON_MS = 1_000;
/** Part of the grace period of a shutdown in which runs may end. The rest is for the release of the other runs. */
const PART_OF_GRACE = 0.5;
/** Maximum pause after the provider has answered another run. */
const SOON_MS = 60_000;
const PAUSE_REASONS: readonly UnavailableReason[] = ['rate_limited', 'overloaded'];

class ShutdownError extends Error {}

/**
 * Executes runs with a model outside, one run per place, behind the kill switch. The lane is paused while an operator must repair
 * something or the tokens of the hour are used up, so that runs wait without a request.
 */
@Injectable()
export class AskedTriage
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly log = new Logger('Triage');
  private readonly stop = new AbortController();
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly waiters = new Map<string, Waiter>();

  constructor(
    private readonly judging: TriageJudging,
    private readonly killSwitch: KillSwitch,
    private readonly runs: TriageRunsRepository,
    private readonly endings: RunEndings,
    private readonly provider: ProviderState,
    private readonly model: TriageModel,
    private readonly transactions: Transactions,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    if (!this.model.asksOutside) return;
    this.work.define<unknown, Attempt | undefined>({
      ...TRIAGE,
      hasOwnGauges: true,
      places: MOST_AT_ONCE,
      timeLimitMs: 2 * this.settings.triageTimeoutMs,
      mostAttempts: MOST_CLAIMS,
      gate: (tx) => this.killSwitch.permitIfOff(tx),
      one: (row) => this.tracked(this.attempt(row)),
      write: (tx, ended) => this.write(tx, ended),
      gaveUp: (tx, { ref }) => this.endings.gaveUp(tx, ref),
    });
  }

  /** Settings may have changed. Pauses that the same provider asked for stay. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.model.unusable) return;
    const goOn = this.transactions.run((tx) => this.goOn(tx, [], 0));
    await goOn.catch((err: unknown) =>
      this.log.warn({ err }, 'Waiting runs could not be started earlier.'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    const ended = Promise.allSettled(this.underWay);
    await within(this.settings.shutdownGraceMs * PART_OF_GRACE, ended, () => undefined);
    this.stop.abort(new ShutdownError('The service stops.'));
    await Promise.allSettled(this.underWay);
  }

  /** Begins a run right after the commit. Returns a function that awaits its outcome. */
  async begin(
    tx: Tx,
    { id }: TriageRun,
    waiting: Waiting & Pick<Waiter, 'hasWaited'>,
    permit: Permit,
  ): Promise<() => Promise<Pick<Waiter, 'run' | 'cause'>>> {
    const waiter: Waiter = { ...waiting };
    afterCommit(tx, () => void this.waiters.set(id, waiter));
    const ended = (await this.work.addClaimed(tx, TRIAGE, [{ ref: id }], permit)).get(id)!;
    return async () => {
      await this.tracked(ended);
      this.waiters.delete(id);
      return waiter;
    };
  }

  /** A shutdown waits for this work. */
  private async tracked<T>(work: Promise<T>): Promise<T> {
    this.underWay.add(work);
    try {
      return await work;
    } finally {
      this.underWay.delete(work);
    }
  }

  private async attempt(row: Claimed): Promise<Attempt | AgainOutcome<Attempt> | undefined> {
    const run = await this.runs.begin(row.ref, this.model.provider);
    if (!run) return undefined;
    if (hasLapsedTooOften(row)) return { run, error: KILLED };
    const waiter = this.waiters.get(run.id);
    const shortage = waiter ? undefined : await this.provider.shortage();
    if (shortage) return again(0, { run, unavailable: shortage });
    const meter = new TokenMeter();
    const begun = performance.now();
    const notes = row.lapsed && !run.notes.includes(TAKEN_OVER) ? [TAKEN_OVER] : [];
    if (row.lapsed) this.log.warn({ triage: run.id }, 'A run is tried again: its replica is gone.');
    const ended = () => {
      const duration_ms = Math.round(performance.now() - begun);
      return { run, notes, used: meter, duration_ms };
    };
    try {
      const found = await this.judge(run, row, meter);
      this.provider.answered();
      this.provider.used(found.tokens);
      return { ...ended(), found };
    } catch (error) {
      if (row.signal.aborted || error instanceof LostClaims) throw error;
      this.provider.used(meter.tokens);
      if (waiter) waiter.cause = error;
      return this.afterError(ended(), error, waiter);
    }
  }

  /** Throws why there is no verdict. A model that ignores the signal is not awaited. */
  private async judge(run: TriageRun, row: Claimed, meter: TokenMeter): Promise<Found> {
    const { triageTimeoutMs } = this.settings;
    const timeout = AbortSignal.timeout(triageTimeoutMs);
    const signal = AbortSignal.any([row.signal, this.stop.signal, timeout]);
    const permit = row.permit as Permit | undefined;
    // The note confirms the claim in the transaction of the permit.
    const gate = new PermitGate(this.killSwitch, permit, signal, {
      reclaim: (tx) => row.note({}, tx),
    });
    const judge = async () => {
      const given = (await this.judging.read([run])).get(run.incident_id);
      if (!given) throw new NotFoundError('Incident');
      return await this.judging.judge(run, given, { gate, signal, meter });
    };
    try {
      return await unlessAborted(signal, judge());
    } catch (error) {
      if (!signal.aborted) throw error;
      if (signal.reason !== timeout.reason) throw signal.reason;
      const message = `There was no verdict within ${triageTimeoutMs} ms.`;
      throw new ModelUnavailableError('timeout', message, { mayHelpLater: true });
    }
  }

  private afterError(
    attempt: Outcome,
    error: unknown,
    waiter: Waiter | undefined,
  ): Attempt | AgainOutcome<Attempt> {
    if (error instanceof ShutdownError) return again(0, attempt);
    if (error instanceof PermitLapsed || isDatabaseUnavailable(error)) {
      return again(AGAIN_SOON_MS, attempt);
    }
    if (isKillSwitchActive(error)) {
      return waiter ? { ...attempt, error: STOPPED_BY_KILL_SWITCH } : again(0, attempt);
    }
    if (error instanceof NotNeededError) return { ...attempt, dropped: error.why };
    if (error instanceof NotFoundError) return { ...attempt, error: INCIDENT_DELETED };
    if (error instanceof ModelUnavailableError) return this.withoutVerdict(attempt, error, waiter);
    this.log.error({ err: error, triage: attempt.run.id }, 'A triage run ended in an error.');
    return { ...attempt, error: BROKEN };
  }

  private withoutVerdict(
    { run, ...attempt }: Outcome,
    unavailable: ModelUnavailableError,
    waiter: Waiter | undefined,
  ): Attempt | AgainOutcome<Attempt> {
    this.provider.unavailable(unavailable);
    const ended = { ...attempt, run, unavailable, isOfProvider: true };
    const error = runErrorOf(unavailable);
    const mayGoOn = !waiter || waiter.hasWaited;
    if (!mayGoOn || !isTriedAgain(run, unavailable, this.clock.now())) return { ...ended, error };
    const pauseMs = retryPauseMs(run.failures, unavailable, Math.random());
    // The pause of the lane is the pause of the run.
    return again(unavailable.extras.needsOperator ? 0 : pauseMs, { ...ended, waitsFor: error });
  }

  private async write(tx: Tx, all: readonly Ended<unknown, Attempt | undefined>[]): Promise<void> {
    const attempts = all.flatMap(({ result }) => result ?? []);
    const runs = await this.endings.write(tx, attempts);
    for (const attempt of attempts) {
      const run = runs.get(attempt.run.id);
      const waiter = this.waiters.get(attempt.run.id);
      if (run && waiter) await this.tellWaiter(tx, waiter, run, attempt);
      await this.showProvider(tx, attempt);
    }
  }

  private async tellWaiter(tx: Tx, waiter: Waiter, run: TriageRun, attempt: Attempt) {
    const { completed, failed } = waiter;
    const isReleased = run.status === 'queued' && !attempt.waitsFor;
    const participant = run.status === 'completed' ? completed : isReleased ? {} : failed;
    await participant.begin?.(tx);
    await participant.finish?.(tx, run);
    const isDeleted = run.error?.reason === 'incident_deleted';
    afterCommit(tx, () => {
      waiter.run = run;
      if (isReleased) waiter.cause = undefined;
      if (isDeleted) waiter.cause = new NotFoundError('Incident');
    });
  }

  /** Pauses the lane while no run can succeed, and ends the pause after an answer of the provider. */
  private async showProvider(tx: Tx, { found, unavailable }: Attempt): Promise<void> {
    if (found ?? unavailable?.isAboutIncident) {
      await this.goOn(tx, PAUSE_REASONS, SOON_MS);
    } else if (unavailable?.reason === 'token_budget') {
      const { retryAfterMs = 0 } = unavailable.extras;
      await this.work.slowLane(tx, TRIAGE.name, retryAfterMs, 0, runErrorOf(unavailable));
    } else if (unavailable?.extras.needsOperator) {
      const pauseMs = retryPauseMs(0, unavailable, Math.random());
      await this.work.slowLane(tx, TRIAGE.name, pauseMs, Infinity, runErrorOf(unavailable));
    }
  }

  /** Also starts runs earlier that wait for these reasons, or that waited for another provider. */
  private async goOn(tx: Tx, reasons: readonly UnavailableReason[], inMs: number): Promise<void> {
    await this.work.resumeLane(tx, TRIAGE.name, true);
    const resting = await this.runs.resting(tx, this.model.provider, reasons);
    await this.work.hurry(tx, TRIAGE, resting, inMs);
  }
}

/** Returns to the lane behind the gate, also after a lapsed claim. */
function again(inMs: number, attempt: Attempt): AgainOutcome<Attempt> {
  return new AgainOutcome({ inMs, lane: TRIAGE.name, countsAsAttempt: false }, attempt);
}
