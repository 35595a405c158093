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
import { LapsedClaims } from './lapsed-claims.js';
import { UnclaimedActions } from './unclaimed-actions.js';

const LONGEST_PAUSE_MS = 5_000;
const PAUSES_PER_LEASE = 4;
const TASK = 'Recovering actions';

/**
 * Looks for actions that nobody works on: begun by a replica that died, accepted by one that died before it began, or held
 * by the kill switch. Every replica looks; claims decide which one goes on. Settling what lapsed and beginning what waits
 * are loops of their own: vendors take their time, and what became of a claim does not wait for it.
 */
@Injectable()
export class ActionRecovery
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly log = new Logger(ActionRecovery.name);
  private readonly settling: BackgroundLoop;
  private readonly beginning: BackgroundLoop;

  constructor(
    private readonly lapsedClaims: LapsedClaims,
    private readonly waitingActions: UnclaimedActions,
    private readonly events: DomainEvents,
    settings: Settings,
  ) {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, settings.actionLeaseMs / PAUSES_PER_LEASE);
    const loop = { task: TASK, log: this.log, pauseMs };
    const report = (error: unknown) => reportFailure(this.log, TASK, error);
    const again = () => this.beginning.wake();
    this.settling = new BackgroundLoop(loop, () => this.settle(report));
    this.beginning = new BackgroundLoop(loop, () =>
      this.waitingActions.beginOldest({ again, report }),
    );
  }

  onModuleInit(): void {
    this.events.on([KILL_SWITCH_DEACTIVATED], 'actions-go-on', async () => this.beginning.wake());
  }

  onApplicationBootstrap(): void {
    this.settling.start();
    this.beginning.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.settling.stop(), this.beginning.stop()]);
  }

  private async settle(report: (error: unknown) => void): Promise<void> {
    if ((await this.lapsedClaims.settleOldest(report)) === 0) return;
    this.settling.wake();
    this.beginning.wake();
  }
}
