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
import { ApiRequestByType } from '../targets/target-contract.js';
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
import { DeliveriesService, TEST_ANSWERED_WITHIN_MS } from './deliveries/deliveries.service.js';
import {
  CHANNEL_REQUEST,
  ChangedNotificationChannelDto,
  NotificationChannelInputDto,
  NotificationChannelDto,
  NotificationChannelQueryDto,
  NotificationChannelTypeDto,
  NotificationTestDto,
  NotificationChannelUpdateDto,
} from './notification-channels.dto.js';
import { MOST_CHANNELS, NotificationChannelsService } from './notification-channels.service.js';

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
    'Newest first, without their secrets; `status` says how each works.',
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
    return ListAnswer.of(page, query, NotificationChannelDto.from);
  }

  @Get('types')
  @Operation(
    'listNotificationChannelTypes',
    'List the types of notification channels',
    'What a channel of each type has to know.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Every type, with the schema of its configuration.',
    type: NotificationChannelTypeDto,
    catalogue: true,
  })
  listTypes(): NotificationChannelTypeDto[] {
    return CHANNEL_TYPES.all.map(NotificationChannelTypeDto.from);
  }

  @Post()
  @Operation(
    'createNotificationChannel',
    'Set up a notification channel',
    'It is told of what happens from now on. Which `config` a type takes is in `GET /api/notification-channels/types`; secrets go in there, and never come out.',
  )
  @ApiRequestByType(CHANNEL_REQUEST)
  @ApiAnswer({
    status: 201,
    description: 'The channel, and its secret where the service made one.',
    type: ChangedNotificationChannelDto,
  })
  @ApiErrorMeanings({
    conflict: `The name is taken, there are ${MOST_CHANNELS} channels already, or a request with the same Idempotency-Key is still under way.`,
  })
  async create(
    @Body() body: NotificationChannelInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<ChangedNotificationChannelDto> {
    const remember = idempotency.remember(ChangedNotificationChannelDto.from, { secret: true });
    return ChangedNotificationChannelDto.from(await this.channels.create(caller, body, remember));
  }

  @Get(':id')
  @Operation(
    'getNotificationChannel',
    'Read a notification channel',
    'Its secrets are never shown: `secrets_set` tells which there are.',
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
    return NotificationChannelDto.from(channel);
  }

  @Put(':id')
  @Operation(
    'updateNotificationChannel',
    'Change a notification channel',
    'What is left out stays, secrets too. A change of what it delivers with lets what waits be tried at once.',
  )
  @ApiIfMatch()
  @ApiAnswer({
    status: 200,
    description: 'The channel as it is now, and its secret where the service made one.',
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
    return ChangedNotificationChannelDto.from(changed);
  }

  @Delete(':id')
  @Operation(
    'deleteNotificationChannel',
    'Delete a notification channel',
    'What is on its way to it is not delivered any more.',
  )
  @ApiIfMatch()
  @ApiAnswer({
    status: 200,
    description: 'The channel and its secrets are gone.',
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
    'Once, and at once, also where the channel is disabled. Its event is NotificationTestEvent. The kill switch does not stop it.',
  )
  @ApiAnswer({
    status: 200,
    description: 'What came of it: `success` says whether the receiver has the message.',
    type: NotificationTestDto,
  })
  async test(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<NotificationTestDto> {
    const provisional = { provisionalForMs: TEST_ANSWERED_WITHIN_MS };
    const result = await this.deliveries.test(caller, id, {
      begun: idempotency.remember(NotificationTestDto.from, provisional),
      ended: idempotency.remember(NotificationTestDto.from),
    });
    return NotificationTestDto.from(result);
  }
}
