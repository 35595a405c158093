import { Injectable } from '@nestjs/common';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import type {
  WebhookEvent,
  WebhookEventListRequest,
  WebhookEventWithBody,
} from './webhook-event.js';
import { WebhookEventsRepository } from './webhook-events.repository.js';

@Injectable()
export class WebhookEventsService {
  constructor(private readonly repository: WebhookEventsRepository) {}

  list(request: WebhookEventListRequest): Promise<Page<WebhookEvent>> {
    return this.repository.list(request);
  }

  /** A malformed id is the id of nothing. */
  async get(id: string): Promise<WebhookEventWithBody> {
    const event = isUuid(id) ? await this.repository.findById(id) : undefined;
    if (!event) throw new NotFoundError('Webhook event');
    return event;
  }
}
