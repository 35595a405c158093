import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { type Action, hasEnded, SYSTEM } from '../../actions/action.js';
import { ClaimLostError } from '../../actions/execution/lease-keeper.js';
import { type ActionToCreate, ActionRequests } from '../../actions/action-requests.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector-type.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import type { LockedIncident } from '../../incidents/incident.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { JointTransactions } from '../../platform/concurrency/joint-transactions.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { PlaybooksService } from '../playbooks.service.js';
import type { ForeseenMoves, Move, NextThing, SettledStep } from './next-move.js';
import type { PlaybookStep } from '../playbook.js';
import type {
  PlaybookRunSummary,
  ReachedStatus,
  ReachedStep,
  RunProgress,
} from './playbook-run.js';
import { RunRecorder } from './records/run-recorder.js';
import { type RunMove, RunWritesRepository } from './records/run-writes.repository.js';

type Act = Extract<NextThing, { kind: 'act' }>;

/** The connector of each type of action. */
export type Connectors = ReadonlyMap<ActionTypeName, Connector | undefined>;

const LATE = 'Its incident was resolved before it began.';
const ENDED_LATE = { status: 'cancelled', error: LATE } as const;

/** Moves a run. Each transaction stores the settled steps together with the next actions or the end of the run. */
@Injectable()
export class RunMoves {
  private readonly transactions: JointTransactions;

