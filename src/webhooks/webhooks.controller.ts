import '../platform/http/request.js';
import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Post,
  Put,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { RouteConstraints } from '@nestjs/platform-fastify';
import { ApiExcludeEndpoint, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Allow, Requires } from '../platform/access/access.js';
import { JSON_UTF8, RawAnswer } from '../platform/http/answer.js';
import { AnyQuery, Consumes } from '../platform/http/handler-options.js';
import { type Idempotency, Idempotent } from '../platform/idempotency/idempotency.js';
import { ApiAnswer, ApiErrorMeanings, ApiErrors, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { present } from '../platform/validation/present.js';
import { PRESETS } from './reading/formats.js';
import { Inbox } from './receipt/inbox.js';
import {
  AcceptedReceiptDto,
  ApiAnyBody,
  ApiDelivery,
  ApiOktaChallenge,
  QueuedReceiptDto,
  WebhookVerificationDto,
} from './receipt/receipt.dto.js';
import { WebhookReceipts } from './receipt/webhook-receipts.js';
import { OKTA_CHALLENGE } from './signatures/hmac.guard.js';
import {
  DeletedWebhookSourceDto,
  WebhookPresetDto,
  WebhookPreviewDto,
  WebhookSourceDto,
  WebhookSourceInputDto,
  WebhookSourceQueryDto,
  WebhookSourceUpdateDto,
} from './sources/webhook-sources.dto.js';
import { WebhookSourcesService } from './sources/webhook-sources.service.js';
import {
  RECEIPT_REFUSALS,
  shownEvent,
  shownSummary,
  WebhookEventDto,
  WebhookEventQueryDto,
  WebhookEvents,
  WebhookEventSummaryDto,
} from './webhook-events.js';

const shownSource = present(WebhookSourceDto);

const RECEIPT = {
  name: 'WebhookReceipt',
  types: [AcceptedReceiptDto, QueuedReceiptDto],
  by: { field: 'status', words: { accepted: AcceptedReceiptDto, queued: QueuedReceiptDto } },
};

/** The contract needs a separate media type for this response. JSON parsers ignore the parameter. */
const OKTA_VERIFICATION_TYPE = 'application/json; profile="okta-verification"';

@ApiTags('Webhooks')
@Controller('api/webhooks')
@Requires('admin')
export class WebhooksController {
  constructor(
    private readonly sources: WebhookSourcesService,
    private readonly receipts: WebhookReceipts,
  ) {}

  @Get()
  @Operation('listWebhookSources', 'List the webhook sources', 'Without their secrets.')
  @ApiAnswer(200, 'The sources.', WebhookSourceDto, { list: true })
  async list(@Query() query: WebhookSourceQueryDto): Promise<ListAnswer<WebhookSourceDto>> {
    return ListAnswer.of(await this.sources.list(query), query, shownSource);
  }

  @Post()
  @Operation(
    'createWebhookSource',
    'Register a webhook source',
    'Events are then sent to `/api/webhooks/{source}`. `GET /api/webhooks/presets` lists presets for many tools.',
  )
  @ApiAnswer(201, 'The source.', WebhookSourceDto)
  @ApiErrors('conflict')
  @ApiErrorMeanings({
    conflict: 'The name is taken, or a request with the same Idempotency-Key is in progress.',
  })
  async create(
    @Body() body: WebhookSourceInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<WebhookSourceDto> {
    const remember = idempotency.remember(shownSource);
    return shownSource(await this.sources.create(caller, body, remember));
  }

  @Get('presets')
  @Operation('listWebhookPresets', 'List the presets', 'Settings and steps for each tool.')
  @ApiAnswer(200, 'All presets.', WebhookPresetDto, { catalogue: true })
  presets(): WebhookPresetDto[] {
    return PRESETS.map(present(WebhookPresetDto));
  }

  /** The contract describes this route at getWebhookSource, which has the same path and method. */
  @Get(':source')
  @RouteConstraints({ oktaChallenge: 'present' })
  @Allow('signature')
  @AnyQuery()
  @RawAnswer()
  @Header('content-type', OKTA_VERIFICATION_TYPE)
  @ApiExcludeEndpoint()
  verify(@Req() { headers }: FastifyRequest): WebhookVerificationDto {
    return { verification: String(headers[OKTA_CHALLENGE]) };
  }

  @Get(':source')
  @Operation(
    'getWebhookSource',
    'Read a webhook source',
    'The secret is never shown. With the header `x-okta-verification-challenge`, this is the verification of an Okta event hook: it needs no key and returns only the value of the header, for an enabled source whose `signature` is `token` or `basic`.',
  )
  @ApiOktaChallenge()
  @ApiAnswer(200, 'The source, or the value for Okta.', WebhookSourceDto, {
    others: { [OKTA_VERIFICATION_TYPE]: WebhookVerificationDto },
  })
  async get(@Param('source') source: string): Promise<WebhookSourceDto> {
    return shownSource(await this.sources.get(source));
  }

  @Put(':source')
  @Operation('updateWebhookSource', 'Change a webhook source', 'Absent fields stay.')
  @ApiAnswer(200, 'The source after the change.', WebhookSourceDto)
  async update(
    @Param('source') source: string,
    @Body() body: WebhookSourceUpdateDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<WebhookSourceDto> {
    return shownSource(await this.sources.update(caller, source, body));
  }

  @Post(':source/preview')
  @HttpCode(200)
  @Consumes('raw')
  @Operation('previewWebhookEvent', 'Preview the incidents of a body', 'Nothing is stored.')
  @ApiAnyBody()
  @ApiAnswer(200, 'The incidents of the body.', WebhookPreviewDto)
  @Header('content-type', JSON_UTF8)
  async preview(
    @Param('source') source: string,
    @Req() { received }: FastifyRequest,
  ): Promise<string> {
    return WebhookPreviewDto.envelopeOf(await this.sources.preview(source, received));
  }

  @Delete(':source')
  @Operation('deleteWebhookSource', 'Delete a webhook source', 'Its events and incidents stay.')
  @ApiAnswer(200, 'The source is deleted.', DeletedWebhookSourceDto)
  async delete(
    @Param('source') source: string,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedWebhookSourceDto> {
    await this.sources.delete(caller, source);
    return { id: source, deleted: true };
  }

  @Post(':source')
  @HttpCode(200)
  @Allow('signature')
  @Consumes('raw')
  @AnyQuery()
  @RawAnswer()
  @Operation(
    'receiveWebhook',
    'Deliver an event',
    'The response follows the storage of the event. After 429, 500 or 503, or without a response, send the same body again: a stored event gets the same response again.',
  )
  @ApiDelivery()
  @ApiAnswer(200, 'The event and its incident are stored.', RECEIPT, { raw: true })
  @ApiAnswer(
    202,
    'The event is stored; a worker creates its incident. Or the body is stored and has no events, like a page of a poller without news.',
    RECEIPT,
    { raw: true },
  )
  @ApiErrors(...RECEIPT_REFUSALS)
  async receive(
    @Req() { verifiedReceipt }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedReceiptDto | QueuedReceiptDto> {
    const { id, events } = await this.receipts.receive(verifiedReceipt!);
    if (events?.length) return AcceptedReceiptDto.fromAll(events);
    void reply.status(202);
    return QueuedReceiptDto.of(id);
  }
}

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
  @ApiAnswer(200, 'The events.', WebhookEventSummaryDto, { list: true })
  async list(@Query() query: WebhookEventQueryDto): Promise<ListAnswer<WebhookEventSummaryDto>> {
    return ListAnswer.of(await this.events.list(query), query, shownSummary);
  }

  @Get(':id')
  @Operation('getWebhookEvent', 'Read a webhook event', 'With the exact body.')
  @ApiAnswer(200, 'The event with its body.', WebhookEventDto)
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
  @ApiAnswer(200, 'The event after the replay. `failed`: it still cannot be read.', WebhookEventDto)
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
