import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../../auth/principal.js';
import { Requires } from '../../platform/access/access.js';
import { type Idempotency, Idempotent } from '../../platform/idempotency/idempotency.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
  SAME_KEY_UNDER_WAY,
} from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import { EVENT_SCHEMAS } from '../messages/event-schemas.js';
import {
  DeliveryQueryDto,
  NotificationDeliveryDto,
  DeadDeliveriesDto,
  RedeliveredDeliveriesDto,
} from './deliveries.dto.js';
import { DeliveriesService } from './deliveries.service.js';

/** The schemas of the events are in the contract, although no answer has them: a webhook is sent them. */
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
    'Those that ended are gone 30 days after their event.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The deliveries that match, with their exact number.',
    type: NotificationDeliveryDto,
    list: true,
  })
  async list(
    @Param('id') id: string,
    @Query() query: DeliveryQueryDto,
  ): Promise<ListAnswer<NotificationDeliveryDto>> {
    const page = await this.deliveries.list(DeliveryQueryDto.toRequest(id, query));
    return ListAnswer.of(page, query, NotificationDeliveryDto.from);
  }

  @Post('redeliver')
  @HttpCode(202)
  @Operation(
    'redeliverDeadNotifications',
    'Deliver again what was given up',
    'Every dead delivery of the channel that was given up since a time, for another day, in the order in which it happened; 10000 at most in one request, the earliest first.',
  )
  @ApiAnswer({
    status: 202,
    description: 'They are on their way.',
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
    const remember = idempotency.remember(RedeliveredDeliveriesDto.from);
    const which = { channelId, since: new Date(since) };
    return RedeliveredDeliveriesDto.from(
      await this.deliveries.redeliverDead(caller, which, remember),
    );
  }

  @Post(':delivery_id/redeliver')
  @HttpCode(202)
  @Operation(
    'redeliverNotification',
    'Deliver a notification again',
    'It is tried for another day, beginning now, with the same event id. One that was delivered may be delivered again.',
  )
  @ApiAnswer({
    status: 202,
    description: 'It is on its way.',
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
    const remember = idempotency.remember(NotificationDeliveryDto.from);
    const which = { channelId, deliveryId };
    return NotificationDeliveryDto.from(await this.deliveries.redeliver(caller, which, remember));
  }
}
