import '../../platform/http/request.js';
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
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CurrentPrincipal, type Principal } from '../../auth/principal.js';
import { Requires } from '../../platform/access/access.js';
import { JSON_UTF8 } from '../../platform/http/answer.js';
import { Consumes } from '../../platform/http/handler-options.js';
import { type Idempotency, Idempotent } from '../../platform/idempotency/idempotency.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
} from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import { PRESETS } from '../mapping/presets.js';
import { ApiAnyBody, ApiOktaChallenge, WebhookVerificationDto } from '../receipt/receipt.dto.js';
import { OKTA_VERIFICATION_TYPE } from '../signatures/okta-verification.js';
import {
  DeletedWebhookSourceDto,
  WebhookPresetDto,
  WebhookPreviewDto,
  WebhookSourceDto,
} from './dto/webhook-source.dto.js';
import {
  WebhookSourceInputDto,
  WebhookSourceQueryDto,
  WebhookSourceUpdateDto,
} from './dto/source-requests.dto.js';
import { WebhookSourcesService } from './webhook-sources.service.js';

@ApiTags('Webhooks')
@Controller('api/webhooks')
@Requires('admin')
export class WebhookSourcesController {
  constructor(private readonly sources: WebhookSourcesService) {}

  @Get()
  @Operation(
    'listWebhookSources',
    'List the webhook sources',
    'Newest first, without their secrets.',
  )
  @ApiAnswer({ status: 200, description: 'The sources.', type: WebhookSourceDto, list: true })
  async list(@Query() query: WebhookSourceQueryDto): Promise<ListAnswer<WebhookSourceDto>> {
    const page = await this.sources.list(query, query.sort);
    return ListAnswer.of(page, query, WebhookSourceDto.from);
  }

  @Post()
  @Operation(
    'createWebhookSource',
    'Register a webhook source',
    'Events are then sent to `/api/webhooks/{source}`. For many tools there is a preset, which knows what they send: `GET /api/webhooks/presets`.',
  )
  @ApiAnswer({ status: 201, description: 'The source.', type: WebhookSourceDto })
  @ApiErrors('conflict')
  @ApiErrorMeanings({
    conflict:
      'There is a source of that name, or a request with the same Idempotency-Key is still under way.',
  })
  async create(
    @Body() body: WebhookSourceInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<WebhookSourceDto> {
    const remember = idempotency.remember(WebhookSourceDto.from);
    return WebhookSourceDto.from(await this.sources.create(caller, body, remember));
  }

  /** Before the handlers of `:source`, which would take `presets` for a name. */
  @Get('presets')
  @Operation(
    'listWebhookPresets',
    'List the presets for tools that many use',
    'For each tool: how it signs, where its events have what an incident needs, and what to set there.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Every preset, with what to set at the sender.',
    type: WebhookPresetDto,
    catalogue: true,
  })
  presets(): WebhookPresetDto[] {
    return PRESETS.map(WebhookPresetDto.from);
  }

  @Get(':source')
  @Operation(
    'getWebhookSource',
    'Read a webhook source',
    'Its secret is never shown. With the header `x-okta-verification-challenge` this is what Okta asks of the address of an event hook: no key is needed, and the answer is its value alone, for an enabled source whose `signature` is `token` or `basic`.',
  )
  @ApiOktaChallenge()
  @ApiAnswer({
    status: 200,
    description: 'The source, or the value that Okta asked for.',
    type: WebhookSourceDto,
    others: { [OKTA_VERIFICATION_TYPE]: WebhookVerificationDto },
  })
  async get(@Param('source') source: string): Promise<WebhookSourceDto> {
    return WebhookSourceDto.from(await this.sources.get(source));
  }

  @Put(':source')
  @Operation(
    'updateWebhookSource',
    'Change a webhook source',
    'What is left out stays, the secret too. It counts everywhere within a second.',
  )
  @ApiAnswer({ status: 200, description: 'The source as it is now.', type: WebhookSourceDto })
  async update(
    @Param('source') source: string,
    @Body() body: WebhookSourceUpdateDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<WebhookSourceDto> {
    return WebhookSourceDto.from(await this.sources.update(caller, source, body));
  }

  @Post(':source/preview')
  @HttpCode(200)
  @Consumes('raw')
  @Operation(
    'previewWebhookEvent',
    'See what incidents a body would make',
    'Nothing is made or kept, and no signature is needed.',
  )
  @ApiAnyBody()
  @ApiAnswer({
    status: 200,
    description: 'The incidents that the body would make.',
    type: WebhookPreviewDto,
  })
  @Header('content-type', JSON_UTF8)
  async preview(
    @Param('source') source: string,
    @Req() { headers, received }: FastifyRequest,
  ): Promise<string> {
    const events = await this.sources.preview(source, headers['content-type'], received);
    return WebhookPreviewDto.envelopeOf(events);
  }

  @Delete(':source')
  @Operation(
    'deleteWebhookSource',
    'Delete a webhook source',
    'Its events and incidents stay. A source registered later under the same name goes on with them.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The source and its secrets are gone.',
    type: DeletedWebhookSourceDto,
  })
  async delete(
    @Param('source') source: string,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedWebhookSourceDto> {
    await this.sources.delete(caller, source);
    return { id: source, deleted: true };
  }
}
