import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { IfMatch, type IfMatchCondition, setEtag } from '../platform/http/etag.js';
import { type Idempotency, Idempotent } from '../platform/idempotency/idempotency.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
  SAME_KEY_UNDER_WAY,
  DeletedResourceDto,
} from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { shownType, targetRoutes } from '../targets/target-contract.js';
import { EVENT_SCHEMAS } from './notification.js';
import {
  CHANNEL_TYPES,
  NotificationChannelsRepository,
} from './notification-channels.repository.js';
import {
  ChangedNotificationChannelDto,
  CHANNEL_REQUEST,
  DeadDeliveriesDto,
  DeliveryQueryDto,
  NotificationChannelDto,
  NotificationChannelInputDto,
  NotificationChannelQueryDto,
  NotificationChannelTypeDto,
  NotificationChannelUpdateDto,
  NotificationDeliveryDto,
  NotificationTestDto,
  RedeliveredDeliveriesDto,
  shownChannel,
  shownDelivery,
} from './notifications.dto.js';
import { NotificationsService } from './notifications.service.js';

const routes = targetRoutes({
  name: 'NotificationChannel',
  requests: CHANNEL_REQUEST,
  shown: NotificationChannelDto,
  changed: ChangedNotificationChannelDto,
  test: NotificationTestDto,
  type: NotificationChannelTypeDto,
  hasVersions: true,
  effects: {
    create: 'The channel receives events from now on.',
    update: 'After a change of `config` or `enabled`, waiting deliveries are attempted at once.',
    delete: 'Its waiting deliveries are not sent.',
    test: 'Makes one attempt, even if the channel is disabled. Its event is NotificationTestEvent. The kill switch does not stop it.',
  },
});

/** The contract also contains the event schemas, which webhooks send but no response contains. */
@ApiTags('Notifications')
@ApiExtraModels(...EVENT_SCHEMAS)
@Controller('api/notification-channels')
@Requires('admin')
export class NotificationsController {
  constructor(
    private readonly rows: NotificationChannelsRepository,
    private readonly notifications: NotificationsService,
  ) {}

  @routes.list
  async list(
    @Query() query: NotificationChannelQueryDto,
  ): Promise<ListAnswer<NotificationChannelDto>> {
    return ListAnswer.of(await this.rows.list(query, query.sort), query, shownChannel);
  }

  @routes.types
  listTypes(): NotificationChannelTypeDto[] {
    return CHANNEL_TYPES.all.map(shownType);
  }

  @routes.create
  async create(
    @Body() body: NotificationChannelInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<ChangedNotificationChannelDto> {
    const remember = idempotency.remember(shownChannel, { secret: true });
    return shownChannel(await this.notifications.create(caller, body, remember));
  }

  @routes.get
  async get(
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationChannelDto> {
    const channel = await this.rows.get(id);
    setEtag(reply, channel.version);
    return shownChannel(channel);
  }

  @routes.update
  async update(
    @Param('id') id: string,
    @Body() body: NotificationChannelUpdateDto,
    @IfMatch() condition: IfMatchCondition,
    @CurrentPrincipal() caller: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ChangedNotificationChannelDto> {
    const changed = await this.notifications.update(caller, id, body, condition);
    setEtag(reply, changed.version);
    return shownChannel(changed);
  }

  @routes.delete
  async delete(
    @Param('id') id: string,
    @IfMatch() condition: IfMatchCondition,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    await this.notifications.delete(caller, id, condition);
    return { id, deleted: true };
  }

  @routes.test
  async test(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<NotificationTestDto> {
    return await this.notifications.test(caller, id, idempotency);
  }

  @Get(':id/deliveries')
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
  async listDeliveries(
    @Param('id') channelId: string,
    @Query() query: DeliveryQueryDto,
  ): Promise<ListAnswer<NotificationDeliveryDto>> {
    const page = await this.notifications.list({ ...query, channelId });
    return ListAnswer.of(page, query, shownDelivery);
  }

  @Post(':id/deliveries/redeliver')
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
  @ApiErrorMeanings({ invalid_state: 'The channel is disabled.', conflict: SAME_KEY_UNDER_WAY })
  async redeliverDead(
    @Param('id') channelId: string,
    @Body() { since }: DeadDeliveriesDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<RedeliveredDeliveriesDto> {
    const remember = idempotency.remember((result: RedeliveredDeliveriesDto) => result);
    return await this.notifications.redeliverDead(caller, channelId, new Date(since), remember);
  }

  @Post(':id/deliveries/:delivery_id/redeliver')
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
  @ApiErrorMeanings({ invalid_state: 'The channel is disabled.', conflict: SAME_KEY_UNDER_WAY })
  async redeliver(
    @Param('id') channelId: string,
    @Param('delivery_id') deliveryId: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<NotificationDeliveryDto> {
    const remember = idempotency.remember(shownDelivery);
    return shownDelivery(
      await this.notifications.redeliver(caller, channelId, deliveryId, remember),
    );
  }
}
