import { Injectable } from '@nestjs/common';
import { Semaphore } from '../../platform/concurrency/semaphore.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector.port.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import type { Action } from '../action.js';
import { ActionExecutor } from './action-executor.js';
import { Claims } from './claims.js';
import { ClaimLostError } from './execution.errors.js';
import { LapsedRepository } from './lapsed.repository.js';
import { type Fate, fateOf } from './recovery-rules.js';

/** So many are settled before the next ones are looked for: well within their new lease. */
const MOST_AT_ONCE = 64;
/** Each uses one connection for a few milliseconds; the rest of the pool is for requests. */
const GIVEN_UP_AT_ONCE = 4;

type Report = (error: unknown) => void;

/**
 * Settles the claims of runs that died, whoever lapsed first first. It needs the database alone: what a vendor has to be
 * asked goes on beside it, so that no vendor holds up the next claim, however many there are.
 */
@Injectable()
export class LapsedClaims {
  constructor(
    private readonly executor: ActionExecutor,
    private readonly claims: Claims,
    private readonly lapsed: LapsedRepository,
    private readonly registry: ConnectorRegistry,
  ) {}

  /** Answers how many it settled: while there are some, there may be more. Another replica may be faster with any of them. */
  async settleOldest(report: Report): Promise<number> {
    const left = await this.lapsed.claims(MOST_AT_ONCE);
    const connectors = await this.connectorsOf(left);
    const connectorOf = ({ connectorId = '' }: Action) => connectors.get(connectorId);
    const meantTo = (fate: Fate) => left.filter((one) => fateOf(one, connectorOf(one)) === fate);

    const requeued = await this.claims.requeue(meantTo('repeat'));
    const asked = await this.claims.takeOver(meantTo('ask'));
    for (const action of asked) {
      this.executor.goOn(action, connectorOf(action)!).catch(report);
    }
    const givenUp = await this.claims.takeOver(meantTo('give up'));
    await this.giveUpAll(givenUp, report);
    return requeued + asked.length + givenUp.length;
  }

  private async giveUpAll(taken: readonly Action[], report: Report): Promise<void> {
    const places = new Semaphore(GIVEN_UP_AT_ONCE);
    await Promise.all(taken.map((action) => places.run(() => this.giveUp(action, report))));
  }

  private async giveUp(action: Action, report: Report): Promise<void> {
    try {
      await this.executor.giveUp(action);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      if (!(error instanceof ClaimLostError)) report(error);
    }
  }

  private async connectorsOf(left: readonly Action[]): Promise<Map<string, Connector>> {
    const found = new Map<string, Connector>();
    for (const id of new Set(left.map(({ connectorId = '' }) => connectorId))) {
      const connector = await this.registry.find(id);
      if (connector) found.set(id, connector);
    }
    return found;
  }
}
