import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../../auth/principal.js';
import { Requires } from '../../platform/access/access.js';
import { Idempotent, type Idempotency } from '../../platform/idempotency/idempotency.js';
import { InboxProcessing } from '../receipt/inbox-processing.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
} from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import {
  WebhookEventDto,
  WebhookEventQueryDto,
  WebhookEventSummaryDto,
} from './webhook-events.dto.js';
import { WebhookEventsService } from './webhook-events.service.js';

/** The inbox: every receipt, and what became of it. */
@ApiTags('Webhooks')
@Controller('api/webhook-events')
@Requires('viewer')
export class WebhookEventsController {
  constructor(
    private readonly events: WebhookEventsService,
    private readonly inbox: InboxProcessing,
  ) {}

  @Get()
  @Operation(
    'listWebhookEvents',
    'List webhook events',
    'Every delivery that was signed well, newest first, whatever became of it. Those to be looked at: `?status=failed`.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The events that match, with their exact number.',
    type: WebhookEventSummaryDto,
    list: true,
  })
  async list(@Query() query: WebhookEventQueryDto): Promise<ListAnswer<WebhookEventSummaryDto>> {
    const page = await this.events.list(WebhookEventQueryDto.toRequest(query));
    return ListAnswer.of(page, query, WebhookEventSummaryDto.from);
  }

  @Get(':id')
  @Operation(
    'getWebhookEvent',
    'Read a webhook event',
    'With the very bytes that were sent, and why they could not be read where they could not.',
  )
  @ApiAnswer({
    status: 200,
    description: 'What became of it, and what was sent.',
    type: WebhookEventDto,
  })
  async get(@Param('id') id: string): Promise<WebhookEventDto> {
    return WebhookEventDto.from(await this.events.get(id));
  }

  @Post(':id/replay')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'replayWebhookEvent',
    'Try a failed webhook event again',
    'With the source as it is now, such as after its format or mapping was mended.',
  )
  @ApiAnswer({
    status: 200,
    description:
      'The event after the replay. Its status is `failed` if it still cannot be read or stored. It is `queued` if it has more than 1 000 events, or if one of several events cannot be stored: a worker then settles the other events, and `error` names the failed event.',
    type: WebhookEventDto,
  })
  @ApiErrors('invalid_state')
  @ApiErrorMeanings({
    invalid_state: 'The event did not fail, or somebody else has tried it again: `details.status`.',
  })
  async replay(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<WebhookEventDto> {
    const remember = idempotency.remember(WebhookEventDto.from);
    return WebhookEventDto.from(await this.inbox.replay(caller, id, remember));
  }
}
