import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
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
import { EVENT_SCHEMAS } from './messages/event-schemas.js';
import {
  DeadDeliveriesDto,
  DeliveryQueryDto,
  NotificationDeliveryDto,
  RedeliveredDeliveriesDto,
  shownDelivery,
} from './deliveries.dto.js';
import { DeliveriesService } from './deliveries.service.js';

/** The contract also has the schemas of the events, which no response contains but webhooks send. */
@ApiTags('Notifications')
@ApiExtraModels(...EVENT_SCHEMAS)
@Controller('api/notification-channels/:id/deliveries')
@Requires('admin')
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get()
  @Operation(
    'listNotificationDeliveries',
    'List the deliveries of a notification channel',
    'Ended deliveries are removed 30 days after their event.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Matching deliveries, with their exact number.',
    type: NotificationDeliveryDto,
    list: true,
  })
  async list(
    @Param('id') channelId: string,
    @Query() query: DeliveryQueryDto,
  ): Promise<ListAnswer<NotificationDeliveryDto>> {
    const page = await this.deliveries.list({ ...query, channelId });
    return ListAnswer.of(page, query, shownDelivery);
  }

  @Post('redeliver')
  @HttpCode(202)
  @Operation(
    'redeliverDeadNotifications',
    'Redeliver dead deliveries',
    'Attempts deliveries of the channel that died since the given time for another day, in the order of their events. At most 10000 per request, the earliest deaths first.',
  )
  @ApiAnswer({
    status: 202,
    description: 'The deliveries are pending.',
    type: RedeliveredDeliveriesDto,
  })
  @ApiErrors('invalid_state')
  @ApiErrorMeanings({
    invalid_state: 'The channel is disabled.',
    conflict: SAME_KEY_UNDER_WAY,
  })
  async redeliverDead(
    @Param('id') channelId: string,
    @Body() { since }: DeadDeliveriesDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<RedeliveredDeliveriesDto> {
    const remember = idempotency.remember((result: RedeliveredDeliveriesDto) => result);
    const which = { channelId, since: new Date(since) };
    return await this.deliveries.redeliverDead(caller, which, remember);
  }

  @Post(':delivery_id/redeliver')
  @HttpCode(202)
  @Operation(
    'redeliverNotification',
    'Redeliver a notification',
    'Attempts the delivery for another day, with the same event id. A delivered one can be redelivered, too.',
  )
  @ApiAnswer({
    status: 202,
    description: 'The delivery is pending.',
    type: NotificationDeliveryDto,
  })
  @ApiErrors('invalid_state')
  @ApiErrorMeanings({
    invalid_state: 'The channel is disabled.',
    conflict: SAME_KEY_UNDER_WAY,
  })
  async redeliver(
    @Param('id') channelId: string,
    @Param('delivery_id') deliveryId: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<NotificationDeliveryDto> {
    const remember = idempotency.remember(shownDelivery);
    const which = { channelId, deliveryId };
    return shownDelivery(await this.deliveries.redeliver(caller, which, remember));
  }
}
