import {
  Injectable,
  type BeforeApplicationShutdown,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { type Action, hasEnded } from '../action.js';
import { ActionConnectors, ConnectorPlaces } from './action-connectors.js';
import { ActionExecutor } from './action-executor.js';
import { ClaimRepository, type Except, type BusyConnectors } from './claim.repository.js';
import { Claims } from './claims.js';
import { Settings } from '../../platform/config/settings.js';
import { type Release, Semaphore } from '../../platform/concurrency/semaphore.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector-type.js';
import { ClaimLostError } from './lease-keeper.js';
import { type RecoveryStep, recoveryStepOf } from './execution-rules.js';
import { BackgroundLoop, reportFailure } from '../../platform/concurrency/background-loop.js';

const MOST_AT_ONCE = 64;
/** Stands for the connector of actions without a connector: they end without a call. */
const NO_CONNECTOR = '';

interface Watcher {
  /** Called when more work may be possible: more actions wait, or a connector has a free place. */
  readonly lookAgain: () => void;
  readonly report: (error: unknown) => void;
}

/**
 * Begins unclaimed actions: a playbook run requested them, their replica died before the claim, their claim lapsed and was
 * requeued, or the kill switch held them. The oldest action begins first, among the actions whose connector has a free place.
 */
@Injectable()
export class UnclaimedActions {
  private readonly underWay = new Set<string>();

  constructor(
    private readonly executor: ActionExecutor,
    private readonly claims: Claims,
    private readonly repository: ClaimRepository,
    private readonly connectors: ActionConnectors,
    private readonly places: ConnectorPlaces,
    private readonly killSwitch: KillSwitch,
  ) {}

  /** Searches again without the actions whose connector is busy, until none is left or all found actions begin. */
  async beginOldest(watcher: Watcher): Promise<void> {
    const withoutPlace: Action[] = [];
    for (;;) {
      const oldest = await this.repository.unclaimed(MOST_AT_ONCE, this.except(withoutPlace));
      if (oldest.length === 0 || (await this.killSwitch.isActive())) return;
      const connectors = await this.connectorsOf(oldest);
      const before = withoutPlace.length;
      for (const action of oldest) {
        const giveBack = this.places.tryTake(connectors.get(routeOf(action)) ?? NO_CONNECTOR);
        if (giveBack) void this.begin(action, giveBack, watcher);
        else withoutPlace.push(action);
      }
      if (withoutPlace.length === before) return watcher.lookAgain();
    }
  }

  private except(withoutPlace: readonly Action[]): Except {
    const rollbacks = withoutPlace.filter(({ rollback_of }) => rollback_of);
    const others = withoutPlace.filter(({ rollback_of }) => !rollback_of);
    return {
      ids: [...this.underWay, ...rollbacks.map(({ id }) => id)],
      types: [...new Set(others.map(({ action_type }) => action_type))],
    };
  }

  private async begin(
    action: Action,
    giveBack: Release,
    { lookAgain, report }: Watcher,
  ): Promise<void> {
    this.underWay.add(action.id);
    let after = action;
    try {
      after = await this.executor.run(action);
    } catch (error) {
      report(error);
      if (!isDatabaseUnavailable(error)) await this.claims.defer(action).catch(report);
    }
    giveBack();
    this.underWay.delete(action.id);
    // The next regular search finds an action that is held or requeued.
    if (hasEnded(after) || after.phase) lookAgain();
  }

  private async connectorsOf(waiting: readonly Action[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const [route, action] of new Map(waiting.map((action) => [routeOf(action), action]))) {
      const connector = await this.connectors.of(action);
      if (connector) found.set(route, connector.identity.id);
    }
    return found;
  }
}

/** Actions with equal routes have the same connector. A rollback uses the connector of its original action. */
function routeOf({ rollback_of, action_type }: Action): string {
  return rollback_of ?? action_type;
}

/** Each needs a database connection for a few milliseconds. The rest of the pool stays free for requests. */
const MAX_PARALLEL_ENDINGS = 4;

interface PlacedAction {
  readonly action: Action;
  readonly giveBack: Release;
}

/**
 * Settles the claims of runs that died, and polls vendors for accepted operations, the earliest lapsed claim first. Waits only
 * for the database; questions to vendors run in parallel, so that a slow vendor delays no other claim. An action without a
 * free place stays in the table, which is the only queue, so a restart loses nothing.
 */
@Injectable()
export class LapsedClaims {
  /** Places for progress questions only, so that hanging calls cannot delay questions. */
  private readonly places = new ConnectorPlaces();

  constructor(
    private readonly executor: ActionExecutor,
    private readonly claims: Claims,
    private readonly repository: ClaimRepository,
    private readonly registry: ConnectorRegistry,
    private readonly settings: Settings,
  ) {}

  /** Returns the number of settled claims, without those that another replica took. If it is not 0, there may be more. */
  async settleOldest({ lookAgain, report }: Watcher): Promise<number> {
    const busy = this.places.taken();
    const lapsed = await this.repository.lapsed(MOST_AT_ONCE, await this.boundsOf(busy));
    const connectors = await this.connectorsOf(lapsed);
    const connectorOf = ({ connector_id = '' }: Action) => connectors.get(connector_id);
    const steps = new Map(
      lapsed.map((action) => [action, recoveryStepOf(action, connectorOf(action))]),
    );
    const withStep = (step: RecoveryStep) => lapsed.filter((action) => steps.get(action) === step);

    const requeued = await this.claims.requeue(withStep('repeat'));
    const placed: PlacedAction[] = [];
    const tooLate: Action[] = [];
    for (const action of withStep('ask')) {
      const giveBack = this.places.tryTake(action.connector_id!);
      if (giveBack) placed.push({ action, giveBack });
      else if (busy.includes(action.connector_id!)) tooLate.push(action);
    }
    const asked = await this.askAll(placed, connectorOf, { lookAgain, report });
    const givenUp = await this.claims.takeOver([...withStep('give up'), ...tooLate]);
    await this.giveUpAll(givenUp, report);
    return requeued + asked + givenUp.length;
  }

  /** Takes over the placed actions and asks their vendors without waiting for the answers. Returns the number of actions. */
  private async askAll(
    placed: readonly PlacedAction[],
    connectorOf: (action: Action) => Connector | undefined,
    { lookAgain, report }: Watcher,
  ): Promise<number> {
    const places = new Map(placed.map(({ action, giveBack }) => [action.id, giveBack]));
    let asked: Action[] = [];
    try {
      asked = await this.claims.takeOver(placed.map(({ action }) => action));
    } finally {
      const ours = new Set(asked.map(({ id }) => id));
      for (const [id, giveBack] of places) if (!ours.has(id)) giveBack();
    }
    for (const action of asked) {
      void this.executor
        .resume(action, connectorOf(action)!)
        .catch(report)
        .finally(() => {
          places.get(action.id)!();
          lookAgain();
        });
    }
    return asked.length;
  }

  /** Returns how long the actions of busy connectors may wait for their question. */
  private async boundsOf(busy: readonly string[]): Promise<BusyConnectors> {
    const found = await Promise.all(busy.map((id) => this.registry.find(id)));
    const probed = found.flatMap((one) => (one?.probe ? [one.identity.id] : []));
    const { actionDeadlineMs: acceptedForMs, actionLeaseMs: lapsedForMs } = this.settings;
    return { polled: busy, probed, acceptedForMs, lapsedForMs };
  }

  private async giveUpAll(taken: readonly Action[], report: Watcher['report']): Promise<void> {
    const places = new Semaphore(MAX_PARALLEL_ENDINGS);
    await Promise.all(taken.map((action) => places.run(() => this.giveUp(action, report))));
  }

  private async giveUp(action: Action, report: Watcher['report']): Promise<void> {
    try {
      await this.executor.giveUp(action);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      if (!(error instanceof ClaimLostError)) report(error);
    }
  }

  private async connectorsOf(actions: readonly Action[]): Promise<Map<string, Connector>> {
    const found = new Map<string, Connector>();
    for (const id of new Set(actions.map(({ connector_id = '' }) => connector_id))) {
      const connector = await this.registry.find(id);
      if (connector) found.set(id, connector);
    }
    return found;
  }
}

const LONGEST_PAUSE_MS = 5_000;
/** Short, so that a due question is not late. A search without a result costs one short read. */
const LONGEST_PAUSE_OF_QUESTIONS_MS = 1_000;
const PAUSES_PER_LEASE = 4;

/**
 * Continues actions without a running run: their replica died, or the kill switch held them. Every replica searches, and the
 * claim decides which replica continues. One loop settles lapsed claims and polls accepted operations; a second loop begins
 * unclaimed actions, so that a slow vendor there does not delay the first loop.
 */
@Injectable()
export class ActionRecovery
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly log = new Logger(ActionRecovery.name);
  private readonly settlingLapsed: BackgroundLoop;
  private readonly beginningUnclaimed: BackgroundLoop;

  constructor(
    private readonly lapsedClaims: LapsedClaims,
    private readonly unclaimedActions: UnclaimedActions,
    private readonly places: ConnectorPlaces,
    private readonly killSwitch: KillSwitch,
    settings: Settings,
  ) {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, settings.actionLeaseMs / PAUSES_PER_LEASE);
    const { log } = this;
    const settling = {
      log,
      task: 'Settling lapsed claims of actions',
      pauseMs: Math.min(pauseMs, LONGEST_PAUSE_OF_QUESTIONS_MS),
    };
    const beginning = { log, task: 'Beginning unclaimed actions', pauseMs };
    this.settlingLapsed = new BackgroundLoop(settling, () =>
      this.settle((error) => reportFailure(log, settling.task, error)),
    );
    this.beginningUnclaimed = new BackgroundLoop(beginning, () =>
      this.unclaimedActions.beginOldest({
        lookAgain: () => this.beginningUnclaimed.wake(),
        report: (error) => reportFailure(log, beginning.task, error),
      }),
    );
  }

  onModuleInit(): void {
    this.places.onFree(() => this.beginningUnclaimed.wake());
    this.killSwitch.onTurnedOff(() => this.beginningUnclaimed.wake());
  }

  onApplicationBootstrap(): void {
    this.settlingLapsed.start();
    this.beginningUnclaimed.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.settlingLapsed.stop(), this.beginningUnclaimed.stop()]);
  }

  /** Begins unclaimed actions now. */
  wake(): void {
    this.beginningUnclaimed.wake();
  }

  private async settle(report: (error: unknown) => void): Promise<void> {
    const lookAgain = () => this.settlingLapsed.wake();
    if ((await this.lapsedClaims.settleOldest({ lookAgain, report })) === 0) return;
    lookAgain();
    this.beginningUnclaimed.wake();
  }
}