  constructor(
    transactions: Transactions,
    private readonly killSwitch: KillSwitch,
    private readonly incidents: IncidentsService,
    private readonly requests: ActionRequests,
    private readonly registry: ConnectorRegistry,
    private readonly playbooks: PlaybooksService,
    private readonly writes: RunWritesRepository,
    private readonly recorder: RunRecorder,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {
    this.transactions = new JointTransactions(transactions);
  }

  /** The connectors that provide the actions of the steps, in one read. */
  async connectorsOf(steps: readonly PlaybookStep[]): Promise<Connectors> {
    const types = [...new Set(steps.map(({ action }) => action))];
    const found = await Promise.all(types.map((type) => this.registry.providerOf(type)));
    return new Map(types.map((type, at) => [type, found[at]]));
  }

  /**
   * Makes the moves in one transaction, up to the first one that does not come as foreseen: its action waits for approval, or an equal
   * action exists and is shared. The run rests while its last action waits for approval or for a place of its connector. Returns that
   * action, unless the run ended or waits already. Throws `kill_switch_active` and ClaimLostError.
   */
  async make(
    run: PlaybookRunSummary,
    moves: ForeseenMoves,
    reached: readonly ReachedStep[],
    connectors: Connectors = new Map(),
  ): Promise<Action | undefined> {
    const acts = moves.flatMap(({ next }) => (next.kind === 'act' ? [next] : []));
    const last = acts.at(-1);
    const authors = last && (await this.authorsOf(run));
    const wanted = acts.map((act) => {
      return { ...wantedOf(run, act, connectors.get(act.step.action)), authors };
    });
    return await this.transactions.run(keyOf(run), (tx) =>
      this.makeIn(tx, run, moves, reached, wanted),
    );
  }

  private async makeIn(
    tx: Tx,
    run: PlaybookRunSummary,
    foreseen: ForeseenMoves,
    reached: readonly ReachedStep[],
    wanted: readonly ActionToCreate[],
  ): Promise<Action | undefined> {
    const acts = wanted.length > 0;
    if (acts) await this.killSwitch.claimPermit(tx);
    const incident = await this.lockIncident(tx, run);
    const forIncident = wanted.map((one) => ({ ...one, incident }));
    const actions = acts ? await this.requests.createOrBorrow(tx, forIncident) : [];
    const cameTrue =
      actions.length === wanted.length &&
      actions.every((one) => hasEnded(one) && one.playbook_run_id === run.id);
    const moves = cameTrue ? foreseen : foreseen.slice(0, actions.length);
    const { next } = moves.at(-1)!;
    const settled = withActions(moves, actions);
    const progress = progressOf(reached, settled);
    const action = next.kind === 'act' ? actions.at(-1) : undefined;
    const follows = this.whatFollows(next, action);
    const move = { ...follows, ...progress, settled, at: this.clock.now() };
    if (!(await this.writes.move(tx, run, move))) throw new ClaimLostError();
    await this.recorder.stepsFailed(tx, run, settled, incident);
    if (action && follows.begun && action.playbook_run_id !== run.id) {
      await this.recorder.sharedAction(tx, run, follows.begun.name, action);
    }
    if (next.kind === 'end') await this.recorder.ended(tx, run, { ...next, ...progress }, SYSTEM);
    return action;
  }

  private whatFollows(next: NextThing, action?: Action): Pick<RunMove, 'begun' | 'then'> {
    if (next.kind === 'end') return { then: next };
    if (next.kind === 'wait') return { then: { kind: 'rest', status: next.status } };
    if (!action) throw new Error('A step that begins has an action.');
    const status = action.status === 'pending_approval' ? 'waiting_approval' : 'running';
    const { position, step } = next;
    const { actionLeaseMs: leaseMs } = this.settings;
    return {
      begun: { position, name: step.name, actionId: action.id, status },
      then: goesOnWith(action) ? { kind: 'hold', leaseMs } : { kind: 'rest', status },
    };
  }

  /** Cancels a run that waited for its turn if its incident was resolved meanwhile. */
  async cancelIfLate(run: PlaybookRunSummary): Promise<boolean> {
    return await this.transactions.run(keyOf(run), async (tx) => {
      const incident = await this.lockIncident(tx, run);
      if (incident?.status !== 'resolved') return false;
      const cancelled = await this.writes.cancelClaimed(tx, run, LATE, this.clock.now());
      if (cancelled) await this.recorder.ended(tx, run, { ...run, ...ENDED_LATE }, SYSTEM);
      return true;
    });
  }

  private async authorsOf(run: PlaybookRunSummary): Promise<readonly string[] | undefined> {
    if (!run.automatic) return undefined;
    return await this.playbooks.authorsOf(run.playbookId, run.playbookVersion);
  }

  /** A deletion cancels the runs of the incident, so a missing incident means that the claim is lost. */
  private async lockIncident(
    tx: Tx,
    { incidentId }: PlaybookRunSummary,
  ): Promise<LockedIncident | undefined> {
    if (incidentId === undefined) return undefined;
    const incident = await this.incidents.lockForShare(tx, incidentId);
    if (!incident) throw new ClaimLostError();
    return incident;
  }
}

function wantedOf(
  run: PlaybookRunSummary,
  { step, parameters, askedLevel }: Act,
  connector: Connector | undefined,
): ActionToCreate {
  return {
    action_type: step.action,
    parameters,
    requested_by: `playbook:${run.playbookName}`,
    playbook_run_id: run.id,
    on_behalf_of: run.automatic ? run.onBehalfOf : run.requestedBy,
    approval_level: askedLevel,
    connector,
  };
}

/** The settled steps of the moves. What was foreseen of a step has no action yet. */
function withActions(moves: readonly Move[], actions: readonly Action[]): SettledStep[] {
  const acts = moves.flatMap(({ next }) => (next.kind === 'act' ? [next.position] : []));
  const idOf = new Map(acts.map((position, at) => [position, actions[at]!.id]));
  const settled = moves.flatMap((move) => move.settled);
  return settled.map((step) => ({ ...step, actionId: idOf.get(step.position) ?? step.actionId }));
}

/** Returns the id that a move locks first. */
function keyOf({ id, incidentId }: PlaybookRunSummary): string {
  return incidentId ?? id;
}

export function goesOnWith(action: Action): boolean {
  return hasEnded(action);
}

function progressOf(reached: readonly ReachedStep[], settled: readonly SettledStep[]): RunProgress {
  const statuses = [...reached, ...settled].map(({ status }) => status);
  const count = (...wanted: readonly ReachedStatus[]) =>
    statuses.filter((status) => wanted.includes(status)).length;
  return { stepsCompleted: count('completed', 'skipped'), stepsFailed: count('failed') };
}
