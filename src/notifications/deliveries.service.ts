import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { Clock } from '../platform/clock.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { AppError, NotFoundError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/request.js';
import { isUuid, newId } from '../platform/ids.js';
import type { Page } from '../platform/paging/page.js';
import { Work } from '../platform/work/work.js';
import type { TargetTest } from '../targets/target-contract.js';
import { ChannelAttempts } from './channel-attempts.js';
import { DeliveriesRepository, type DeliveryListRequest } from './deliveries.repository.js';
import { type Delivery, laneOf } from './delivery.entity.js';
import { ATTEMPT_MS } from './delivery-rules.js';
import { messageOf } from './notification.js';
import { NotificationChannelsService } from './notification-channels.service.js';

/** The message is sent between two transactions: the first rejects a simultaneous copy, the second stores the result. */
interface TestParticipants {
  readonly begun: Participant<TargetTest>;
  readonly ended: Participant<TargetTest>;
}

/** For this time a repeated request for a test is rejected as running. */
export const TEST_ANSWERED_WITHIN_MS = 2 * ATTEMPT_MS;

const UNKNOWN: TargetTest = {
  success: false,
  message: 'The service stopped during the test. It is unknown whether the message arrived.',
  latency_ms: 0,
};

/** Lists, tests and redelivers for people. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly transactions: Transactions,
    private readonly channels: NotificationChannelsService,
    private readonly deliveries: DeliveriesRepository,
    private readonly attempts: ChannelAttempts,
    private readonly work: Work,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list(request: DeliveryListRequest): Promise<Page<Delivery>> {
    const { id: channelId } = await this.channels.get(request.channelId);
    return await this.deliveries.list({ ...request, channelId });
  }

  /** Sends a test message, even if the channel is disabled or paused. */
  async test(caller: Caller, id: string, participants: TestParticipants): Promise<TargetTest> {
    const channel = await this.channels.get(id);
    await this.transactions.run<TargetTest>(async () => UNKNOWN, caller, participants.begun);
    const begun = performance.now();
    const occurred_at = this.clock.now();
    const outcome = await this.attempts.send(channel, () =>
      messageOf('notification.test', {
        event_id: newId(occurred_at.getTime()),
        occurred_at,
        subject_id: channel.id,
        payload: { message: `This is a test of the channel ${channel.name}.` },
        incident_id: null,
      }),
    );
    const success = outcome.kind === 'delivered';
    const message = success ? 'The message is delivered.' : outcome.why;
    const latency_ms = Math.round(performance.now() - begun);
    return await this.transactions.run<TargetTest>(
      async (tx) => {
        if (success) await this.attempts.resume(tx, channel.id);
        await this.channels.record(tx, caller, 'notification_channel.tested', channel, { success });
        return { success, message, latency_ms };
      },
      caller,
      participants.ended,
    );
  }

  /** Attempts deliveries that died since the given time for another day, in the order of their events. */
  async redeliverDead(
    caller: Caller,
    { channelId, since }: { readonly channelId: string; readonly since: Date },
    idempotency: Participant<{ redelivered: number }>,
  ): Promise<{ redelivered: number }> {
    const { id, name: channel } = await this.channels.get(channelId);
    return await this.transactions.run<{ redelivered: number }>(
      async (tx) => {
        await this.resumeEnabled(tx, id);
        const count = await this.deliveries.reopenDead(tx, id, since);
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'notification_delivery.redelivered',
          subject: { type: 'notification_channel', id },
          details: { channel, since: since.toISOString(), count },
        });
        return { redelivered: count };
      },
      caller,
      idempotency,
    );
  }

  /** Attempts a delivery for another day, whatever its status is. */
  async redeliver(
    caller: Caller,
    { channelId, deliveryId }: { readonly channelId: string; readonly deliveryId: string },
    idempotency: Participant<Delivery>,
  ): Promise<Delivery> {
    const { id: channel_id, name: channel } = await this.channels.get(channelId);
    if (!isUuid(deliveryId)) throw new NotFoundError('Delivery');
    return await this.transactions.run<Delivery>(
      async (tx) => {
        await this.resumeEnabled(tx, channel_id);
        const delivery = await this.deliveries.reopen(tx, channel_id, deliveryId);
        if (!delivery) throw new NotFoundError('Delivery');
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'notification_delivery.redelivered',
          subject: { type: 'notification_delivery', id: delivery.id },
          details: { channel, channel_id, event: delivery.type },
        });
        return delivery;
      },
      caller,
      idempotency,
    );
  }

  /** Ends the pause of a channel, so that redelivered messages are sent at once. */
  private async resumeEnabled(tx: Tx, channelId: string): Promise<void> {
    const { enabled } = await this.channels.get(channelId, tx);
    if (!enabled) throw new AppError('invalid_state', 'The channel is disabled.');
    await this.work.resumeLane(tx, laneOf(channelId), false);
  }
}
