import { Injectable } from '@nestjs/common';
import { type Action, hasEnded, SYSTEM } from '../../actions/action.js';
import type { Claimed } from '../../actions/execution/claims.js';
import { ClaimLostError } from '../../actions/execution/execution.errors.js';
import type { GiveBack } from '../../actions/execution/connector-places.js';
import type { ActionToCreate } from '../../actions/requests/action-creation.js';
import { ActionRequests } from '../../actions/requests/action-requests.js';
import type { Connector } from '../../connectors/connector.port.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import type { LockedIncident } from '../../incidents/incident.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import type { Permit } from '../../kill-switch/permit.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import type { Move, NextThing, SettledStep } from './next-move.js';
import {
  type OpenStatus,
  type PlaybookRunSummary,
  type ReachedStatus,
  type ReachedStep,
  type RunProgress,
} from './playbook-run.js';
import { RunRecorder } from './records/run-recorder.js';
import { type RunMove, RunWritesRepository } from './records/run-writes.repository.js';

type Act = Extract<NextThing, { kind: 'act' }>;

/** The action of a step that has begun. */
export interface BegunAction {
  readonly action: Action;
  /** Present where it may run at once: what the call of its connector needs. */
  readonly call?: {
    readonly claimed: Claimed;
    readonly connector: Connector;
    readonly giveBack: GiveBack;
  };
}

/** A place in which the connector may be called now, or undefined where it has none left. */
export type TakePlace = (connectorId: string) => GiveBack | undefined;

const LATE = 'Its incident was resolved before it began.';
const ENDED_LATE = { status: 'cancelled', error: LATE } as const;

/** The transactions by which a run moves. Each has what ended, and the one thing that follows from it, or none of it. */
@Injectable()
export class RunMoves {
  constructor(
    private readonly transactions: Transactions,
    private readonly killSwitch: KillSwitch,
    private readonly incidents: IncidentsService,
    private readonly requests: ActionRequests,
    private readonly registry: ConnectorRegistry,
    private readonly writes: RunWritesRepository,
    private readonly recorder: RunRecorder,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /**
   * Creates the action of the next step, or takes the one that does the same already. Where it waits for approval, or for a place of its connector, the run rests; else the
   * replica goes on with it. Throws `kill_switch_active` and ClaimLostError.
   */
  async act(
    run: PlaybookRunSummary,
    move: Move,
    next: Act,
    progress: RunProgress,
    takePlace: TakePlace,
  ): Promise<BegunAction> {
    const connector = await this.registry.providerOf(next.step.action);
    const giveBack = connector && takePlace(connector.identity.id);
    try {
      const [action, permit] = await this.begin(run, move, next, progress, {
        available: connector !== undefined,
        claimFor: giveBack && connector.identity.id,
        forRecovery: connector && !giveBack,
      });
      if (action.phase && giveBack && action.playbookRunId === run.id) {
        return { action, call: { claimed: { action, permit }, connector, giveBack } };
      }
      giveBack?.();
      return { action };
    } catch (error) {
      giveBack?.();
      throw error;
    }
  }

  private async begin(
    run: PlaybookRunSummary,
    move: Move,
    { step, position, parameters, askedLevel }: Act,
    progress: RunProgress,
    how: Pick<ActionToCreate, 'available' | 'claimFor' | 'forRecovery'>,
  ): Promise<[Action, Permit]> {
    return await this.transactions.run<[Action, Permit]>(async (tx) => {
      const permit = await this.killSwitch.claimPermit(tx);
      const incident = await this.lockIncident(tx, run);
      const action = await this.requests.createOrBorrow(tx, {
        type: step.action,
        parameters,
        incident,
        requestedBy: `playbook:${run.playbookName}`,
        playbookRunId: run.id,
        onBehalfOf: run.automatic ? run.onBehalfOf : run.requestedBy,
        askedLevel,
        ...how,
      });
      const status = action.status === 'pending_approval' ? 'waiting_approval' : 'running';
      await this.write(tx, run, incident, move.settled, progress, {
        begun: { position, name: step.name, actionId: action.id, status },
        then: goesOnWith(action) ? this.hold : { kind: 'rest', status },
      });
      if (action.playbookRunId !== run.id) {
        await this.recorder.sharedAction(tx, run, step.name, action);
      }
      return [action, permit];
    });
  }

  /** An automatic run that waited for its turn, or for the kill switch, and whose incident is resolved by now does not begin. */
  async cancelIfLate(run: PlaybookRunSummary): Promise<boolean> {
    if (!run.automatic) return false;
    return await this.transactions.run(async (tx) => {
      const incident = await this.lockIncident(tx, run);
      if (incident?.status !== 'resolved') return false;
      const cancelled = await this.writes.cancel(tx, run.id, LATE, this.clock.now());
      if (cancelled) await this.recorder.ended(tx, run, { ...run, ...ENDED_LATE }, SYSTEM);
      return true;
    });
  }

  /** It waits for the end of its action. */
  async rest(
    run: PlaybookRunSummary,
    move: Move,
    status: OpenStatus,
    progress: RunProgress,
  ): Promise<void> {
    await this.transactions.run(async (tx) => {
      const incident = await this.lockIncident(tx, run);
      await this.write(tx, run, incident, move.settled, progress, {
        then: { kind: 'rest', status },
      });
    });
  }

  async end(
    run: PlaybookRunSummary,
    { settled }: Pick<Move, 'settled'>,
    { status, error }: Pick<Extract<NextThing, { kind: 'end' }>, 'status' | 'error'>,
    progress: RunProgress,
  ): Promise<void> {
    await this.transactions.run(async (tx) => {
      const incident = await this.lockIncident(tx, run);
      await this.write(tx, run, incident, settled, progress, {
        then: { kind: 'end', status, error },
      });
      await this.recorder.ended(tx, run, { status, error, ...progress }, SYSTEM);
    });
  }

  /** A deletion cancels the runs of the incident: whoever finds it gone has lost the claim. */
  private async lockIncident(
    tx: Tx,
    { incidentId }: PlaybookRunSummary,
  ): Promise<LockedIncident | undefined> {
    if (incidentId === undefined) return undefined;
    const incident = await this.incidents.lockForShare(tx, incidentId);
    if (!incident) throw new ClaimLostError();
    return incident;
  }

  private async write(
    tx: Tx,
    run: PlaybookRunSummary,
    incident: LockedIncident | undefined,
    settled: readonly SettledStep[],
    progress: RunProgress,
    move: Pick<RunMove, 'begun' | 'then'>,
  ): Promise<void> {
    const whole = { ...move, ...progress, settled, at: this.clock.now() };
    if (!(await this.writes.move(tx, run, whole))) throw new ClaimLostError();
    await this.recorder.stepsFailed(tx, run, settled, incident);
  }

  private get hold() {
    return { kind: 'hold', leaseMs: this.settings.actionLeaseMs } as const;
  }
}

/** This replica runs the action, or it has failed already. */
export function goesOnWith(action: Action): boolean {
  return action.phase !== undefined || hasEnded(action);
}

export function progressOf(
  reached: readonly ReachedStep[],
  settled: readonly SettledStep[],
): RunProgress {
  const statuses = [...reached, ...settled].map(({ status }) => status);
  const count = (...wanted: readonly ReachedStatus[]) =>
    statuses.filter((status) => wanted.includes(status)).length;
  return { stepsCompleted: count('completed', 'skipped'), stepsFailed: count('failed') };
}
