import { Injectable, Logger } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { Clock } from '../../platform/clock.js';
import { afterCommit, Transactions, type Tx } from '../../platform/database/transactions.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { Work } from '../../platform/work/work.js';
import { shownStart } from '../../platform/text.js';
import type { Failed, Outcome, Refused } from '../channel-type.js';
import type { FoldedDelivery } from '../delivery.js';
import { CHANNEL_RECOVERED, CHANNEL_UNHEALTHY } from '../notification.js';
import type { SealedChannel } from '../notification-channel.js';
import { DeliveriesRepository, type EndedDelivery } from '../records/deliveries.repository.js';
import { laneOf } from '../records/delivery-rows.js';
import { NotificationChannelsRepository } from '../records/notification-channels.repository.js';
import {
  type Ending,
  FAILURES_UNTIL_PROBING,
  ONE_BY_ONE_MS,
  pauseAfter,
  UNHEALTHY_AFTER_MS,
} from './delivery-rules.js';

const LONGEST_ERROR = 500;

export interface Attempt {
  readonly channel: SealedChannel;
  readonly folded: FoldedDelivery;
  readonly outcome: Outcome;
  /** Undefined if it is delivered. */
  readonly ending?: Ending;
}

/** Stores the results of attempts, for the deliveries and for their channels. */
@Injectable()
export class DeliveryEndings {
  private readonly log = new Logger('Notifications');

  constructor(
    private readonly transactions: Transactions,
    private readonly deliveries: DeliveriesRepository,
    private readonly channels: NotificationChannelsRepository,
    private readonly work: Work,
    private readonly events: DomainEvents,
    private readonly clock: Clock,
    @InjectMetric('notification_attempts_total')
    private readonly attempts: Counter<'type' | 'outcome'>,
    @InjectMetric('notification_deliveries_dead_total') private readonly dead: Counter<'type'>,
  ) {}

  /** In the transaction that ends the attempts: the result of a claim that was lost changes nothing. */
  async write(tx: Tx, attempts: readonly Attempt[]): Promise<void> {
    // Channels in the order of their ids, before deliveries: two replicas do not wait for each other.
    const byChannel = [...Map.groupBy(attempts, ({ channel }) => channel.id)].sort();
    for (const [, ofChannel] of byChannel) await this.noteOfChannel(tx, ofChannel);
    const carriers = attempts.filter(({ folded }) => folded.carried.length > 0);
    if (carriers.length > 0) {
      await this.deliveries.lockWork(
        tx,
        attempts.map(({ folded }) => folded.delivery.id),
      );
    }
    const ended: EndedDelivery[] = [];
    for (const { folded, ending, outcome, channel } of attempts) {
      const { id, type, attempts: n } = folded.delivery;
      const error = ending && shownStart(ending.error, LONGEST_ERROR);
      if (ending === undefined) ended.push({ id, status: 'delivered', attempts: n });
      else if (ending.kind === 'unfolded') await this.deliveries.unfold(tx, id, error!);
      else if (ending.kind === 'again') {
        const holders = outcome.kind === 'failed' ? outcome.holders : undefined;
        await this.deliveries.again(tx, id, error!, holders);
      } else {
        ended.push({ id, status: 'dead', error, attempts: n });
        afterCommit(tx, () => {
          this.dead.inc({ type: channel.type });
          const about = { channel: channel.name, delivery: id, event: type };
          this.log.warn(about, `A notification is dead: ${error}`);
        });
      }
    }
    if (ended.length > 0) await this.deliveries.end(tx, ended);
    const [sent, lost] = [true, false].map((is) =>
      carriers.flatMap(({ ending, outcome, folded }) =>
        (ending === undefined || ending.kind === 'dead') && isReached(outcome) === is
          ? [folded.delivery.id]
          : [],
      ),
    );
    if (sent!.length > 0) await this.deliveries.endCarried(tx, sent!);
    if (lost!.length > 0) await this.deliveries.freeCarried(tx, lost!);
    afterCommit(tx, () => {
      for (const { channel, outcome } of attempts) {
        this.attempts.inc({ type: channel.type, outcome: outcome.kind });
      }
    });
  }

  /** The channel works: what waited for it goes out, and those who were told that it failed are told. */
  async works(tx: Tx, channelId: string): Promise<void> {
    const before = await this.channels.markWorking(tx, channelId);
    if (!before) return;
    const lane = laneOf(channelId);
    // One that came through beside others that were too many does not end the pause that the receiver asked for.
    if (!before.isSlowedDown) await this.work.resumeLane(tx, lane, true);
    if (before.failures >= FAILURES_UNTIL_PROBING) await this.work.hurryLane(tx, lane);
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
    await this.work.resumeLane(tx, laneOf(channelId), false);
    await this.work.hurryLane(tx, laneOf(channelId));
  }

  /** The row of a channel that works is not touched: all its deliveries would wait for each other there. */
  private async noteOfChannel(tx: Tx, attempts: readonly Attempt[]): Promise<void> {
    const showsThatItWorks = ({ channel, outcome }: Attempt) =>
      isReached(outcome) && (channel.failingSince ?? channel.unhealthyToldAt) !== undefined;
    if (attempts.some(showsThatItWorks)) await this.works(tx, attempts[0]!.channel.id);
    for (const { channel, outcome } of attempts) {
      if (outcome.kind !== 'delivered' && !outcome.isPartly)
        await this.noteFailure(tx, channel, outcome);
    }
  }

  private async noteFailure(
    tx: Tx,
    channel: SealedChannel,
    outcome: Failed | Refused,
  ): Promise<void> {
    const isBusy = outcome.kind === 'failed' && outcome.isBusy === true;
    const earlier = isBusy ? -1 : channel.failures;
    // A refused message is lost, so that each of them counts.
    const counted = outcome.kind === 'refused' ? undefined : earlier;
    const why = shownStart(outcome.why, LONGEST_ERROR);
    const after = await this.channels.noteFailure(tx, channel.id, why, counted);
    if (!after) return;
    if (after.failures === 1 && !isBusy) {
      afterCommit(tx, () =>
        this.log.warn({ channel: after.name }, `A notification channel fails: ${why}`),
      );
    }
    const pauseMs = pauseAfter(outcome, after.failures, Math.random());
    const probesMs = after.failures >= FAILURES_UNTIL_PROBING ? Infinity : 0;
    const narrowMs = isBusy ? pauseMs + ONE_BY_ONE_MS : probesMs;
    if (pauseMs > 0) await this.work.slowLane(tx, laneOf(channel.id), pauseMs, narrowMs);
    await this.tellOthers(tx, after);
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

  /** Ends at most `most` that nobody can deliver any more; returns how many those were. */
  async expire(most: number): Promise<number> {
    return await this.transactions.run(async (tx) => {
      const { n, channels } = await this.deliveries.expire(tx, most);
      // Whoever deletes a channel wants nothing of it any more: nothing is lost with it.
      for (const [channel, dead] of Map.groupBy(channels, ({ name }) => name)) {
        afterCommit(tx, () => {
          this.dead.inc({ type: dead[0]!.type }, dead.length);
          this.log.warn({ channel, n: dead.length }, 'Notifications are dead: their day is over');
        });
      }
      return n;
    });
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

/** Whether the receiver took the message, if only for some recipients. */
const isReached = (outcome: Outcome): boolean =>
  outcome.kind === 'delivered' || outcome.isPartly === true;
