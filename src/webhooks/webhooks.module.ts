import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { WebhookEvents, WebhookEventSignals } from './events/webhook-events.js';
import { WebhookEventsController } from './events/webhook-events.controller.js';
import { FurtherReports } from './receipt/further-reports.js';
import { InboxProcessing } from './receipt/inbox-processing.js';
import { InboxRepository } from './receipt/inbox.repository.js';
import { ReceiptBatches } from './receipt/receipt-batches.js';
import { ReceiptsController } from './receipt/receipts.controller.js';
import { Settlement } from './receipt/settlement.js';
import { WebhookReceipts } from './receipt/webhook-receipts.js';
import { OktaVerification } from './signatures/okta-verification.js';
import { WebhookSourcesService } from './sources/webhook-sources.service.js';
import { SealedSecrets, SourceDirectory } from './sources/source-directory.js';
import { WebhookSourcesController } from './sources/webhook-sources.controller.js';

@Module({
  imports: [IncidentsModule],
  controllers: [WebhookSourcesController, ReceiptsController, WebhookEventsController],
  providers: [
    FurtherReports,
    InboxProcessing,
    InboxRepository,
    OktaVerification,
    ReceiptBatches,
    SealedSecrets,
    Settlement,
    SourceDirectory,
    WebhookEvents,
    WebhookEventSignals,
    WebhookReceipts,
    WebhookSourcesService,
  ],
  exports: [SourceDirectory],
})
export class WebhooksModule {}
