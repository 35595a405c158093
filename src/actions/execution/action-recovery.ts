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
import { ActionConnectors, ConnectorPlaces, type GiveBack } from './action-connectors.js';
import { ActionExecutor } from './action-executor.js';
import { ClaimRepository, type Except, type BusyConnectors } from './claim.repository.js';
import { Claims } from './claims.js';
import { Settings } from '../../platform/config/settings.js';
import { Semaphore } from '../../platform/concurrency/semaphore.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector-type.js';
import { ClaimLostError } from './lease-keeper.js';
import { type RecoveryStep, recoveryStepOf } from './execution-rules.js';
import { BackgroundLoop, reportFailure } from '../../platform/concurrency/background-loop.js';

const MOST_AT_ONCE = 64;
/** The place of actions that no connector provides any more: they end without a vendor. */
const NOBODY = '';

interface Watcher {
  /** Called when there may be something to do: more actions wait, or a connector has a place again. */
  readonly lookAgain: () => void;
  readonly report: (error: unknown) => void;
}

/**
 * Begins actions that nobody has claimed: the replica that should have begun them died, a lapsed claim was put back, or the
 * kill switch held them. The one that has waited longest is begun first, among those whose connector has a place.
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

  /** Leaves out actions whose connector has no place, until no action is left or each found action has a place. */
  async beginOldest(watcher: Watcher): Promise<void> {
    const withoutPlace: Action[] = [];
    for (;;) {
      const oldest = await this.repository.unclaimed(MOST_AT_ONCE, this.except(withoutPlace));
      if (oldest.length === 0 || (await this.killSwitch.isActive())) return;
      const connectors = await this.connectorsOf(oldest);
      const before = withoutPlace.length;
      for (const action of oldest) {
        const giveBack = this.places.tryTake(connectors.get(routeOf(action)) ?? NOBODY);
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
    giveBack: GiveBack,
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
    // What is held again, or was put back, has its turn when the loop looks the next time.
    if (hasEnded(after) || after.phase) lookAgain();
  }

  private async connectorsOf(waiting: readonly Action[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const [route, action] of new Map(waiting.map((one) => [routeOf(one), one]))) {
      const connector = await this.connectors.of(action);
      if (connector) found.set(route, connector.identity.id);
    }
    return found;
  }
}

/** Actions with the same route have the same connector: a rollback runs at the connector of its original action. */
function routeOf({ rollback_of, action_type }: Action): string {
  return rollback_of ?? action_type;
}

/** Each uses one connection to the database for a few milliseconds; the rest of the pool is for requests. */
const GIVEN_UP_AT_ONCE = 4;

/** A question, and the place that it has at its connector. */
interface Place {
  readonly action: Action;
  readonly giveBack: GiveBack;
}

/**
 * Settles the claims of runs that died, and asks vendors how far they are with what they accepted, the one that lapsed first
 * first. It waits for the database alone: vendors are asked beside it, so that none holds up the next claim, however many
 * there are. What finds no place at its connector stays in the table, which is the only queue: a restart loses nothing.
 */
@Injectable()
export class LapsedClaims {
  /** For questions alone: neither calls that hang nor a long queue of actions keep anybody from asking. */
  private readonly places = new ConnectorPlaces();

  constructor(
    private readonly executor: ActionExecutor,
    private readonly claims: Claims,
    private readonly repository: ClaimRepository,
    private readonly registry: ConnectorRegistry,
    private readonly settings: Settings,
  ) {}

  /** Answers how many it settled: when it is not 0, there may be more. Another replica may be faster with any of them. */
  async settleOldest({ lookAgain, report }: Watcher): Promise<number> {
    const busy = this.places.taken();
    const lapsed = await this.repository.lapsed(MOST_AT_ONCE, await this.boundsOf(busy));
    const connectors = await this.connectorsOf(lapsed);
    const connectorOf = ({ connector_id = '' }: Action) => connectors.get(connector_id);
    const steps = new Map(lapsed.map((one) => [one, recoveryStepOf(one, connectorOf(one))]));
    const thatNeed = (step: RecoveryStep) => lapsed.filter((one) => steps.get(one) === step);

    const requeued = await this.claims.requeue(thatNeed('repeat'));
    const placed: Place[] = [];
    const tooLate: Action[] = [];
    for (const action of thatNeed('ask')) {
      const giveBack = this.places.tryTake(action.connector_id!);
      if (giveBack) placed.push({ action, giveBack });
      else if (busy.includes(action.connector_id!)) tooLate.push(action);
    }
    const asked = await this.askAll(placed, connectorOf, { lookAgain, report });
    const givenUp = await this.claims.takeOver([...thatNeed('give up'), ...tooLate]);
    await this.giveUpAll(givenUp, report);
    return requeued + asked + givenUp.length;
  }

  /** Takes over those whose places these are, and asks about them beside whoever called this; answers how many they are. */
  private async askAll(
    placed: readonly Place[],
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

  /** What those connectors have to be asked about may wait for so long. */
  private async boundsOf(busy: readonly string[]): Promise<BusyConnectors> {
    const found = await Promise.all(busy.map((id) => this.registry.find(id)));
    const probed = found.flatMap((one) => (one?.probe ? [one.identity.id] : []));
    const { actionDeadlineMs: acceptedForMs, actionLeaseMs: lapsedForMs } = this.settings;
    return { polled: busy, probed, acceptedForMs, lapsedForMs };
  }

  private async giveUpAll(taken: readonly Action[], report: Watcher['report']): Promise<void> {
    const places = new Semaphore(GIVEN_UP_AT_ONCE);
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
/** What a vendor is doing is asked about when it is due, and not much later. A look that finds nothing costs one short read. */
const LONGEST_PAUSE_OF_QUESTIONS_MS = 1_000;
const PAUSES_PER_LEASE = 4;

/**
 * Looks for actions that no run works on: their replica died with or before its claim, or the kill switch held them. Every
 * replica looks, and a claim decides which one goes on. There are two loops, one for claims that lapsed and for what vendors
 * are doing, and one for actions without a claim: a vendor that takes its time with the second kind does not delay the first.
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

  private async settle(report: (error: unknown) => void): Promise<void> {
    const lookAgain = () => this.settlingLapsed.wake();
    if ((await this.lapsedClaims.settleOldest({ lookAgain, report })) === 0) return;
    lookAgain();
    this.beginningUnclaimed.wake();
  }
}
