import { Injectable, Logger } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { Clock } from '../../platform/clock.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { afterCommit, Transactions, type Tx } from '../../platform/database/transactions.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { shownStart } from '../../platform/text.js';
import type { Failed, Outcome, Refused } from '../channel-type.js';
import type { FoldedDelivery } from '../delivery.js';
import { CHANNEL_RECOVERED, CHANNEL_UNHEALTHY } from '../notification.js';
import type { ChannelIdentity, SealedChannel } from '../notification-channel.js';
import { DeliveryFoldsRepository } from '../records/delivery-folds.repository.js';
import { DeliveryWritesRepository } from '../records/delivery-writes.repository.js';
import { NotificationChannelsRepository } from '../records/notification-channels.repository.js';
import {
  endingOf,
  FAILURES_UNTIL_PROBING,
  ONE_BY_ONE_MS,
  pauseAfter,
  UNHEALTHY_AFTER_MS,
} from './delivery-rules.js';

const LONGEST_ERROR = 500;
const MOST_AT_ONCE = 100;

interface Delivered extends FoldedDelivery {
  readonly channel: SealedChannel;
}

/** Writes down what came of an attempt, for the delivery and for its channel. */
@Injectable()
export class DeliveryEndings {
  private readonly log = new Logger('Notifications');
  /** One statement at a time: what ends meanwhile is written together. */
  private readonly delivered = new Batcher<Delivered, void>(
    (all) => this.endDelivered(all),
    MOST_AT_ONCE,
    1,
  );

  constructor(
    private readonly transactions: Transactions,
    private readonly deliveries: DeliveryWritesRepository,
    private readonly folds: DeliveryFoldsRepository,
    private readonly channels: NotificationChannelsRepository,
    private readonly events: DomainEvents,
    private readonly clock: Clock,
    @InjectMetric('notification_attempts_total')
    private readonly attempts: Counter<'type' | 'outcome'>,
    @InjectMetric('notification_deliveries_dead_total') private readonly dead: Counter<'type'>,
  ) {}

  async end(channel: SealedChannel, folded: FoldedDelivery, outcome: Outcome): Promise<void> {
    if (outcome.kind === 'delivered') await this.delivered.submit({ ...folded, channel });
    else {
      await this.transactions.run((tx) => this.notDelivered(tx, channel, folded, bounded(outcome)));
    }
    this.attempts.inc({ type: channel.type, outcome: outcome.kind });
  }

  /** The channel works: what waited for it goes out, and those who were told that it failed are told. */
  async works(tx: Tx, channelId: string): Promise<void> {
    const before = await this.channels.markWorking(tx, channelId);
    if (!before) return;
    if (before.failures >= FAILURES_UNTIL_PROBING) await this.deliveries.tryNow(tx, channelId);
    const { id, name, type, enabled, unhealthyToldAt } = before;
    if (!enabled || !unhealthyToldAt) return;
    await this.events.record(tx, {
      type: CHANNEL_RECOVERED,
      subject: { type: 'notification_channel', id },
      payload: { name, type, unhealthy_since: unhealthyToldAt.toISOString() },
    });
    afterCommit(tx, () => this.log.log({ channel: name }, 'A notification channel works again'));
  }

  /** Somebody saw that the channel delivers: nothing waits for a pause any longer. */
  async mended(tx: Tx, channelId: string): Promise<void> {
    await this.works(tx, channelId);
    await this.channels.resume(tx, channelId);
    await this.deliveries.tryNow(tx, channelId);
  }

  private async endDelivered(all: readonly Delivered[]): Promise<void[]> {
    // The row of a channel that works is not touched: all its deliveries would wait for each other there.
    const failing = all.flatMap(({ channel: { id, failingSince, unhealthyToldAt } }) =>
      failingSince || unhealthyToldAt ? [id] : [],
    );
    const claims = all.map(({ delivery }) => delivery);
    if (failing.length === 0 && all.every(({ carried }) => carried.length === 0)) {
      await this.deliveries.delivered(undefined, claims);
      return all.map(() => undefined);
    }
    await this.transactions.run(async (tx) => {
      for (const id of new Set(failing)) await this.works(tx, id);
      const ours = await this.deliveries.delivered(tx, claims);
      const carriers = all.filter(
        ({ delivery, carried }) => ours.has(delivery.id) && carried.length > 0,
      );
      if (carriers.length === 0) return;
      await this.folds.delivered(
        tx,
        carriers.map(({ delivery }) => delivery.id),
      );
    });
    return all.map(() => undefined);
  }

