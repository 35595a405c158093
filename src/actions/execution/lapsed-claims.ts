import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { Semaphore } from '../../platform/concurrency/semaphore.js';
import { ConnectorRegistry, type Connector } from '../../connectors/connector.port.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import type { Action } from '../action.js';
import { ActionExecutor } from './action-executor.js';
import { type BusyConnectors, ClaimRepository } from './claim.repository.js';
import { Claims } from './claims.js';
import { ConnectorPlaces, type GiveBack } from './connector-places.js';
import { ClaimLostError } from './execution.errors.js';
import { type RecoveryStep, recoveryStepOf } from './execution-rules.js';
import type { Watcher } from './unclaimed-actions.js';

/** So few that all are settled well within their new lease. */
const MOST_AT_ONCE = 64;
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
