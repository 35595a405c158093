import { Module } from '@nestjs/common';
import { WebhookEventCounts } from './events/webhook-event-counts.js';
import { WebhookEventsController } from './events/webhook-events.controller.js';
import { WebhookEventsRepository } from './events/webhook-events.repository.js';
import { WebhookEventsService } from './events/webhook-events.service.js';

@Module({
  controllers: [WebhookEventsController],
  providers: [WebhookEventCounts, WebhookEventsRepository, WebhookEventsService],
})
export class WebhooksModule {}
