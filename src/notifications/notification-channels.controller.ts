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
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { ApiRequestByType, shownType } from '../targets/target-contract.js';
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
} from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { CHANNEL_TYPES } from './channel-types.js';
import { DeliveriesService, TEST_ANSWERED_WITHIN_MS } from './deliveries.service.js';
import {
  CHANNEL_REQUEST,
  ChangedNotificationChannelDto,
  NotificationChannelInputDto,
  NotificationChannelDto,
  NotificationChannelQueryDto,
  NotificationChannelTypeDto,
  NotificationTestDto,
  NotificationChannelUpdateDto,
  shownChannel,
} from './notification-channels.dto.js';
import { MAX_CHANNELS, NotificationChannelsService } from './notification-channels.service.js';

@ApiTags('Notifications')
@Controller('api/notification-channels')
@Requires('admin')
export class NotificationChannelsController {
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
    conflict: `The name is taken, the limit of ${MAX_CHANNELS} channels is reached, or a request with the same Idempotency-Key is still running.`,
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
}

const asIs = (result: NotificationTestDto): NotificationTestDto => result;
