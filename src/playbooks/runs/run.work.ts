import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Action, actionIdOf, hasEnded, SYSTEM } from '../../actions/action.js';
import { ACTION_EVENTS } from '../../actions/action-records.js';
import { type ActionToCreate, ActionRequests } from '../../actions/action-requests.js';
import { simulatedResult } from '../../actions/execution/execution-rules.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { LockedIncident } from '../../incidents/incident.js';
import { Incidents } from '../../incidents/incidents.js';
import { isKillSwitchActive, KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { within } from '../../platform/concurrency/within.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import type { Again, Claimed } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import { PlaybooksRepository } from '../playbooks.repository.js';
import { foreseenMoves, type ForeseenMoves } from './next-move.js';
import {
  isOpen,
  type PlaybookRun,
  progressAfter,
  RUN_WORK,
  type RunEnd,
  waitsForTurn,
} from './playbook-run.js';
import { RunRecorder } from './run-records.js';
import { type OpenRun, type RunMove, RunsRepository } from './runs.repository.js';
import { StepDecisions } from './step-decisions.js';

/** Runs that continue in one transaction. */
const SET_SIZE = 32;
/** Bounds the time of a transaction. The other runs of the set are decided in the next set. */
const LONGEST_DECISIONS_MS = 250;
/** Pause of all runs while the kill switch is on. */
const HELD_MS = 2_000;
/** Interval of looks at a run that another replica may have continued. */
const LOOK_MS = 500;
const FOR_A_PERSON = 1;

const SOON: Again = { inMs: 0, countsAsAttempt: false };

const TOO_LATE = {
  status: 'cancelled',
  error: 'Its incident was resolved before it began.',
  void: true,
} as const;
const BROKEN = 'The service could not go on with it; see its log.';

/** What a run does next, decided without locks. */
interface Plan {
  readonly run: OpenRun;
  readonly moves: ForeseenMoves;
  /** Actions of the moves. */
  readonly wanted: readonly ActionToCreate[];
}

interface Move extends RunMove {
  readonly run: PlaybookRun;
  /** Action of the step that began. */
  readonly action?: Action;
}

type LockedIncidents = ReadonlyMap<string, LockedIncident>;

/**
 * Continues runs in sets, until each has ended or waits for an action. A run that waits has no work: the end of its action adds
 * work again.
 */
@Injectable()
export class RunWork implements OnModuleInit {
  /** Requests that wait, by the id of their run. */
  private readonly waiting = new Map<string, () => void>();

  constructor(
    private readonly work: Work,
    private readonly events: DomainEvents,
    private readonly killSwitch: KillSwitch,
    private readonly incidents: Incidents,
    private readonly registry: ConnectorRegistry,
    private readonly requests: ActionRequests,
    private readonly playbooks: PlaybooksRepository,
    private readonly runs: RunsRepository,
    private readonly decisions: StepDecisions,
    private readonly recorder: RunRecorder,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.work.define({
      ...RUN_WORK,
      places: SET_SIZE,
      hasOwnGauges: true,
      inSet: (tx, rows) => this.continueAll(tx, rows),
      gaveUp: (tx, { ref }) => this.giveUp(tx, ref),
    });
    const { completed, failed, rejected, approved } = ACTION_EVENTS;
    const types = [completed, failed, rejected, approved];
    // A run has seen the end of an action that ended with its creation.
    const news = { types, where: '!exists($.at_once)' };
    this.events.inTransaction(news, 'playbook-runs', async (tx, events) => {
      const ids = events.map(({ subject }) => actionIdOf(subject.id));
      const runs = await this.runs.waitingFor(tx, ids);
      const added = runs.map(({ id, automatic }) => {
        return automatic ? { ref: id } : { ref: id, urgency: FOR_A_PERSON };
      });
      await this.work.add(tx, RUN_WORK, ...added);
    });
  }

  /** Waits until the run has ended, waits for an approval or waits for an action of others, but at most `patienceMs`. */
  async rested(id: string, patienceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const isOver = promise.then(() => true);
    this.waiting.set(id, resolve);
    const deadline = performance.now() + patienceMs;
    try {
      for (let leftMs = patienceMs; leftMs > 0; leftMs = deadline - performance.now()) {
        if (await within(Math.min(LOOK_MS, leftMs), isOver, () => false)) return;
        if ((await this.runs.find(id))?.status !== 'running') return;
      }
    } finally {
      this.waiting.delete(id);
    }
  }

  private async continueAll(
    tx: Tx,
    rows: readonly Claimed[],
  ): Promise<ReadonlyMap<Claimed, Again>> {
    const again = new Map<Claimed, Again>();
    const rowOf = new Map(rows.map((row) => [row.ref, row]));
    const open = await this.runs.open(tx, [...rowOf.keys()]);
    try {
      if (open.some(({ is_held }) => is_held)) return await this.hold(tx, rows);
      const due = open.filter(({ early_ms }) => early_ms === 0);
      for (const { id, early_ms } of open) {
        if (early_ms > 0) again.set(rowOf.get(id)!, { inMs: early_ms, countsAsAttempt: false });
      }
      const plans = await this.plan(tx, due);
      for (const { id } of due.slice(plans.length)) again.set(rowOf.get(id)!, SOON);
      if (plans.some(({ wanted }) => wanted.length > 0)) await this.killSwitch.claimPermit(tx);
      for (const { run, action } of await this.carryOut(tx, plans)) {
        if (action && hasEnded(action)) again.set(rowOf.get(run.id)!, SOON);
      }
    } catch (error) {
      if (isKillSwitchActive(error)) return await this.hold(tx, rows);
      throw error;
    }
    return again;
  }

  /** All runs wait while the kill switch is on. */
  private async hold(tx: Tx, rows: readonly Claimed[]): Promise<ReadonlyMap<Claimed, Again>> {
    await this.work.slowLane(tx, RUN_WORK.name, HELD_MS, 0);
    return new Map(rows.map((row) => [row, SOON]));
  }

  /** Returns the plans of the first runs, at least of one. */
  private async plan(tx: Tx, runs: readonly OpenRun[]): Promise<Plan[]> {
    const plans: Plan[] = [];
    if (runs.length === 0) return plans;
    const begun = runs.filter(({ has_steps }) => has_steps).map(({ id }) => id);
    const stepsOf = begun.length > 0 ? await this.runs.stepsOf(begun, tx) : () => [];
    const connectors = await this.registry.providersIn(tx);
    const deadline = performance.now() + LONGEST_DECISIONS_MS;
    for (const run of runs) {
      if (plans.length > 0 && performance.now() > deadline) break;
      const { playbook_id, playbook_version, variables, automatic } = run;
      const playbook = await this.playbooks.findVersion(playbook_id, playbook_version, tx);
      if (!playbook) throw new Error('The version of the playbook is missing.');
      const { steps } = playbook.definition;
      const incident = run.incident ? { ...run.incident, raw_data: run.raw_data! } : undefined;
      const decider = await this.decisions.of({ playbook, incident, variables }, automatic);
      const moves = await foreseenMoves(steps, stepsOf(run.id), decider, ({ action }) =>
        simulatedResult(connectors(action), action),
      );
      const acts = moves.flatMap(({ next }) => (next.kind === 'act' ? [next] : []));
      const authors =
        automatic && acts.length > 0
          ? await this.playbooks.authorsOf(playbook_id, playbook_version, tx)
          : undefined;
      const wanted = acts.map(({ step, parameters, askedLevel }) => ({
        action_type: step.action,
        parameters,
        requested_by: `playbook:${run.playbook_name}`,
        playbook_run_id: run.id,
        on_behalf_of: automatic ? (run.on_behalf_of ?? undefined) : run.requested_by,
        authors,
        approval_level: askedLevel,
        connector: connectors(step.action),
      }));
      plans.push({ run, moves, wanted });
    }
    return plans;
  }

  /** Carries out the plans, each up to the first move that differs: its action waits for approval, or is borrowed. */
  private async carryOut(tx: Tx, plans: readonly Plan[]): Promise<Move[]> {
    if (plans.length === 0) return [];
    const incidentIds = plans.flatMap(({ run }) => run.incident_id ?? []);
    const incidents = await this.incidents.lockAllForShare(tx, incidentIds);
    const ids = plans.map(({ run }) => run.id);
    const open = await this.runs.lock(tx, ids);
    const current = plans.filter(
      ({ run }) => open.has(run.id) && (run.incident_id === null || incidents.has(run.incident_id)),
    );
    const incidentOf = ({ run }: Plan) => incidents.get(run.incident_id ?? '');
    const late = new Set(current.filter((plan) => isLate(plan, incidentOf(plan))));
    const wanted = current.map((plan) => {
      const incident = incidentOf(plan);
      return late.has(plan) ? [] : plan.wanted.map((one) => ({ ...one, incident }));
    });
    const actions = await this.requests.createOrBorrow(tx, wanted);
    const moves = current.map((plan, n) =>
      late.has(plan) ? { run: plan.run, settled: [], next: TOO_LATE } : moveOf(plan, actions[n]!),
    );
    await this.store(tx, moves, incidents);
    return moves;
  }

  private async store(tx: Tx, moves: readonly Move[], incidents: LockedIncidents): Promise<void> {
    if (moves.length === 0) return;
    await this.runs.store(tx, moves, this.clock.now());
    for (const { run, settled, begun, next, action } of moves) {
      await this.recorder.stepsFailed(tx, run, settled, incidents.get(run.incident_id ?? ''));
      const isOwn = !action || action.playbook_run_id === run.id;
      if (begun && !isOwn) await this.recorder.sharedAction(tx, run, begun.name, action);
      if (hasRunEnded(next)) {
        const end = { ...progressAfter(run, settled), ...next };
        await this.recorder.ended(tx, run, end, SYSTEM);
      }
      const continues = next.status === 'running' && (isOwn || hasEnded(action));
      if (!continues) afterCommit(tx, () => this.waiting.get(run.id)?.());
    }
  }

  private async giveUp(tx: Tx, id: string): Promise<void> {
    const [run] = await this.runs.open(tx, [id]);
    if (!run) return;
    if (run.incident_id !== null) await this.incidents.lockForShare(tx, run.incident_id);
    if (!(await this.runs.lock(tx, [id])).has(id)) return;
    const reached = (await this.runs.stepsOf([id], tx))(id);
    const settled = reached.filter(isOpen).map(({ position, name, action }) => {
      return { position, name, action_id: action?.id, status: 'cancelled' as const };
    });
    const next = { status: 'failed', error: BROKEN } as const;
    await this.store(tx, [{ run, settled, next }], new Map());
  }
}

const hasRunEnded = (next: RunMove['next']): next is Pick<RunEnd, 'status'> => !isOpen(next);

/** A run that waited for its turn does not begin if its incident was resolved meanwhile. */
function isLate({ run }: Plan, incident: LockedIncident | undefined): boolean {
  return waitsForTurn(run) && !run.has_steps && incident?.status === 'resolved';
}

function moveOf({ run, moves: foreseen, wanted }: Plan, actions: readonly Action[]): Move {
  const cameTrue =
    actions.length === wanted.length &&
    actions.every((one) => hasEnded(one) && one.playbook_run_id === run.id);
  const moves = cameTrue ? foreseen : foreseen.slice(0, actions.length);
  const positions = moves.flatMap(({ next }) => (next.kind === 'act' ? [next.position] : []));
  const actionOf = new Map(positions.map((position, n) => [position, actions[n]!]));
  // A foreseen step got its action only now.
  const settled = moves
    .flatMap((move) => move.settled)
    .map((step) => ({ ...step, action_id: actionOf.get(step.position)?.id ?? step.action_id }));
  const { next } = moves.at(-1)!;
  if (next.kind !== 'act') return { run, settled, next };
  const { position, step } = next;
  const action = actionOf.get(position)!;
  const status = action.status === 'pending_approval' ? 'waiting_approval' : 'running';
  const begun = { position, name: step.name, action_id: action.id, status } as const;
  return { run, settled, begun, next: { status }, action };
}
