import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { AppError } from '../../platform/errors/app-error.js';
import { IncidentEndings } from '../../incidents/incidents.service.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { BackgroundLoop, reportFailure } from '../../platform/concurrency/background-loop.js';
import { Settings } from '../../platform/config/settings.js';
import type { UnavailableReason } from '../model/model.errors.js';
import { TriageModel } from '../model/triage-model.port.js';
import { RunClaimsRepository } from '../records/run-claims.repository.js';
import { TriageRunsRepository } from '../records/triage-runs.repository.js';
import type { RunError, TriageRun } from '../triage-run.js';
import { RunClaims, RunPermits } from './run-claims.js';
import { RunEndings } from './run-endings.js';
import { type Obstacle, RunObstacles } from './run-obstacles.js';
import { LONGEST_WAIT_MS, runErrorOf } from './run-rules.js';
import { TriageRunner } from './triage-runner.js';

/** As many runs as one replica works on beside those that requests wait for: where somebody outside is asked, and where not. */
const MOST_ASKED_AT_ONCE = 4;
const MOST_AT_ONCE = 32;
/** So that runs that wait, and those that end meanwhile, are looked for together. */
const REST_MS = 5;
/** As many as one look gives up. */
const MOST_OVERDUE = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A provider that has answered somebody is given this time, and no longer a pause that it asked for before. */
const SOON_MS = 60_000;
const PAUSES_PER_LEASE = 4;
const TASK = 'Looking for triage runs that wait';

/**
 * Carries out the runs that wait: those that nobody waits for, and those whose replica died or stopped. Every replica looks,
 * and a claim decides which one goes on. While the kill switch holds them they go on waiting. So they do while nobody can be
 * asked, and show that: it costs one write for all of them.
 */
@Injectable()
export class RunQueue implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger('Triage');
  private readonly loop: BackgroundLoop;
  private readonly underWay = new Set<string>();
  private interruptedUnderWay = 0;
  private hasLooked = false;
  private settledAt = -Infinity;
  private readonly pauseMs: number;

  constructor(
    private readonly runner: TriageRunner,
    private readonly claims: RunClaims,
    private readonly endings: RunEndings,
    private readonly obstacles: RunObstacles,
    private readonly runs: TriageRunsRepository,
    private readonly repository: RunClaimsRepository,
    private readonly clock: Clock,
    private readonly killSwitch: KillSwitch,
    private readonly permits: RunPermits,
    private readonly model: TriageModel,
    private readonly incidentEndings: IncidentEndings,
    settings: Settings,
  ) {
    this.pauseMs = Math.min(LONGEST_PAUSE_MS, settings.actionLeaseMs / PAUSES_PER_LEASE);
    const options = { task: TASK, log: this.log, pauseMs: this.pauseMs, restMs: REST_MS };
    this.loop = new BackgroundLoop(options, () => this.look());
  }

  onModuleInit(): void {
    if (this.permits.areNeeded) this.registerWithKillSwitch();
    this.incidentEndings.register({
      onDeleted: (tx, incidentId) => this.endings.failOfDeleted(tx, incidentId),
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  /** A run waits, or one has ended. */
  wake(): void {
    this.loop.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private registerWithKillSwitch(): void {
    this.killSwitch.registerInFlight(() => this.repository.countUnderWay());
    this.killSwitch.onTurnedOff(() => this.wake());
    this.killSwitch.registerHeld('triage_runs', {
      count: async () => (await this.runs.countOpen()).queued,
      discard: (tx, caller) => this.endings.discardHeld(tx, caller.name),
    });
  }

  private async look(): Promise<void> {
    await this.settleLapsed();
    await this.goOn();
    const { unusable } = this.model;
    if (unusable) return await this.waitForProvider(runErrorOf(unusable));
    const most = this.model.asksOutside ? MOST_ASKED_AT_ONCE : MOST_AT_ONCE;
    const places = (this.obstacles.isTrying ? 1 : most) - this.underWay.size;
    if (places <= 0) return;
    const due = await this.repository.due(places, [...this.underWay]);
    if (due.length === 0 || (await this.permits.areWithheld())) return;
    const obstacle = await this.obstacles.now();
    if (obstacle) return await this.postpone(obstacle);
    for (const run of this.withOneInterrupted(due)) void this.begin(run);
  }

  /**
   * Of the runs whose replica died in the middle, one may have ended it. They are begun one at a time, so that this run alone is
   * interrupted too often, and not those beside it.
   */
  private withOneInterrupted(due: readonly TriageRun[]): TriageRun[] {
    let isTaken = this.interruptedUnderWay > 0;
    return due.filter(({ lapses }) => {
      if (lapses === 0) return true;
      const isFirst = !isTaken;
      isTaken = true;
      return isFirst;
    });
  }

  /** Once in a pause, however often it is woken. */
  private async settleLapsed(): Promise<void> {
    if (performance.now() - this.settledAt < this.pauseMs) return;
    await this.endings.settleLapsed();
    this.settledAt = performance.now();
  }

  /** Those of before are due at the first look of a replica that asks somebody else: nothing that they wait for counts any more. */
  private async goOn(): Promise<void> {
    if (!this.hasLooked) await this.repository.bringForwardOfOthers(this.model.provider);
    this.hasLooked = true;
    await this.bringForward(this.obstacles.rested, SOON_MS);
    await this.bringForward(await this.obstacles.over(), 0);
  }

  private async bringForward(reasons: readonly UnavailableReason[], ms: number): Promise<void> {
    if (reasons.length === 0) return;
    await this.repository.bringForward(reasons, ms);
    this.obstacles.wentOn(reasons);
  }

  private async postpone({ error, until, isFault }: Obstacle): Promise<void> {
    const waits = { error: runErrorOf(error), provider: this.model.provider, until };
    if (!isFault) return await this.repository.postpone(waits);
    if (await this.giveUpOverdue(waits.error)) return;
    await this.repository.postpone(waits, LONGEST_WAIT_MS);
  }

  /** Their time stays: any replica that has a provider may begin them at once. */
  private async waitForProvider(error: RunError): Promise<void> {
    if (await this.giveUpOverdue(error)) return;
    await this.repository.showWaiting(error, this.model.provider);
  }

  /** Whether there may be more of them. */
  private async giveUpOverdue(error: RunError): Promise<boolean> {
    const before = new Date(this.clock.now().getTime() - LONGEST_WAIT_MS);
    const overdue = await this.repository.overdue(before, MOST_OVERDUE);
    for (const run of overdue) await this.endings.giveUp(run, error);
    if (overdue.length === MOST_OVERDUE) this.wake();
    return overdue.length === MOST_OVERDUE;
  }

  private async begin(run: TriageRun): Promise<void> {
    this.underWay.add(run.id);
    const interrupted = run.lapses > 0 ? 1 : 0;
    this.interruptedUnderWay += interrupted;
    let isDone = false;
    try {
      const claimed = await this.claims.claim(run);
      if (claimed) await this.runner.run(claimed);
      isDone = true;
    } catch (error) {
      // The kill switch was turned on between the look and the claim: the run is as it was.
      if (error instanceof AppError && error.code === 'kill_switch_active') return;
      reportFailure(this.log, `The triage run ${run.id}`, error);
    } finally {
      this.underWay.delete(run.id);
      this.interruptedUnderWay -= interrupted;
    }
    if (isDone) this.wake();
  }
}
