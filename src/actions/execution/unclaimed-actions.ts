import { Injectable } from '@nestjs/common';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { type Action, hasEnded } from '../action.js';
import { ActionConnectors } from './action-connectors.js';
import { ActionExecutor } from './action-executor.js';
import { ClaimRepository, type Except } from './claim.repository.js';
import { Claims } from './claims.js';
import { ConnectorPlaces, type GiveBack } from './connector-places.js';

const MOST_AT_ONCE = 64;
/** The place of actions that no connector provides any more: they end without a vendor. */
const NOBODY = '';

export interface Watcher {
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
