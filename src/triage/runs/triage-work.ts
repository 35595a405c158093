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
import { ModelUnavailableError, TokenMeter, TriageModel } from '../model/triage-model.port.js';
import { TRIAGE, TriageRunsRepository } from '../triage-runs.repository.js';
import { failureOf, type TriageRun } from '../triage-run.js';
import { type Outcome, RunEndings } from './run-endings.js';
import { ProviderState } from './provider-state.js';
import { TriageJudging } from './triage-judging.js';

/** Participants of a waiting request. One of them joins the transaction that ends the attempt. */
export interface Waiting {
  readonly completed: Participant<TriageRun>;
  readonly failed: Participant<TriageRun>;
}

interface Waiter extends Waiting {
  /** True if the run was already waiting before the request. Then a failure of the provider leads to a retry. */
  readonly hasWaited: boolean;
  ended?: Promise<void>;
  cause?: unknown;
}

const MOST_AT_ONCE = 4;
const AGAIN_SOON_MS = 1_000;
/** Share of the shutdown grace period for a waiting request. The work engine stops only after all requests end. */
const PART_OF_GRACE = 0.5;

const TAKEN_OVER =
  'The replica of an earlier attempt ended in the middle of the attempt, so there was another attempt.';

class ShutdownError extends Error {}

