import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { ConnectorRegistry } from '../../connectors/connector.port.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { type Action, hasEnded } from '../action.js';
import { ActionExecutor } from './action-executor.js';
import { ClaimRepository } from './claim.repository.js';
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
    private readonly registry: ConnectorRegistry,
    private readonly places: ConnectorPlaces,
    private readonly killSwitch: KillSwitch,
  ) {}

  /** Looks past the types whose connector has no place left, until none waits or each of those found has got a place. */
  async beginOldest(watcher: Watcher): Promise<void> {
    const withoutPlace = new Set<ActionTypeName>();
    for (;;) {
      const except = { ids: [...this.underWay], types: [...withoutPlace] };
      const oldest = await this.repository.unclaimed(MOST_AT_ONCE, except);
      if (oldest.length === 0 || (await this.killSwitch.isActive())) return;
      const connectors = await this.connectorsOf(oldest);
      const before = withoutPlace.size;
      for (const action of oldest) {
        const giveBack = this.places.tryTake(connectors.get(action.action_type) ?? NOBODY);
        if (giveBack) void this.begin(action, giveBack, watcher);
        else withoutPlace.add(action.action_type);
      }
      if (withoutPlace.size === before) return watcher.lookAgain();
    }
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

  private async connectorsOf(waiting: readonly Action[]): Promise<Map<ActionTypeName, string>> {
    const found = new Map<ActionTypeName, string>();
    for (const type of new Set(waiting.map((action) => action.action_type))) {
      const connector = await this.registry.providerOf(type);
      if (connector) found.set(type, connector.identity.id);
    }
    return found;
  }
}