  private async notDelivered(
    tx: Tx,
    channel: SealedChannel,
    { delivery, carried }: FoldedDelivery,
    outcome: Failed | Refused,
  ): Promise<void> {
    const isBusy = outcome.kind === 'failed' && outcome.isBusy === true;
    const earlier = isBusy ? -1 : channel.failures;
    // A refused message is lost, so that each of them counts.
    const counted = outcome.kind === 'refused' ? undefined : earlier;
    const after = await this.channels.noteFailure(tx, channel.id, outcome.why, counted);
    const pauseMs = after ? pauseAfter(outcome, after.failures, Math.random()) : 0;
    if (after?.failures === 1 && !isBusy) {
      afterCommit(tx, () =>
        this.log.warn({ channel: after.name }, `A notification channel fails: ${outcome.why}`),
      );
    }
    const oneByOneMs = isBusy ? pauseMs + ONE_BY_ONE_MS : 0;
    if (pauseMs > 0) await this.channels.pause(tx, channel.id, { pauseMs, oneByOneMs });
    if (after) await this.tellOthers(tx, after);
    const ending = endingOf(outcome, delivery, Math.random());
    if (outcome.kind === 'refused' && carried.length > 0) {
      await this.folds.unfold(tx, delivery, ending.error);
    } else if (ending.kind === 'again') {
      const holders = outcome.kind === 'failed' ? outcome.holders : undefined;
      await this.deliveries.again(tx, delivery, { ...ending, holders });
    } else if (await this.deliveries.dead(tx, delivery, ending.error)) {
      const about = { channel: channel.name, delivery: delivery.id, event: delivery.type };
      afterCommit(tx, () => {
        this.dead.inc({ type: channel.type });
        this.log.warn(about, `A notification is dead: ${ending.error}`);
      });
    }
  }

  /** A paused channel makes no attempt that could show for how long it has failed. So this looks for those for which something waits. */
  async tellOfLongFailures(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - UNHEALTHY_AFTER_MS);
    await this.transactions.run(async (tx) => {
      for (const channel of await this.channels.lockFailingSince(tx, before)) {
        await this.tellOthers(tx, channel);
      }
    });
  }

  /** Ends at most so many that nobody can deliver any more; answers how many those were. */
  async expire(
    { id, name, type, isDeleted }: ChannelIdentity & { readonly isDeleted: boolean },
    most: number,
  ): Promise<number> {
    const n = await this.deliveries.expire(id, most);
    // Whoever deletes a channel wants nothing of it any more: nothing is lost with it.
    if (n > 0 && !isDeleted) {
      this.dead.inc({ type }, n);
      this.log.warn({ channel: name, n }, 'Notifications are dead: their day is over');
    }
    return n;
  }

  /** Once for each time that a channel begins to fail for long. A change of its configuration alone does not end that time. */
  private async tellOthers(tx: Tx, channel: SealedChannel): Promise<void> {
    const { id, name, type, failingSince, unhealthySince, unhealthyToldAt, lastError } = channel;
    if (!channel.enabled || unhealthySince || !failingSince) return;
    const failsForMs = this.clock.now().getTime() - failingSince.getTime();
    if (failsForMs < UNHEALTHY_AFTER_MS) return;
    await this.channels.markUnhealthy(tx, id);
    if (unhealthyToldAt) return;
    await this.events.record(tx, {
      type: CHANNEL_UNHEALTHY,
      subject: { type: 'notification_channel', id },
      payload: { name, type, message: lastError, failing_since: failingSince.toISOString() },
    });
    afterCommit(tx, () =>
      this.log.warn({ channel: name }, `A notification channel fails for long: ${lastError}`),
    );
  }
}

function bounded<T extends { readonly why: string }>(outcome: T): T {
  return { ...outcome, why: shownStart(outcome.why, LONGEST_ERROR) };
}
