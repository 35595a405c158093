import { Module } from '@nestjs/common';
import { ActionsModule } from '../actions/actions.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveryWork } from './delivery.work.js';
import { ChannelsRepository } from './channel.js';
import { NotificationsController } from './notifications.controller.js';
import { NotificationsService } from './notifications.service.js';

@Module({
  imports: [IncidentsModule, ActionsModule],
  controllers: [NotificationsController],
  providers: [ChannelsRepository, DeliveriesRepository, DeliveryWork, NotificationsService],
})
export class NotificationsModule {}
