import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { isDatabaseUnavailable } from '../../database/sqlstate.js';
import { BackgroundLoop } from '../../jobs/background-loop.js';
import { DomainEvents } from '../../jobs/events/domain-events.js';
import { KILL_SWITCH_DEACTIVATED, KillSwitch } from '../../kill-switch/kill-switch.js';
import { type Action, hasEnded } from '../action.js';
import { ActionReadRepository } from '../action-read.repository.js';
import { ActionExecutor } from './action-executor.js';

const LONGEST_PAUSE_MS = 5_000;
const PAUSES_PER_LEASE = 4;
const MOST_AT_ONCE = 8;

/**
 * Finds actions that nobody works on: begun by a replica that died, accepted by one that died before it began, or held by
 * the kill switch. Every replica looks; claims decide which one goes on.
 */
@Injectable()
export class ActionRecovery
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly log = new Logger(ActionRecovery.name);
  private readonly loop: BackgroundLoop;
  private readonly underWay = new Set<string>();

  constructor(
    private readonly executor: ActionExecutor,
    private readonly reads: ActionReadRepository,
    private readonly killSwitch: KillSwitch,
    private readonly events: DomainEvents,
    settings: Settings,
  ) {
    this.loop = new BackgroundLoop(
      Math.min(LONGEST_PAUSE_MS, settings.actionLeaseMs / PAUSES_PER_LEASE),
      () => this.sweep(),
      (error) => this.report(error),
    );
  }

  onModuleInit(): void {
    this.events.on([KILL_SWITCH_DEACTIVATED], 'actions-go-on', async () => this.loop.wake());
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Begins to recover what has lapsed; a vendor that is slow holds up no other action. */
  async sweep(): Promise<void> {
    const free = MOST_AT_ONCE - this.underWay.size;
    if (free <= 0) return;
    const held = await this.killSwitch.isActive();
    const lapsed = await this.reads.lapsed(MOST_AT_ONCE * 2, !held);
    const ours = lapsed.filter(({ id }) => !this.underWay.has(id)).slice(0, free);
    for (const action of ours) void this.recover(action);
  }

  private async recover(action: Action): Promise<void> {
    this.underWay.add(action.id);
    try {
      if (hasEnded(await this.executor.recover(action))) this.loop.wake();
    } catch (error) {
      this.report(error);
    } finally {
      this.underWay.delete(action.id);
    }
  }

  private report(error: unknown): void {
    if (isDatabaseUnavailable(error)) {
      this.log.warn(`Actions are not recovered for now: ${(error as Error).message}`);
    } else {
      this.log.error(error, 'Actions cannot be recovered.');
    }
  }
}
