import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { WebhookEvents } from './webhook-events.js';
import { Inbox } from './receipt/inbox.js';
import { Settlement } from './receipt/settlement.js';
import { WebhookReceipts } from './receipt/webhook-receipts.js';
import { WebhookSourcesService } from './sources/webhook-sources.service.js';
import { WebhookEventsController, WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [IncidentsModule],
  controllers: [WebhooksController, WebhookEventsController],
  providers: [Inbox, Settlement, WebhookEvents, WebhookReceipts, WebhookSourcesService],
  exports: [WebhookSourcesService],
})
export class WebhooksModule {}
