import { Injectable, Logger } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { Clock, presentTime } from '../platform/clock.js';
import { afterCommit, Transactions, type Tx } from '../platform/database/transactions.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import { Work } from '../platform/work/work.js';
import { shownStart } from '../platform/text.js';
import { type Failed, isReached, type Refused } from './channel-type.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import {
  DeliveryClaimsRepository,
  type EndedAttempt,
  MAX_ERROR,
} from './delivery-claims.repository.js';
import { laneOf } from './delivery.entity.js';
import type { NotificationChannelEntity } from './notification-channel.entity.js';
import { NotificationChannelsRepository } from './notification-channels.repository.js';
import {
  FAILURES_UNTIL_PROBING,
  ONE_BY_ONE_MS,
  pauseAfter,
  UNHEALTHY_AFTER_MS,
} from './delivery-rules.js';

export interface Attempt extends EndedAttempt {
  readonly channel: NotificationChannelEntity;
}

/** Stores the results of attempts in deliveries and channels. */
@Injectable()
export class DeliveryEndings {
  private readonly log = new Logger('Notifications');

  constructor(
    private readonly transactions: Transactions,
    private readonly claims: DeliveryClaimsRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly channels: NotificationChannelsRepository,
    private readonly work: Work,
    private readonly events: DomainEvents,
    private readonly clock: Clock,
    @InjectMetric('notification_attempts_total')
    private readonly attempts: Counter<'type' | 'outcome'>,
    @InjectMetric('notification_deliveries_dead_total') private readonly dead: Counter<'type'>,
  ) {}

  /** Runs in the transaction that ends the claims, so lost claims change nothing. */
  async write(tx: Tx, attempts: readonly Attempt[]): Promise<void> {
    // Channels are locked in the order of their ids, before deliveries.
    const byChannel = [...Map.groupBy(attempts, ({ channel }) => channel.id)].sort();
    for (const [id, ofChannel] of byChannel) await this.updateChannel(tx, id, ofChannel);
    await this.claims.write(tx, attempts);
    afterCommit(tx, () => {
      for (const { channel, outcome, ending, folded } of attempts) {
        this.attempts.inc({ type: channel.type, outcome: outcome.kind });
        if (ending.kind !== 'dead') continue;
        this.dead.inc({ type: channel.type });
        const { id: delivery, type: event } = folded.delivery;
        const about = { channel: channel.name, delivery, event };
        this.log.warn(about, `A notification is dead: ${ending.error}`);
      }
    });
  }

  /** Ends the pause of a channel after a successful test. */
  async resume(tx: Tx, channelId: string): Promise<void> {
    await this.markWorking(tx, channelId);
    await this.work.resumeLane(tx, laneOf(channelId), false);
    await this.work.hurryLane(tx, laneOf(channelId));
  }

  /** A paused channel makes no attempt that could find that it is unhealthy. */
  async reportUnhealthy(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - UNHEALTHY_AFTER_MS);
    await this.transactions.run(async (tx) => {
      for (const channel of await this.channels.lockFailingSince(tx, before)) {
        await this.reportIfUnhealthy(tx, channel);
      }
    });
  }

  /** Ends at most `most` deliveries that could not be attempted for a day. Returns their number. */
  async expire(most: number): Promise<number> {
    return await this.transactions.run(async (tx) => {
      const expired = await this.deliveries.expire(tx, most);
      afterCommit(tx, () => {
        for (const [channel, dead] of Map.groupBy(expired, ({ name }) => name)) {
          // The deliveries of a deleted channel are not missed.
          if (channel === null) continue;
          this.dead.inc({ type: dead[0]!.type! }, dead.length);
          this.log.warn({ channel, n: dead.length }, 'Notifications are dead: their day is over.');
        }
      });
      return expired.length;
    });
  }

  /** Does not touch the row of a healthy channel, because all ends of its deliveries would wait for each other. */
  private async updateChannel(tx: Tx, id: string, attempts: readonly Attempt[]): Promise<void> {
    const recovers = attempts.some(
      ({ channel, outcome }) =>
        isReached(outcome) && (channel.failing_since ?? channel.unhealthy_reported_at) !== null,
    );
    if (recovers) await this.markWorking(tx, id);
    for (const { channel, outcome } of attempts) {
      if (outcome.kind === 'delivered' || outcome.isPartly) continue;
      await this.noteFailure(tx, id, outcome, recovers ? 0 : channel.failures);
    }
  }

  private async markWorking(tx: Tx, id: string): Promise<void> {
    const before = await this.channels.markWorking(tx, id);
    if (!before) return;
    const { name, type, enabled, failures, narrow_until, unhealthy_reported_at } = before;
    // A success does not end a pause that the receiver asked for. Infinity is a number.
    const isSlowedDown = narrow_until instanceof Date && narrow_until > new Date(presentTime());
    if (!isSlowedDown) await this.work.resumeLane(tx, laneOf(id), true);
    if (failures >= FAILURES_UNTIL_PROBING) await this.work.hurryLane(tx, laneOf(id));
    if (!enabled || !unhealthy_reported_at) return;
    await this.events.record(tx, {
      type: 'notification_channel.recovered',
      subject: { type: 'notification_channel', id },
      payload: { name, type, unhealthy_since: unhealthy_reported_at.toISOString() },
    });
    afterCommit(tx, () => this.log.log({ channel: name }, 'A notification channel works again.'));
  }

  /** @param earlier failures in a row before the attempt */
  private async noteFailure(
    tx: Tx,
    id: string,
    outcome: Failed | Refused,
    earlier: number,
  ): Promise<void> {
    const isBusy = outcome.kind === 'failed' && outcome.isBusy === true;
    // Each refused message is lost, so each one counts.
    const counted = outcome.kind === 'refused' ? undefined : isBusy ? -1 : earlier;
    const why = shownStart(outcome.why, MAX_ERROR);
    const after = await this.channels.noteFailure(tx, id, why, counted);
    if (!after) return;
    if (after.failures === 1 && !isBusy) {
      afterCommit(tx, () =>
        this.log.warn({ channel: after.name }, `A notification channel fails: ${why}`),
      );
    }
    const pauseMs = pauseAfter(outcome, after.failures, Math.random());
    const probesMs = after.failures >= FAILURES_UNTIL_PROBING ? Infinity : 0;
    const narrowMs = isBusy ? pauseMs + ONE_BY_ONE_MS : probesMs;
    if (pauseMs > 0) await this.work.slowLane(tx, laneOf(id), pauseMs, narrowMs);
    await this.reportIfUnhealthy(tx, after);
  }

  /** Reports each series of failures once. A change of the configuration does not begin a new series. */
  private async reportIfUnhealthy(tx: Tx, channel: NotificationChannelEntity): Promise<void> {
    const { id, name, type, failing_since, unhealthy_since, last_error: message } = channel;
    if (!channel.enabled || unhealthy_since || !failing_since) return;
    if (this.clock.now().getTime() - failing_since.getTime() < UNHEALTHY_AFTER_MS) return;
    await this.channels.markUnhealthy(tx, id);
    if (channel.unhealthy_reported_at) return;
    await this.events.record(tx, {
      type: 'notification_channel.unhealthy',
      subject: { type: 'notification_channel', id },
      payload: { name, type, message, failing_since: failing_since.toISOString() },
    });
    afterCommit(tx, () =>
      this.log.warn({ channel: name }, `A notification channel is unhealthy: ${message}`),
    );
  }
}
