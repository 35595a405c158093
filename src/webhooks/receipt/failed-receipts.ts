import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/transactions.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import type { WebhookEventEntity } from '../events/webhook-event.entity.js';
import { InboxRepository } from './inbox.repository.js';
import type { Arrival } from './receipt.js';

/** Domain event that notification channels may subscribe to. */
const WEBHOOK_EVENT_FAILED = 'webhook_event.failed';

/** Keeps failed webhook events for analysts, and notifies the first failure of a source. */
@Injectable()
export class FailedReceipts {
  constructor(
    private readonly inbox: InboxRepository,
    private readonly events: DomainEvents,
  ) {}

  /** Returns the id of the row that keeps the body. */
  async keep(tx: Tx, arrival: Arrival, error: string): Promise<string> {
    const { id, isNews } = await this.inbox.keepFailed(tx, arrival, error);
    if (isNews) await this.record(tx, { id, source: arrival.source }, error);
    return id;
  }

  /** Notifies the failure of a queued event. An analyst who replays a failed event sees the outcome in the answer. */
  async tell(
    tx: Tx,
    event: Pick<WebhookEventEntity, 'id' | 'source' | 'status'>,
    error: string,
  ): Promise<void> {
    if (event.status === 'queued') await this.record(tx, event, error);
  }

  private async record(
    tx: Tx,
    { id, source }: Pick<WebhookEventEntity, 'id' | 'source'>,
    error: string,
  ): Promise<void> {
    if (!(await this.inbox.isFirstFailure(tx, source, id))) return;
    const subject = { type: 'webhook_event', id };
    await this.events.record(tx, {
      type: WEBHOOK_EVENT_FAILED,
      subject,
      payload: { source, error },
    });
  }
}
