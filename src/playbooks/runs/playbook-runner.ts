import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { ClaimLostError } from '../../actions/execution/lease-keeper.js';
import { simulatedResult } from '../../actions/execution/execution-rules.js';
import { Failpoints } from '../../actions/execution/claims.js';
import { reportFailure } from '../../platform/concurrency/background-loop.js';
import { within } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import { isKillSwitchActive } from '../../kill-switch/kill-switch.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { traced } from '../../platform/tracing/tracing.js';
import { PlaybooksService } from '../playbooks.service.js';
import type { PlaybookStep } from '../playbook.js';
import { foreseenMoves, type ForeseenMoves, type StepDecider } from './next-move.js';
import { isOpen, type PlaybookRunSummary, type ReachedStep, waitsForTurn } from './playbook-run.js';
import { PlaybookRunsRepository } from './records/playbook-runs.repository.js';
import { RunWritesRepository } from './records/run-writes.repository.js';
import { type Connectors, goesOnWith, RunMoves } from './run-moves.js';
import { StepDecisions } from './step-decisions.js';

/** The places of a run at which a crash leaves something different behind. The numbers are those of no other failpoint. */
export const RUN_FAILPOINT = {
  /** The run is created, or claimed from the queue, and nothing is done. */
  claimed: 101,
  /** It is decided what comes next, and nothing is written. */
  decided: 102,
  /** The step has its action, which nobody has begun unless it was claimed with that. */
  begun: 103,
  /** The action has ended, or takes long, and the run does not know. */
  acted: 104,
  /** The run was saved as resting or ended, and no caller has its answer yet. */
  left: 105,
} as const;

/** After so many claims that did not move it, the run itself may be what kills the replicas. */
const MOST_ATTEMPTS = 10;
const BROKEN = 'The service could not go on with it; see its log.';
const PART_OF_GRACE = 0.5;

/** One of the few with which the queue carries on runs. */
export interface Turn {
  /** Another run may have it. Again does nothing. */
  readonly letGo: () => void;
}

/** Carries a claimed run on, for a request that waits and for the queue alike, until it rests or has ended. */
@Injectable()
export class PlaybookRunner implements BeforeApplicationShutdown {
  private readonly log = new Logger('Playbooks');
  private readonly underWay = new Set<Promise<void>>();
  private stopping = false;

  constructor(
    private readonly playbooks: PlaybooksService,
    private readonly runs: PlaybookRunsRepository,
    private readonly writes: RunWritesRepository,
    private readonly decisions: StepDecisions,
    private readonly moves: RunMoves,
    private readonly failpoints: Failpoints,
    private readonly settings: Settings,
  ) {}

  /**
   * Never throws. What goes wrong leaves the run to whoever claims it when the lease is over. `turn` is of a run that nobody
   * waits for.
   */
  async carryOn(run: PlaybookRunSummary, _turn?: Turn): Promise<void> {
    const attributes = { 'playbook_run.id': run.id, 'incident.id': run.incidentId };
    const work = traced(
      () => ({ name: 'playbook run', kind: 'internal', attributes }),
      () => this.attempt(run),
    ).catch((error: unknown) => this.afterError(run, error));
    this.underWay.add(work);
    await work;
    this.underWay.delete(work);
  }

  /** No step begins any more. The actions that are under way end with their executor. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    const rested = Promise.allSettled(this.underWay);
    await within(this.settings.shutdownGraceMs * PART_OF_GRACE, rested, () => undefined);
  }

  private async attempt(run: PlaybookRunSummary): Promise<void> {
    await this.failpoints.hit(RUN_FAILPOINT.claimed);
    if (run.attempts > MOST_ATTEMPTS) return await this.giveUp(run);
    const playbook = await this.playbooks.versionOf(run.playbookId, run.playbookVersion);
    if (!playbook) throw new Error('The version of the playbook is missing.');
    const decide = await this.decisions.of(run, playbook);
    // Steps are written by claims, so the first claim of a run finds none.
    let isNew = run.fence === 1;
    for (;;) {
      if (this.stopping) return await this.writes.release(run);
      const reached = isNew ? [] : await this.runs.stepsOf(run.id);
      isNew = false;
      const mayBeLate = waitsForTurn(run) && reached.length === 0;
      if (mayBeLate && (await this.moves.cancelIfLate(run))) break;
      if (!(await this.goOn(run, playbook.definition.steps, reached, decide))) break;
    }
    await this.failpoints.hit(RUN_FAILPOINT.left);
  }

  /** Returns whether the run goes on at once. */
  private async goOn(
    run: PlaybookRunSummary,
    steps: readonly PlaybookStep[],
    reached: readonly ReachedStep[],
    decider: StepDecider,
  ): Promise<boolean> {
    const connectors = await this.moves.connectorsOf(steps);
    const moves = await foreseenMoves(steps, reached, decider, ({ action }) =>
      simulatedResult(connectors.get(action), action),
    );
    await this.failpoints.hit(RUN_FAILPOINT.decided);
    const [{ next }] = moves;
    if (next.kind !== 'act') return (await this.moves.make(run, moves, reached)) !== undefined;
    const attributes = { 'playbook.step': next.position, 'action.type': next.step.action };
    return await traced(
      () => ({ name: 'playbook step', kind: 'internal', attributes }),
      () => this.act(run, moves, reached, connectors),
    );
  }

  /** Returns whether the run goes on at once. */
  private async act(
    run: PlaybookRunSummary,
    moves: ForeseenMoves,
    reached: readonly ReachedStep[],
    connectors: Connectors,
  ): Promise<boolean> {
    const action = await this.moves.make(run, moves, reached, connectors);
    await this.failpoints.hit(RUN_FAILPOINT.begun);
    await this.failpoints.hit(RUN_FAILPOINT.acted);
    return action !== undefined && goesOnWith(action);
  }

  private async afterError(run: PlaybookRunSummary, error: unknown): Promise<void> {
    // The deletion of its incident has ended the run.
    if (error instanceof ClaimLostError || error instanceof NotFoundError) return;
    const what = `The playbook run ${run.id}`;
    try {
      if (isKillSwitchActive(error)) await this.writes.release(run);
      else reportFailure(this.log, what, error);
    } catch (failure) {
      reportFailure(this.log, what, failure);
    }
  }

  private async giveUp(run: PlaybookRunSummary): Promise<void> {
    const reached = await this.runs.stepsOf(run.id);
    const settled = reached.filter(isOpen).map(({ position, name, action }) => {
      return { position, name, actionId: action?.id, status: 'cancelled' as const };
    });
    const next = { kind: 'end', status: 'failed', error: BROKEN } as const;
    await this.moves.make(run, [{ settled, next }], reached);
  }
}
