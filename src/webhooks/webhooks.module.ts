import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { WebhookEvents } from './events/webhook-events.js';
import { Inbox } from './receipt/inbox.js';
import { Settlement } from './receipt/settlement.js';
import { WebhookReceipts } from './receipt/webhook-receipts.js';
import { WebhookSourcesService } from './sources/webhook-sources.service.js';
import { SourceDirectory } from './sources/source-directory.js';
import { WebhookEventsController, WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [IncidentsModule],
  controllers: [WebhooksController, WebhookEventsController],
  providers: [
    Inbox,
    Settlement,
    SourceDirectory,
    WebhookEvents,
    WebhookReceipts,
    WebhookSourcesService,
  ],
  exports: [SourceDirectory],
})
export class WebhooksModule {}