/** Executes queued runs. The kill switch, a wrong setting or a used-up token budget stops runs of external models. */
@Injectable()
export class TriageWork implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger('Triage');
  private readonly stop = new AbortController();
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
    const { asksOutside } = this.model;
    this.work.define<unknown, Outcome | undefined>({
      ...TRIAGE,
      places: MOST_AT_ONCE,
      timeLimitMs: 2 * this.settings.triageTimeoutMs,
      gate: asksOutside ? (tx) => this.killSwitch.permitIfOff(tx) : undefined,
      one: (row) => this.attempt(row),
      write: (tx, ended) => this.write(tx, ended),
      gaveUp: (tx, row) => this.endings.gaveUp(tx, row),
    });
  }

  /** Resumes waiting runs, because settings may have changed. */
  async onApplicationBootstrap(): Promise<void> {
    const resumed = this.transactions.run(async (tx) => {
      await this.work.resumeLane(tx, TRIAGE.name);
      await this.work.hurryLane(tx, TRIAGE.name);
    });
    await resumed.catch((err: unknown) =>
      this.log.warn({ err }, 'Waiting runs could not be resumed.'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    const ended = Promise.all([...this.waiters.values()].flatMap(({ ended }) => ended ?? []));
    await within(this.settings.shutdownGraceMs * PART_OF_GRACE, ended, () => undefined);
    this.stop.abort(new ShutdownError('The service stops.'));
  }

  /** Claims the run for the request. The result waits for the end of the attempt, and throws if the attempt fails. */
  async begin(
    tx: Tx,
    { id, incident_id }: TriageRun,
    waiting: Waiting & Pick<Waiter, 'hasWaited'>,
    permit: Permit,
  ): Promise<() => Promise<TriageRun | undefined>> {
    const waiter: Waiter = { ...waiting };
    afterCommit(tx, () => void this.waiters.set(id, waiter));
    waiter.ended = (await this.work.addClaimed(tx, TRIAGE, [{ ref: id }], permit)).get(id);
    return async () => {
      await waiter.ended;
      this.waiters.delete(id);
      if (waiter.cause) throw waiter.cause as Error;
      return await this.runs.find(incident_id, id);
    };
  }

  private async attempt(row: Claimed): Promise<Outcome | AgainOutcome<Outcome> | undefined> {
    const columns = { provider: this.model.provider, started_at: this.clock.now() };
    const run = (await this.runs.change(undefined, [{ id: row.ref, columns }])).get(row.ref);
    if (!run) return undefined;
    const waiter = this.waiters.get(run.id);
    const shortage = waiter ? undefined : await this.provider.shortage();
    if (shortage) return again(0, { run, unavailable: shortage });
    const meter = new TokenMeter();
    const begun = performance.now();
    const notes = row.lapsed ? [TAKEN_OVER] : [];
    if (row.lapsed) this.log.warn({ triage: run.id }, 'A run is retried: its replica stopped.');
    const ended = () => {
      const duration_ms = Math.round(performance.now() - begun);
      return { run, notes, tokens: meter.tokens, columns: { ...meter.asked, duration_ms } };
    };
    const timeout = AbortSignal.timeout(this.settings.triageTimeoutMs);
    const signal = AbortSignal.any([row.signal, timeout, ...(waiter ? [this.stop.signal] : [])]);
    // The transaction of the permit also confirms the claim.
    const reclaim = (tx: Tx) => row.note({}, tx);
    const permit = row.permit as Permit | undefined;
    const gate = new PermitGate(this.killSwitch, permit, signal, { reclaim });
    const judge = async () => {
      const known = (await this.judging.read([run])).get(run.incident_id);
      return await this.judging.judge(run, known, { gate, signal, meter });
    };
    try {
      // Does not wait for a model that ignores the signal.
      const result = await unlessAborted(signal, judge());
      if (result.found) this.provider.answered();
      return { ...ended(), ...result };
    } catch (error) {
      const cause: unknown = signal.aborted ? signal.reason : error;
      if (row.signal.aborted || cause instanceof LostClaims) throw cause;
      const message = `There was no verdict within ${this.settings.triageTimeoutMs} ms.`;
      const late = new ModelUnavailableError('timeout', message, 'time');
      return this.afterError(ended(), cause === timeout.reason ? late : cause, waiter);
    } finally {
      this.provider.used(meter.tokens);
    }
  }

  private afterError(
    attempt: Outcome,
    error: unknown,
    waiter: Waiter | undefined,
  ): Outcome | AgainOutcome<Outcome> {
    if (error instanceof ShutdownError) return again(0, attempt);
    if (error instanceof PermitLapsed || isDatabaseUnavailable(error)) {
      return again(AGAIN_SOON_MS, attempt);
    }
    if (waiter) waiter.cause = error;
    if (isKillSwitchActive(error)) {
      return waiter ? { ...attempt, error: failureOf('kill_switch') } : again(0, attempt);
    }
    if (!(error instanceof ModelUnavailableError)) {
      return { ...attempt, error: this.endings.errorOf(error, attempt.run) };
    }
    this.provider.unavailable(error);
    const { run } = attempt;
    const columns = { ...attempt.columns, failures: run.failures + 1 };
    const ended = { ...attempt, columns, unavailable: error, error: error.why };
    const mayGoOn = !waiter || waiter.hasWaited;
    if (!mayGoOn || !isTriedAgain(run, error, this.clock.now())) return ended;
    // For `operator`, the lane is paused, so the run itself needs no pause.
    const pauseMs = retryPauseMs(run.failures, error, Math.random());
    return again(error.remedy === 'operator' ? 0 : pauseMs, ended);
  }

  private async write(tx: Tx, all: readonly Ended<unknown, Outcome | undefined>[]): Promise<void> {
    const attempts = all.flatMap(({ result }) => result ?? []);
    const runs = await this.endings.write(tx, attempts);
    for (const { run: before, error, found, unavailable } of attempts) {
      const run = runs.get(before.id);
      const waiter = this.waiters.get(before.id);
      // If the run waits without an error, another replica or a later attempt continues it: do not answer yet.
      if (run && waiter && (run.status !== 'queued' || error)) {
        const participant = run.status === 'completed' ? waiter.completed : waiter.failed;
        await participant.begin?.(tx);
        await participant.finish?.(tx, run);
        if (run.error?.reason === 'incident_deleted') waiter.cause = new NotFoundError('Incident');
      }
      if (found ?? unavailable?.isAboutIncident) {
        await this.work.resumeLane(tx, TRIAGE.name);
      } else if (unavailable?.remedy === 'operator' || unavailable?.reason === 'token_budget') {
        const pauseMs = retryPauseMs(0, unavailable, Math.random());
        await this.work.slowLane(tx, TRIAGE.name, pauseMs, Infinity, unavailable.why);
      }
    }
  }
}

/** Returns the run to its lane with the permit check. Also used after an expired claim. */
function again(inMs: number, { columns, ...attempt }: Outcome): AgainOutcome<Outcome> {
  const result = { ...attempt, columns: { ...columns, duration_ms: undefined }, isWaiting: true };
  return new AgainOutcome({ inMs, lane: TRIAGE.name, countsAsAttempt: false }, result);
}

const FIRST_PAUSE_MS = 2_000;
const OPERATORS_PAUSE_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 10 * 60_000;
const LONGEST_WAIT_MS = 24 * 60 * 60_000;

/** True if a background run is retried. After LONGEST_WAIT_MS (a day) a verdict is too late. */
export function isTriedAgain(
  { created_at }: Pick<TriageRun, 'created_at'>,
  { remedy }: ModelUnavailableError,
  now: Date,
): boolean {
  return remedy !== 'nothing' && now.getTime() - created_at.getTime() < LONGEST_WAIT_MS;
}

/**
 * Returns the pause before the next attempt: longer after each failure, and at least the pause that the provider
 * requests.
 * @param chance from 0 to 1, so that runs that failed together do not retry together
 */
export function retryPauseMs(
  failures: number,
  { remedy, retryAfterMs = 0 }: ModelUnavailableError,
  chance: number,
): number {
  const usual = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 16));
  const pause = (remedy === 'operator' ? OPERATORS_PAUSE_MS : usual) * (1 + chance / 4);
  return Math.round(Math.max(pause, retryAfterMs));
}
