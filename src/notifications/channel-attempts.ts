// SQL: updates that return what they changed.
import { Injectable, Logger } from '@nestjs/common';
import { Clock, presentTime } from '../platform/clock.js';
import { unlessAborted, withDeadline } from '../platform/concurrency/within.js';
import { afterCommit, Transactions, type Tx } from '../platform/database/transactions.js';
import { OutboundHttp } from '../platform/net/outbound-http.js';
import { OutboundSmtp } from '../platform/net/outbound-smtp.js';
import { shownStart } from '../platform/text.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import { Work } from '../platform/work/work.js';
import { withDefaults } from '../targets/target-config.js';
import {
  type Failed,
  isReached,
  type Outcome,
  type PartlySent,
  type Refused,
} from './channel-type.js';
import { laneOf, MAX_ERROR } from './delivery.entity.js';
import {
  ATTEMPT_MS,
  FAILURES_UNTIL_PROBING,
  ONE_BY_ONE_MS,
  pauseAfter,
  UNHEALTHY_AFTER_MS,
} from './delivery-rules.js';
import { ChannelEntity, WORKING } from './notification-channel.entity.js';
import type { Message } from './notification.js';
import { CHANNEL_TYPES, ChannelsRepository } from './notification-channels.repository.js';

const LATE = `No answer came within ${ATTEMPT_MS / 1_000} seconds.`;
const BROKEN = 'The attempt failed in the service. The log has the cause.';

export interface ChannelAttempt {
  readonly channel: ChannelEntity;
  readonly outcome: Outcome;
}

@Injectable()
export class ChannelAttempts {
  private readonly log = new Logger('Notifications');

  constructor(
    private readonly channels: ChannelsRepository,
    private readonly http: OutboundHttp,
    private readonly smtp: OutboundSmtp,
    private readonly transactions: Transactions,
    private readonly work: Work,
    private readonly events: DomainEvents,
    private readonly clock: Clock,
  ) {}

  async send(
    channel: ChannelEntity,
    message: () => Message,
    signal = new AbortController().signal,
    partlySent?: PartlySent,
  ): Promise<Outcome> {
    return await withDeadline(ATTEMPT_MS, signal, async (over) => {
      try {
        const type = CHANNEL_TYPES.named(channel.type);
        const sent = type.send({
          config: withDefaults(type.config, this.channels.open(channel)),
          formerSecret: this.channels.openFormer(channel, this.clock.now()),
          message: message(),
          partlySent,
          signal: over,
          http: this.http,
          smtp: this.smtp,
        });
        // A type that ignores the signal must not occupy the slot.
        return await unlessAborted(over, sent);
      } catch (err) {
        signal.throwIfAborted();
        if (over.aborted) return { kind: 'failed', why: LATE };
        this.log.error({ err, channel: channel.name }, 'A notification could not be sent.');
        return { kind: 'failed', why: BROKEN };
      }
    });
  }

  /**
   * Locks channels in the order of their ids, to avoid deadlocks. Does not lock a channel that stays healthy, because
   * all its deliveries would wait for the lock when they end.
   */
  async store(tx: Tx, attempts: readonly ChannelAttempt[]): Promise<void> {
    const byChannel = [...Map.groupBy(attempts, ({ channel }) => channel.id)].sort();
    for (const [id, ofChannel] of byChannel) {
      const recovers = ofChannel.some(
        ({ channel, outcome }) =>
          isReached(outcome) && (channel.failing_since ?? channel.unhealthy_reported_at) !== null,
      );
      if (recovers) await this.storeSuccess(tx, id);
      for (const { channel, outcome } of ofChannel) {
        if (outcome.kind === 'delivered' || outcome.isPartly) continue;
        await this.storeFailure(tx, id, outcome, recovers ? 0 : channel.failures);
      }
    }
  }

  /** Sends waiting deliveries immediately. */
  async resume(tx: Tx, channelId: string): Promise<void> {
    await this.storeSuccess(tx, channelId);
    await this.hurry(tx, channelId);
  }

