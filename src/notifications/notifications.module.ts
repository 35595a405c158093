import { Module } from '@nestjs/common';
import { ActionsModule } from '../actions/actions.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { ChannelAttempts } from './channel-attempts.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveriesService } from './deliveries.service.js';
import { DeliveryClaimsRepository } from './delivery-claims.repository.js';
import { DeliveryWork } from './delivery.work.js';
import { NotificationsController } from './notifications.controller.js';
import { NotificationChannelsRepository } from './notification-channels.repository.js';
import { NotificationChannelsService } from './notification-channels.service.js';
import { NotificationSignals } from './notification-signals.js';
import { SealedChannels } from './sealed-channels.js';

@Module({
  imports: [IncidentsModule, ActionsModule],
  controllers: [NotificationsController],
  providers: [
    SealedChannels,
    NotificationChannelsRepository,
    NotificationChannelsService,
    DeliveriesRepository,
    DeliveryClaimsRepository,
    ChannelAttempts,
    DeliveryWork,
    DeliveriesService,
    NotificationSignals,
  ],
})
export class NotificationsModule {}
