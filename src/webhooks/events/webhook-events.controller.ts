import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../../auth/principal.js';
import { Requires } from '../../platform/access/access.js';
import { Idempotent, type Idempotency } from '../../platform/idempotency/idempotency.js';
import { Inbox } from '../receipt/inbox.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
} from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import {
  shownEvent,
  shownSummary,
  WebhookEventDto,
  WebhookEventQueryDto,
  WebhookEventSummaryDto,
} from './webhook-events.dto.js';
import { WebhookEvents } from './webhook-events.js';

@ApiTags('Webhooks')
@Controller('api/webhook-events')
@Requires('viewer')
export class WebhookEventsController {
  constructor(
    private readonly events: WebhookEvents,
    private readonly inbox: Inbox,
  ) {}

  @Get()
  @Operation('listWebhookEvents', 'List webhook events', 'Deliveries with a valid signature.')
  @ApiAnswer({ status: 200, description: 'The events.', type: WebhookEventSummaryDto, list: true })
  async list(@Query() query: WebhookEventQueryDto): Promise<ListAnswer<WebhookEventSummaryDto>> {
    const page = await this.events.list(query);
    return ListAnswer.of(page, query, shownSummary);
  }

  @Get(':id')
  @Operation('getWebhookEvent', 'Read a webhook event', 'With the exact body.')
  @ApiAnswer({ status: 200, description: 'The event with its body.', type: WebhookEventDto })
  async get(@Param('id') id: string): Promise<WebhookEventDto> {
    return shownEvent(await this.events.get(id));
  }

  @Post(':id/replay')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'replayWebhookEvent',
    'Replay a failed webhook event',
    'Uses the current settings of the source.',
  )
  @ApiAnswer({
    status: 200,
    description:
      'The event after the replay. `failed`: it still cannot be read. `queued`: it has more than 1 000 events, or could not be stored, and a worker settles its events.',
    type: WebhookEventDto,
  })
  @ApiErrors('invalid_state')
  @ApiErrorMeanings({ invalid_state: 'The event is not failed, as `details.status` shows.' })
  async replay(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<WebhookEventDto> {
    const remember = idempotency.remember(shownEvent);
    return shownEvent(await this.inbox.replay(caller, id, remember));
  }
}
