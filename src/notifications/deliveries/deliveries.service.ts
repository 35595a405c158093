import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../platform/clock.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import type { Caller } from '../../platform/http/caller.js';
import { isUuid } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import { Work } from '../../platform/work/work.js';
import type { Delivery, DeliveryListRequest } from '../delivery.js';
import { NotificationChannelsService } from '../notification-channels.service.js';
import {
  ChannelDisabledError,
  ChannelNotFoundError,
  DeliveryNotFoundError,
} from '../notifications.errors.js';
import { DeliveryListRepository } from '../records/delivery-list.repository.js';
import { DeliveriesRepository } from '../records/deliveries.repository.js';
import { laneOf } from '../records/delivery-rows.js';
import { NotificationChannelsRepository } from '../records/notification-channels.repository.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { DeliveryEndings } from './delivery-endings.js';
import { ATTEMPT_MS } from './delivery-rules.js';

export interface TestResult {
  readonly success: boolean;
  readonly message: string;
  readonly latencyMs: number;
}

/** The message leaves between two transactions: the first one keeps twins away, and the second one knows what came of it. */
interface TestParticipants {
  readonly begun: Participant<TestResult>;
  readonly ended: Participant<TestResult>;
}

/** So long a twin of a test is told that it is under way. */
export const TEST_ANSWERED_WITHIN_MS = 2 * ATTEMPT_MS;

/** As many as one transaction may change without holding others up. */
export const MOST_AT_ONCE = 10_000;

const UNKNOWN: TestResult = {
  success: false,
  message: 'The service stopped meanwhile: nobody knows whether the message arrived.',
  latencyMs: 0,
};

/** What people see of deliveries, and do with them. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly transactions: Transactions,
    private readonly channels: NotificationChannelsService,
    private readonly rows: NotificationChannelsRepository,
    private readonly deliveryList: DeliveryListRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly attempts: DeliveryAttempts,
    private readonly endings: DeliveryEndings,
    private readonly work: Work,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list(request: DeliveryListRequest): Promise<Page<Delivery>> {
    const { id } = await this.channels.get(request.channelId);
    return await this.deliveryList.list({ ...request, channelId: id });
  }

  /** Sends a message that says that it is a test, also where the channel is disabled or waits after failures. */
  async test(
    caller: Caller,
    id: string,
    { begun: claimed, ended }: TestParticipants,
  ): Promise<TestResult> {
    const channel = await this.channels.get(id);
    await this.transactions.run<TestResult>(() => Promise.resolve(UNKNOWN), caller, claimed);
    const begun = performance.now();
    const outcome = await this.attempts.test(channel, this.clock.now());
    const result: TestResult = {
      success: outcome.kind === 'delivered',
      message: outcome.kind === 'delivered' ? 'The message is delivered.' : outcome.why,
      latencyMs: Math.round(performance.now() - begun),
    };
    return await this.transactions.run<TestResult>(
      async (tx) => {
        if (result.success) await this.endings.mended(tx, channel.id);
        const { success } = result;
        await this.channels.record(tx, caller, 'notification_channel.tested', channel, { success });
        return result;
      },
      caller,
      ended,
    );
  }

  /** All that were given up since then are tried for another day, in the order in which they happened. */
  async redeliverDead(
    caller: Caller,
    { channelId, since }: { readonly channelId: string; readonly since: Date },
    idempotency: Participant<number>,
  ): Promise<number> {
    const channel = await this.channels.get(channelId);
    return await this.transactions.run<number>(
      async (tx) => {
        await this.resumeEnabled(tx, channel.id);
        const count = await this.deliveries.reopenDead(tx, channel.id, since, MOST_AT_ONCE);
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'notification_delivery.redelivered',
          subject: { type: 'notification_channel', id: channel.id },
          details: { channel: channel.name, since: since.toISOString(), count },
        });
        return count;
      },
      caller,
      idempotency,
    );
  }

  /** It is tried for another day, beginning now, whatever became of it. */
  async redeliver(
    caller: Caller,
    { channelId, deliveryId }: { readonly channelId: string; readonly deliveryId: string },
    idempotency: Participant<Delivery>,
  ): Promise<Delivery> {
    const channel = await this.channels.get(channelId);
    if (!isUuid(deliveryId)) throw new DeliveryNotFoundError();
    return await this.transactions.run<Delivery>(
      async (tx) => {
        await this.resumeEnabled(tx, channel.id);
        const delivery = await this.deliveries.reopen(tx, channel.id, deliveryId);
        if (!delivery) throw new DeliveryNotFoundError();
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'notification_delivery.redelivered',
          subject: { type: 'notification_delivery', id: delivery.id },
          details: { channel: channel.name, channel_id: channel.id, event: delivery.type },
        });
        return delivery;
      },
      caller,
      idempotency,
    );
  }

  /** What is delivered again goes out at once: a pause after earlier failures ends. */
  private async resumeEnabled(tx: Tx, channelId: string): Promise<void> {
    const channel = await this.rows.lockById(tx, channelId);
    if (!channel) throw new ChannelNotFoundError();
    if (!channel.enabled) throw new ChannelDisabledError();
    await this.work.resumeLane(tx, laneOf(channelId), false);
  }
}
