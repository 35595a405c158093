import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../catalogue/action-types.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { type Action, hasEnded } from '../action.js';
import { ActionExecutor } from './action-executor.js';
import { Claims } from './claims.js';
import { ConnectorPlaces, type GiveBack } from './connector-places.js';
import { LapsedRepository } from './lapsed.repository.js';

const MOST_AT_ONCE = 64;
/** Whoever ends without a vendor shares places, too. */
const NO_CONNECTOR = '';

export interface Watcher {
  /** There may be something to begin: more waits, or a connector has a place again. */
  readonly again: () => void;
  readonly report: (error: unknown) => void;
}

/**
 * Begins actions that nobody claimed: accepted by a replica that died, put back by one that settled a lapsed claim, or held
 * by the kill switch. Whoever has waited longest goes first, among those whose connector has a place.
 */
@Injectable()
export class UnclaimedActions {
  private readonly begun = new Set<string>();

  constructor(
    private readonly executor: ActionExecutor,
    private readonly claims: Claims,
    private readonly lapsed: LapsedRepository,
    private readonly registry: ConnectorRegistry,
    private readonly places: ConnectorPlaces,
    private readonly killSwitch: KillSwitch,
  ) {}

  /** Looks past the types whose connector has no place left, until nobody is left or somebody has got one. */
  async beginOldest(watcher: Watcher): Promise<void> {
    const crowded = new Set<ActionTypeName>();
    for (;;) {
      const leftOut = { ids: [...this.begun], types: [...crowded] };
      const oldest = await this.lapsed.waiting(MOST_AT_ONCE, leftOut);
      if (oldest.length === 0 || (await this.killSwitch.isActive())) return;
      const connectors = await this.connectorsOf(oldest);
      const before = crowded.size;
      for (const action of oldest) {
        const giveBack = this.places.tryTake(connectors.get(action.type) ?? NO_CONNECTOR);
        if (giveBack) void this.begin(action, giveBack, watcher);
        else crowded.add(action.type);
      }
      if (crowded.size === before) return watcher.again();
    }
  }

  private async begin(
    action: Action,
    giveBack: GiveBack,
    { again, report }: Watcher,
  ): Promise<void> {
    this.begun.add(action.id);
    const leave = () => {
      giveBack();
      this.begun.delete(action.id);
    };
    const answered = () => {
      leave();
      again();
    };
    let after = action;
    try {
      after = await this.executor.run(action, { answered });
    } catch (error) {
      report(error);
      if (!isDatabaseUnavailable(error)) await this.claims.defer(action).catch(report);
    }
    leave();
    // What is held again, or released, has its turn at the next sweep.
    if (hasEnded(after) || after.phase) again();
  }

  private async connectorsOf(waiting: readonly Action[]): Promise<Map<ActionTypeName, string>> {
    const found = new Map<ActionTypeName, string>();
    for (const type of new Set(waiting.map((action) => action.type))) {
      const connector = await this.registry.providerOf(type);
      if (connector) found.set(type, connector.identity.id);
    }
    return found;
  }
}
