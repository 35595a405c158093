import { Injectable, Logger } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { IsNull, LessThanOrEqual } from 'typeorm';
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
import { NotificationChannelEntity, WORKING } from './notification-channel.entity.js';
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
      for (const { channel, outcome, ending, delivery } of attempts) {
        this.attempts.inc({ type: channel.type, outcome: outcome.kind });
        if (ending.kind !== 'dead') continue;
        this.dead.inc({ type: channel.type });
        const about = { channel: channel.name, delivery: delivery.id, event: delivery.type };
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
      const failing = await tx
        .createQueryBuilder(NotificationChannelEntity, 'channel')
        .where({ enabled: true, unhealthy_since: IsNull(), failing_since: LessThanOrEqual(before) })
        .andWhere(
          `exists (select from notification_deliveries where channel_id = channel.id and status = 'pending')`,
        )
        .setLock('pessimistic_write')
        .getMany();
      for (const channel of failing) await this.reportIfUnhealthy(tx, channel);
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
    const rows = tx.getRepository(NotificationChannelEntity);
    const before = await rows.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
    if (!before || !(before.failing_since ?? before.unhealthy_reported_at)) return;
    const { enabled, failures, narrow_until, unhealthy_reported_at: since } = before;
    // The recovery of a disabled channel is reported only after it is enabled.
    await rows.update(id, { ...WORKING, ...(enabled && { unhealthy_reported_at: null }) });
    // A success does not end a pause that the receiver asked for. Infinity is a number.
    const isSlowedDown = narrow_until instanceof Date && narrow_until > new Date(presentTime());
    if (!isSlowedDown) await this.work.resumeLane(tx, laneOf(id), true);
    if (failures >= FAILURES_UNTIL_PROBING) await this.work.hurryLane(tx, laneOf(id));
    if (!enabled || !since) return;
    await this.report(tx, before, 'recovered', { unhealthy_since: since.toISOString() });
    const channel = before.name;
    afterCommit(tx, () => this.log.log({ channel }, 'A notification channel works again.'));
  }

  /** @param earlier failures in a row before the attempt. Failures of attempts that run at the same time count once. */
  private async noteFailure(
    tx: Tx,
    id: string,
    outcome: Failed | Refused,
    earlier: number,
  ): Promise<void> {
    const isBusy = outcome.kind === 'failed' && outcome.isBusy === true;
    const last_error = shownStart(outcome.why, MAX_ERROR);
    const counted = `greatest(failures, ${isBusy ? 0 : earlier + 1})`;
    const rows = tx.getRepository(NotificationChannelEntity);
    await rows.update(
      { id, deleted_at: IsNull() },
      {
        // Each refused message is lost, so each one counts.
        failures: () => (outcome.kind === 'refused' ? 'failures + 1' : counted),
        failing_since: () => 'coalesce(failing_since, now())',
        last_error,
      },
    );
    const after = await rows.findOneBy({ id, deleted_at: IsNull() });
    if (!after) return;
    const { name: channel, failures } = after;
    if (failures === 1 && !isBusy) {
      const text = `A notification channel fails: ${last_error}`;
      afterCommit(tx, () => this.log.warn({ channel }, text));
    }
    const pauseMs = pauseAfter(outcome, failures, Math.random());
    const probesMs = failures >= FAILURES_UNTIL_PROBING ? Infinity : 0;
    const narrowMs = isBusy ? pauseMs + ONE_BY_ONE_MS : probesMs;
    if (pauseMs > 0) await this.work.slowLane(tx, laneOf(id), pauseMs, narrowMs);
    await this.reportIfUnhealthy(tx, after);
  }

  /** Reports each series of failures once. A change of the configuration does not begin a new series. */
  private async reportIfUnhealthy(tx: Tx, channel: NotificationChannelEntity): Promise<void> {
    const { id, name, failing_since, unhealthy_since, last_error: message } = channel;
    if (!channel.enabled || unhealthy_since || !failing_since) return;
    if (this.clock.now().getTime() - failing_since.getTime() < UNHEALTHY_AFTER_MS) return;
    await tx.getRepository(NotificationChannelEntity).update(id, {
      unhealthy_since: () => 'now()',
      unhealthy_reported_at: () => 'coalesce(unhealthy_reported_at, now())',
    });
    if (channel.unhealthy_reported_at) return;
    const payload = { message, failing_since: failing_since.toISOString() };
    await this.report(tx, channel, 'unhealthy', payload);
    const text = `A notification channel is unhealthy: ${message}`;
    afterCommit(tx, () => this.log.warn({ channel: name }, text));
  }

  private async report(
    tx: Tx,
    { id, name, type }: NotificationChannelEntity,
    what: 'unhealthy' | 'recovered',
    more: object,
  ): Promise<void> {
    const subject = { type: 'notification_channel', id };
    const payload = { name, type, ...more };
    await this.events.record(tx, { type: `notification_channel.${what}`, subject, payload });
  }
}
