import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { type Idempotency, Idempotent } from '../platform/idempotency/idempotency.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
  SAME_KEY_UNDER_WAY,
} from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { shownType } from '../targets/target-contract.js';
import { TargetController } from '../targets/target-controller.js';
import { CHANNEL_TYPES } from './channel.js';
import type { Delivery } from './delivery.js';
import {
  ChangedNotificationChannelDto,
  DeadDeliveriesDto,
  DeliveryQueryDto,
  NotificationChannelDto,
  NotificationChannelInputDto,
  NotificationChannelTypeDto,
  NotificationChannelUpdateDto,
  NotificationDeliveryDto,
  NotificationTestDto,
  RedeliveredDeliveriesDto,
  shownChannel,
  shownDelivery,
} from './notifications.dto.js';
import { NotificationsService } from './notifications.service.js';

@ApiTags('Notifications')
@Controller('api/notification-channels')
@Requires('admin')
export class NotificationsController extends TargetController({
  name: 'NotificationChannel',
  input: NotificationChannelInputDto,
  update: NotificationChannelUpdateDto,
  shown: NotificationChannelDto,
  changed: ChangedNotificationChannelDto,
  test: NotificationTestDto,
  type: NotificationChannelTypeDto,
  hasVersions: true,
  effects: {
    create: 'The channel receives events from now on.',
    update:
      'After a change of `config` or `enabled`, waiting deliveries are attempted immediately.',
    delete: 'Its waiting deliveries are not sent.',
    test: 'Makes one attempt, even if the channel is disabled. Its event is NotificationTestEvent. The kill switch does not stop it.',
  },
  present: shownChannel,
  presentTypes: () => CHANNEL_TYPES.all.map(shownType),
}) {
  constructor(readonly targets: NotificationsService) {
    super();
  }

  @Get(':id/deliveries')
  @Operation(
    'listNotificationDeliveries',
    'List the deliveries of a notification channel',
    'Ended deliveries are removed 30 days after their event.',
  )
  @ApiAnswer(200, 'Deliveries.', NotificationDeliveryDto, { list: true })
  async listDeliveries(
    @Param('id') channelId: string,
    @Query() query: DeliveryQueryDto,
  ): Promise<ListAnswer<NotificationDeliveryDto>> {
    const page = await this.targets.list({ ...query, channelId });
    return ListAnswer.of(page, query, shownDelivery);
  }

  @Post(':id/deliveries/redeliver')
  @HttpCode(202)
  @Operation(
    'redeliverDeadNotifications',
    'Redeliver dead deliveries',
    'Attempts deliveries of the channel that died since the given time for another day, in the order of their events. At most 10000 per request, the earliest deaths first.',
  )
  @ApiAnswer(202, 'Number of deliveries.', RedeliveredDeliveriesDto)
  @ApiErrors('invalid_state')
  @ApiErrorMeanings({ invalid_state: 'The channel is disabled.', conflict: SAME_KEY_UNDER_WAY })
  async redeliverDead(
    @Param('id') channelId: string,
    @Body() { since }: DeadDeliveriesDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<RedeliveredDeliveriesDto> {
    const shown = (dead: readonly Delivery[]) => ({ redelivered: dead.length });
    const remember = idempotency.remember(shown);
    return shown(await this.targets.redeliver(caller, channelId, new Date(since), remember));
  }

  @Post(':id/deliveries/:delivery_id/redeliver')
  @HttpCode(202)
  @Operation(
    'redeliverNotification',
    'Redeliver a notification',
    'Attempts the delivery for another day, with the same event id. Also possible for a notification that was delivered.',
  )
  @ApiAnswer(202, 'The delivery.', NotificationDeliveryDto)
  @ApiErrors('invalid_state')
  @ApiErrorMeanings({ invalid_state: 'The channel is disabled.', conflict: SAME_KEY_UNDER_WAY })
  async redeliver(
    @Param('id') channelId: string,
    @Param('delivery_id') deliveryId: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<NotificationDeliveryDto> {
    const shown = ([one]: readonly Delivery[]) => shownDelivery(one!);
    const remember = idempotency.remember(shown);
    return shown(await this.targets.redeliver(caller, channelId, deliveryId, remember));
  }
}
