import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { ChannelChanges } from './channel-changes.js';
import { ChannelTypes } from './channels/channel-types.js';
import { EmailChannelType } from './channels/email/email.channel.js';
import { PagerDutyChannelType } from './channels/pagerduty/pagerduty.channel.js';
import { SlackChannelType } from './channels/slack/slack.channel.js';
import { TeamsChannelType } from './channels/teams/teams.channel.js';
import { WebhookChannelType } from './channels/webhook/webhook.channel.js';
import { DeliveriesController } from './deliveries/deliveries.controller.js';
import { DeliveriesService } from './deliveries/deliveries.service.js';
import { DeliveryAttempts } from './deliveries/delivery-attempts.js';
import { DeliveryCounts } from './deliveries/delivery-counts.js';
import { DeliveryEndings } from './deliveries/delivery-endings.js';
import { DeliveryFolds } from './deliveries/delivery-folds.js';
import { DeliveryWorker } from './deliveries/delivery-worker.js';
import { NotificationChannelsController } from './notification-channels.controller.js';
import { NotificationChannelsService } from './notification-channels.service.js';
import { NotificationSignals } from './notification-signals.js';
import { DeliveryFoldsRepository } from './records/delivery-folds.repository.js';
import { DeliveryListRepository } from './records/delivery-list.repository.js';
import { DeliveryWritesRepository } from './records/delivery-writes.repository.js';
import { NotificationChannelsRepository } from './records/notification-channels.repository.js';
import { SealedChannels } from './sealed-channels.js';

@Module({
  imports: [IncidentsModule],
  controllers: [NotificationChannelsController, DeliveriesController],
  providers: [
    SlackChannelType,
    TeamsChannelType,
    EmailChannelType,
    PagerDutyChannelType,
    WebhookChannelType,
    ChannelTypes,
    SealedChannels,
    ChannelChanges,
    NotificationChannelsRepository,
    NotificationChannelsService,
    DeliveryListRepository,
    DeliveryWritesRepository,
    DeliveryFoldsRepository,
    DeliveryFolds,
    DeliveryCounts,
    DeliveryAttempts,
    DeliveryEndings,
    DeliveryWorker,
    DeliveriesService,
    NotificationSignals,
  ],
})
export class NotificationsModule {}
