import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { BackgroundLoop } from '../../platform/concurrency/background-loop.js';
import { within } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Clock } from '../../platform/clock.js';
import { firstIdAt } from '../../platform/ids.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { Work } from '../../platform/work/work.js';
import { type Span, traced } from '../../platform/tracing/tracing.js';
import type { ClaimedDelivery } from '../delivery.js';
import { DeliveryWritesRepository } from '../records/delivery-writes.repository.js';
import { NotificationChannelsRepository } from '../records/notification-channels.repository.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { DeliveryEndings } from './delivery-endings.js';
import { DeliveryFolds } from './delivery-folds.js';
import { FAILURES_UNTIL_PROBING, LEASE_MS } from './delivery-rules.js';
import { type PresentDelivery, PresentStates } from './present-states.js';

/** For what other replicas wrote: what this one writes wakes it. */
const PAUSE_MS = 500;
/** So that what is written and what ends meanwhile is claimed together. */
const REST_MS = 10;
/** How many deliveries of one channel a replica tries at once. */
const PLACES_PER_CHANNEL = 32;
const CLEAN_UP_SECONDS = 600;
const TELL_SECONDS = 30;
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const AT_ONCE = 5_000;

/**
 * Delivers what is due. Every replica looks, and a claim with a lease decides which one tries a delivery. Each channel has
 * places of its own. Nothing here holds a connection of the database while a receiver is waited for.
 */
@Injectable()
export class DeliveryWorker
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly log = new Logger('Notifications');
  private readonly loop: BackgroundLoop;
  /** By channel. */
  private readonly underWay = new Map<string, number>();
  private readonly work = new Set<Promise<void>>();
  private halt = new AbortController();

  constructor(
    private readonly transactions: Transactions,
    private readonly deliveries: DeliveryWritesRepository,
    private readonly channels: NotificationChannelsRepository,
    private readonly folds: DeliveryFolds,
    private readonly states: PresentStates,
    private readonly attempts: DeliveryAttempts,
    private readonly endings: DeliveryEndings,
    private readonly timers: Work,
    private readonly events: DomainEvents,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {
    const options = { task: 'Looking for notifications that are due', log: this.log };
    this.loop = new BackgroundLoop({ ...options, pauseMs: PAUSE_MS, restMs: REST_MS }, () =>
      this.look(),
    );
  }

  onModuleInit(): void {
    this.timers.every('clean-up-notifications', CLEAN_UP_SECONDS, () => this.cleanUp());
    const tell = () => this.endings.tellOfLongFailures();
    this.timers.every('tell-of-failing-channels', TELL_SECONDS, tell);
    this.events.onWritten(() => this.wake());
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  /** What is under way may end within half of the grace; the rest is given back, for another replica or the next start. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    const ended = () => Promise.all(this.work);
    await within(this.settings.shutdownGraceMs / 2, ended(), () => this.halt.abort());
    await ended();
  }

  /** Something may be due. */
  wake(): void {
    this.loop.wake();
  }

  /** Gives up what nobody can deliver any more, and removes what has ended and whose event is 30 days old. */
  async cleanUp(): Promise<void> {
    const before = firstIdAt(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    for (const channel of await this.channels.all()) {
      while ((await this.endings.expire(channel, AT_ONCE)) === AT_ONCE);
      while ((await this.deliveries.prune(channel.id, before, AT_ONCE)) === AT_ONCE);
    }
  }

  private async look(): Promise<void> {
    for (const one of await this.claim()) {
      const { id, type, incidentId } = one.folded.delivery;
      const carried = traced(
        () => ({
          name: `notification ${one.channel.type}`,
          kind: 'internal',
          attributes: { 'delivery.id': id, 'event.type': type, 'incident.id': incidentId },
        }),
        (span) => this.carry(one, span),
      );
      this.work.add(carried);
      void carried.finally(() => this.work.delete(carried));
    }
  }

  private async claim(): Promise<PresentDelivery[]> {
    return await this.transactions.run(async (tx) => {
      const claimed = await this.deliveries.claim(tx, {
        underWay: this.underWay,
        placesPerChannel: PLACES_PER_CHANNEL,
        failuresUntilProbing: FAILURES_UNTIL_PROBING,
        leaseMs: LEASE_MS,
      });
      if (claimed.length === 0) return [];
      const folded = await this.folds.fold(tx, claimed);
      const channels = await this.channels.byIds(
        tx,
        claimed.map(({ channelId }) => channelId),
      );
      return await this.states.look(tx, folded, channels);
    });
  }

  private async carry(work: PresentDelivery, span: Span | undefined): Promise<void> {
    const { folded, channel } = work;
    this.count(channel.id, 1);
    const { signal } = this.halt;
    try {
      const outcome = await this.attempts.deliver(work, signal);
      span?.note({ 'delivery.outcome': outcome.kind });
      await this.endings.end(channel, folded, outcome);
    } catch (err) {
      if (signal.aborted) return await this.release(folded.delivery);
      // Its lease ends, and it is tried again.
      this.log.warn({ err, channel: channel.name }, 'An attempt could not be written down');
    } finally {
      this.count(channel.id, -1);
      this.wake();
    }
  }

  private async release(delivery: ClaimedDelivery): Promise<void> {
    await this.deliveries.release(delivery).catch(() => undefined);
  }

  private count(channelId: string, change: 1 | -1): void {
    const n = (this.underWay.get(channelId) ?? 0) + change;
    if (n === 0) this.underWay.delete(channelId);
    else this.underWay.set(channelId, n);
  }
}
