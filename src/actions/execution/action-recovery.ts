import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { BackgroundLoop, reportFailure } from '../../platform/concurrency/background-loop.js';
import { DomainEvents } from '../../platform/jobs/events/domain-events.js';
import { KILL_SWITCH_DEACTIVATED } from '../../kill-switch/kill-switch.js';
import { ConnectorPlaces } from './connector-places.js';
import { LapsedClaims } from './lapsed-claims.js';
import { UnclaimedActions } from './unclaimed-actions.js';

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
    private readonly events: DomainEvents,
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
    this.events.on([KILL_SWITCH_DEACTIVATED], 'actions-go-on', async () =>
      this.beginningUnclaimed.wake(),
    );
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
