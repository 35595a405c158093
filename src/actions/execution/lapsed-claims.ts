import { Injectable } from '@nestjs/common';
import { Semaphore } from '../../platform/concurrency/semaphore.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector.port.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import type { Action } from '../action.js';
import { ActionExecutor } from './action-executor.js';
import { ClaimRepository } from './claim.repository.js';
import { Claims } from './claims.js';
import { ClaimLostError } from './execution.errors.js';
import { type RecoveryStep, recoveryStepOf } from './execution-rules.js';

/** So few that all are settled well within their new lease. */
const MOST_AT_ONCE = 64;
/** Each uses one connection to the database for a few milliseconds; the rest of the pool is for requests. */
const GIVEN_UP_AT_ONCE = 4;

type Report = (error: unknown) => void;

/**
 * Settles the claims of runs that died, the one that lapsed first first. It waits for the database alone: where a vendor has
 * to be asked, that goes on beside it, so that no vendor holds up the next claim, however many there are.
 */
@Injectable()
export class LapsedClaims {
  constructor(
    private readonly executor: ActionExecutor,
    private readonly claims: Claims,
    private readonly repository: ClaimRepository,
    private readonly registry: ConnectorRegistry,
  ) {}

  /** Answers how many it settled: when it is not 0, there may be more. Another replica may be faster with any of them. */
  async settleOldest(report: Report): Promise<number> {
    const lapsed = await this.repository.lapsed(MOST_AT_ONCE);
    const connectors = await this.connectorsOf(lapsed);
    const connectorOf = ({ connectorId = '' }: Action) => connectors.get(connectorId);
    const thatNeed = (step: RecoveryStep) =>
      lapsed.filter((action) => recoveryStepOf(action, connectorOf(action)) === step);

    const requeued = await this.claims.requeue(thatNeed('repeat'));
    const asked = await this.claims.takeOver(thatNeed('ask'));
    for (const action of asked) {
      this.executor.resume(action, connectorOf(action)!).catch(report);
    }
    const givenUp = await this.claims.takeOver(thatNeed('give up'));
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

  private async connectorsOf(actions: readonly Action[]): Promise<Map<string, Connector>> {
    const found = new Map<string, Connector>();
    for (const id of new Set(actions.map(({ connectorId = '' }) => connectorId))) {
      const connector = await this.registry.find(id);
      if (connector) found.set(id, connector);
    }
    return found;
  }
}
