import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { DeletedResourceDto } from '../platform/http/deleted.dto.js';
import { IfMatch, type IfMatchCondition, setEtag } from '../platform/http/etag.js';
import { type Idempotency, Idempotent } from '../platform/idempotency/idempotency.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  ApiIfMatch,
  ETAG_HEADER,
  Operation,
  SAME_KEY_UNDER_WAY,
} from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { ApiRequestByType, shownType } from '../targets/target-contract.js';
import { CHANNEL_TYPES } from './channel-types.js';
import { DeliveriesService, TEST_ANSWERED_WITHIN_MS } from './deliveries.service.js';
import { EVENT_SCHEMAS } from './notification.js';
import { NotificationChannelsService } from './notification-channels.service.js';
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

/** The contract also has the schemas of the events, which no response contains but webhooks send. */
@ApiTags('Notifications')
@ApiExtraModels(...EVENT_SCHEMAS)
@Controller('api/notification-channels')
@Requires('admin')
export class NotificationsController {
  constructor(
    private readonly channels: NotificationChannelsService,
    private readonly deliveries: DeliveriesService,
  ) {}

  @Get()
  @Operation(
    'listNotificationChannels',
    'List the notification channels',
    'Newest first, without secrets. `status` is the state of each channel.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The channels.',
    type: NotificationChannelDto,
    list: true,
  })
  async list(
    @Query() query: NotificationChannelQueryDto,
  ): Promise<ListAnswer<NotificationChannelDto>> {
    const page = await this.channels.list(query, query.sort);
    return ListAnswer.of(page, query, shownChannel);
  }

  @Get('types')
  @Operation(
    'listNotificationChannelTypes',
    'List the types of notification channels',
    'Schemas of the configurations.',
  )
  @ApiAnswer({
    status: 200,
    description: 'All types, with the schemas of their configurations.',
    type: NotificationChannelTypeDto,
    catalogue: true,
  })
  listTypes(): NotificationChannelTypeDto[] {
    return CHANNEL_TYPES.all.map(shownType);
  }

  @Post()
  @Operation(
    'createNotificationChannel',
    'Create a notification channel',
    'It receives events from now on. `GET /api/notification-channels/types` lists the fields of `config`. Secrets can be written but not read.',
  )
  @ApiRequestByType(CHANNEL_REQUEST)
  @ApiAnswer({
    status: 201,
    description: 'The channel, and its secret if the service generated it.',
    type: ChangedNotificationChannelDto,
  })
  @ApiErrorMeanings({
    conflict: 'The name is taken, or a request with the same Idempotency-Key is still running.',
  })
  async create(
    @Body() body: NotificationChannelInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<ChangedNotificationChannelDto> {
    const remember = idempotency.remember(shownChannel, { secret: true });
    return shownChannel(await this.channels.create(caller, body, remember));
  }

  @Get(':id')
  @Operation(
    'getNotificationChannel',
    'Read a notification channel',
    'Secrets are never returned: `secrets_set` has the names of those that are set.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The channel.',
    type: NotificationChannelDto,
    headers: ETAG_HEADER,
  })
  async get(
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationChannelDto> {
    const channel = await this.channels.show(id);
    setEtag(reply, channel.version);
    return shownChannel(channel);
  }

  @Put(':id')
  @Operation(
    'updateNotificationChannel',
    'Change a notification channel',
    'Absent fields do not change, including secrets. After a change of `config` or `enabled`, waiting deliveries are attempted at once.',
  )
  @ApiIfMatch()
  @ApiAnswer({
    status: 200,
    description: 'The changed channel, and its secret if the service generated it.',
    type: ChangedNotificationChannelDto,
    headers: ETAG_HEADER,
  })
  @ApiErrors('conflict', 'precondition_failed')
  @ApiErrorMeanings({ conflict: 'The name is taken.' })
  async update(
    @Param('id') id: string,
    @Body() body: NotificationChannelUpdateDto,
    @IfMatch() condition: IfMatchCondition,
    @CurrentPrincipal() caller: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ChangedNotificationChannelDto> {
    const changed = await this.channels.update(caller, id, body, condition);
    setEtag(reply, changed.version);
    return shownChannel(changed);
  }

  @Delete(':id')
  @Operation(
    'deleteNotificationChannel',
    'Delete a notification channel',
    'Its waiting deliveries are not sent.',
  )
  @ApiIfMatch()
  @ApiAnswer({
    status: 200,
    description: 'The channel and its secrets are deleted.',
    type: DeletedResourceDto,
  })
  @ApiErrors('precondition_failed')
  async delete(
    @Param('id') id: string,
    @IfMatch() condition: IfMatchCondition,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    await this.channels.delete(caller, id, condition);
    return { id, deleted: true };
  }

  @Post(':id/test')
  @HttpCode(200)
  @Operation(
    'testNotificationChannel',
    'Send a test message',
    'Makes one attempt, even if the channel is disabled. Its event is NotificationTestEvent. The kill switch does not stop it.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Result of the attempt: `success` is true if the receiver has the message.',
    type: NotificationTestDto,
  })
  async test(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<NotificationTestDto> {
    return await this.deliveries.test(caller, id, {
      begun: idempotency.remember(asIs, { provisionalForMs: TEST_ANSWERED_WITHIN_MS }),
      ended: idempotency.remember(asIs),
    });
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
    const page = await this.deliveries.list({ ...query, channelId });
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
    const which = { channelId, since: new Date(since) };
    return await this.deliveries.redeliverDead(caller, which, remember);
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
    const which = { channelId, deliveryId };
    return shownDelivery(await this.deliveries.redeliver(caller, which, remember));
  }
}

const asIs = (result: NotificationTestDto): NotificationTestDto => result;
