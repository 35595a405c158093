import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { AwaitedRuns } from '../../actions/execution/awaited-runs.js';
import { ConnectorPlaces } from '../../actions/execution/connector-places.js';
import { ClaimLostError } from '../../actions/execution/execution.errors.js';
import { Failpoints } from '../../actions/execution/failpoints.js';
import { reportFailure } from '../../platform/concurrency/background-loop.js';
import { within } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import { AppError, NotFoundError } from '../../platform/errors/app-error.js';
import { traced } from '../../platform/tracing/tracing.js';
import { PlaybooksService } from '../playbooks.service.js';
import { type Move, nextMove } from './next-move.js';
import {
  isOpen,
  type PlaybookRunSummary,
  type ReachedStep,
  type RunProgress,
} from './playbook-run.js';
import { PlaybookRunsRepository } from './records/playbook-runs.repository.js';
import { RunWritesRepository } from './records/run-writes.repository.js';
import { RUN_FAILPOINT } from './run-failpoints.js';
import { goesOnWith, progressOf, RunMoves, type TakePlace } from './run-moves.js';
import { StepDecisions } from './step-decisions.js';

/** After so many claims that did not move it, the run itself may be what kills the replicas. */
const MOST_ATTEMPTS = 10;
const BROKEN = 'The service could not go on with it; see its log.';
/** A run whose action takes longer gives its turn to another one. Most end within this time, and go on without a detour. */
const SHORT_WAIT_MS = 200;
/** An action that takes longer is not waited for: its end wakes the run. */
const PART_OF_LEASE = 1 / 3;
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
    private readonly actions: AwaitedRuns,
    private readonly connectors: ConnectorPlaces,
    private readonly failpoints: Failpoints,
    private readonly settings: Settings,
  ) {}

  /**
   * Never throws. What goes wrong leaves the run to whoever claims it when the lease is over. `turn` is of a run that nobody
   * waits for.
   */
  async carryOn(run: PlaybookRunSummary, turn?: Turn): Promise<void> {
    const attributes = { 'playbook_run.id': run.id, 'incident.id': run.incidentId };
    const work = traced(
      () => ({ name: 'playbook run', kind: 'internal', attributes }),
      () => this.attempt(run, turn),
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

  private async attempt(run: PlaybookRunSummary, turn?: Turn): Promise<void> {
    await this.failpoints.hit(RUN_FAILPOINT.claimed);
    if (run.attempts > MOST_ATTEMPTS) return await this.giveUp(run);
    const playbook = await this.playbooks.versionOf(run.playbookId, run.playbookVersion);
    if (!playbook) throw new Error('The version of the playbook is missing.');
    const decide = await this.decisions.of(run, playbook);
    for (;;) {
      if (this.stopping) return await this.writes.release(run);
      const reached = await this.runs.stepsOf(run.id);
      if (reached.length === 0 && (await this.moves.cancelIfLate(run))) break;
      const move = await nextMove(playbook.definition.steps, reached, decide);
      await this.failpoints.hit(RUN_FAILPOINT.decided);
      if (!(await this.make(run, move, reached, turn))) break;
    }
    await this.failpoints.hit(RUN_FAILPOINT.left);
  }

  /** Whether the run goes on at once. */
  private async make(
    run: PlaybookRunSummary,
    move: Move,
    reached: readonly ReachedStep[],
    turn?: Turn,
  ): Promise<boolean> {
    const { next, settled } = move;
    const progress = progressOf(reached, settled);
    if (next.kind === 'wait') await this.moves.rest(run, move, next.status, progress);
    if (next.kind === 'end') await this.moves.end(run, move, next, progress);
    if (next.kind !== 'act') return false;
    const attributes = { 'playbook.step': next.position, 'action.type': next.step.action };
    return await traced(
      () => ({ name: 'playbook step', kind: 'internal', attributes }),
      () => this.act(run, { ...move, next }, progress, turn),
    );
  }

  /** Whether the run goes on at once. */
  private async act(
    run: PlaybookRunSummary,
    move: Move & { readonly next: Extract<Move['next'], { readonly kind: 'act' }> },
    progress: RunProgress,
    turn?: Turn,
  ): Promise<boolean> {
    const { next } = move;
    const { action, call } = await this.moves.act(run, move, next, progress, this.places(turn));
    await this.failpoints.hit(RUN_FAILPOINT.begun);
    if (call) {
      const { claimed, connector, giveBack } = call;
      const ending = this.actions.runClaimedAndWait(claimed, connector, {}, giveBack);
      if (turn) await within(SHORT_WAIT_MS, ending, turn.letGo);
      await within(this.settings.actionLeaseMs * PART_OF_LEASE, ending, () => action);
      await this.failpoints.hit(RUN_FAILPOINT.acted);
    }
    return goesOnWith(action);
  }

  /** Whoever waits for the run has asked for its actions: they take no place of those that nobody waits for. */
  private places(turn: Turn | undefined): TakePlace {
    return turn ? (id) => this.connectors.tryTake(id) : () => () => undefined;
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
    const ending = { status: 'failed', error: BROKEN } as const;
    await this.moves.end(run, { settled }, ending, progressOf(reached, settled));
  }
}

function isKillSwitchActive(error: unknown): boolean {
  return error instanceof AppError && error.code === 'kill_switch_active';
}
