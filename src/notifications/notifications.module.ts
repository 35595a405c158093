import { Module } from '@nestjs/common';
import { ActionsModule } from '../actions/actions.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { ChannelChanges } from './channel-changes.js';
import { DeliveriesController } from './deliveries/deliveries.controller.js';
import { DeliveriesService } from './deliveries/deliveries.service.js';
import { DeliveryAttempts } from './deliveries/delivery-attempts.js';
import { DeliveryCounts, DeliveryListRepository } from './records/delivery-list.repository.js';
import { DeliveriesRepository } from './records/deliveries.repository.js';
import { DeliveryWork } from './deliveries/delivery.work.js';
import { DeliveryFolds } from './deliveries/delivery-folds.js';
import { DeliveryEndings } from './deliveries/delivery-endings.js';
import { PresentStates } from './deliveries/present-states.js';
import { NotificationChannelsController } from './notification-channels.controller.js';
import { NotificationChannelsService } from './notification-channels.service.js';
import { NotificationSignals } from './notification-signals.js';
import { NotificationChannelsRepository } from './records/notification-channels.repository.js';
import { SealedChannels } from './sealed-channels.js';

@Module({
  imports: [IncidentsModule, ActionsModule],
  controllers: [NotificationChannelsController, DeliveriesController],
  providers: [
    SealedChannels,
    ChannelChanges,
    NotificationChannelsRepository,
    NotificationChannelsService,
    DeliveryListRepository,
    DeliveriesRepository,
    DeliveryWork,
    DeliveryFolds,
    PresentStates,
    DeliveryCounts,
    DeliveryAttempts,
    DeliveryEndings,
    DeliveriesService,
    NotificationSignals,
  ],
})
export class NotificationsModule {}