  async hurry(tx: Tx, channelId: string): Promise<void> {
    await this.work.resumeLane(tx, laneOf(channelId));
    await this.work.hurryLane(tx, laneOf(channelId));
  }

  /** Reports each series of failures once. A change of the configuration does not begin a new series. */
  async reportUnhealthy(): Promise<void> {
    await this.transactions.run(async (tx) => {
      const [failing] = await tx.query<[ChannelEntity[]]>(
        `update notification_channels set unhealthy_reported_at = now()
          where id = any(array(
            select id from notification_channels channel
             where enabled and unhealthy_reported_at is null
               and failing_since <= now() - interval '${UNHEALTHY_AFTER_MS} ms'
               and (failures >= ${FAILURES_UNTIL_PROBING} or exists (
                 select from notification_deliveries where channel_id = channel.id and status = 'pending'))
             order by id for update))
         returning id, name, type, failing_since, last_error`,
      );
      for (const channel of failing) {
        const { failing_since, last_error: message } = channel;
        await this.report(tx, channel, 'unhealthy', { message, failing_since });
        const text = `A notification channel is unhealthy: ${message}`;
        afterCommit(tx, () => this.log.warn({ channel: channel.name }, text));
      }
    });
  }

  private async storeSuccess(tx: Tx, id: string): Promise<void> {
    const rows = tx.getRepository(ChannelEntity);
    const before = await rows.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
    if (!before || !(before.failing_since ?? before.unhealthy_reported_at)) return;
    const { enabled, failures, narrow_until, unhealthy_reported_at: unhealthy_since } = before;
    // The recovery of a disabled channel is reported only after it is enabled.
    await rows.update(id, { ...WORKING, ...(enabled && { unhealthy_reported_at: null }) });
    // A success does not end a pause that the receiver requested. Infinity is a number.
    const isSlowedDown = narrow_until instanceof Date && narrow_until > new Date(presentTime());
    if (!isSlowedDown) await this.work.resumeLane(tx, laneOf(id));
    if (failures >= FAILURES_UNTIL_PROBING) await this.work.hurryLane(tx, laneOf(id));
    if (!enabled || !unhealthy_since) return;
    await this.report(tx, before, 'recovered', { unhealthy_since });
    const channel = before.name;
    afterCommit(tx, () => this.log.log({ channel }, 'A notification channel works again.'));
  }

  /** @param earlier successive failures before the attempt */
  private async storeFailure(
    tx: Tx,
    id: string,
    outcome: Failed | Refused,
    earlier: number,
  ): Promise<void> {
    const isBusy = outcome.kind === 'failed' && outcome.isBusy === true;
    const last_error = shownStart(outcome.why, MAX_ERROR);
    // Each rejected message is lost, so each rejection counts. Failures of concurrent attempts count once.
    const counted =
      outcome.kind === 'refused'
        ? 'failures + 1'
        : `greatest(failures, ${isBusy ? 0 : earlier + 1})`;
    const [[after]] = await tx.query<[{ name: string; failures: number }[]]>(
      `update notification_channels
          set failures = ${counted}, failing_since = coalesce(failing_since, now()), last_error = $2
        where id = $1 and deleted_at is null returning name, failures`,
      [id, last_error],
    );
    if (!after) return;
    const { name: channel, failures } = after;
    if (failures === 1 && !isBusy) {
      afterCommit(tx, () =>
        this.log.warn({ channel }, `A notification channel fails: ${last_error}`),
      );
    }
    const pauseMs = pauseAfter(outcome, failures, Math.random());
    const probesMs = failures >= FAILURES_UNTIL_PROBING ? Infinity : 0;
    const narrowMs = isBusy ? pauseMs + ONE_BY_ONE_MS : probesMs;
    if (pauseMs > 0) await this.work.slowLane(tx, laneOf(id), pauseMs, narrowMs);
  }

  private async report(
    tx: Tx,
    { id, name, type }: ChannelEntity,
    what: 'unhealthy' | 'recovered',
    more: object,
  ): Promise<void> {
    const subject = { type: 'notification_channel', id };
    const payload = { name, type, ...more };
    await this.events.record(tx, { type: `notification_channel.${what}`, subject, payload });
  }
}
