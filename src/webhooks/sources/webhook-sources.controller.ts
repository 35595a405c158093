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
import { present } from '../../platform/validation/present.js';
import { PRESETS } from '../reading/formats.js';
import { ApiAnyBody, ApiOktaChallenge, WebhookVerificationDto } from '../receipt/receipt.dto.js';
import { OKTA_VERIFICATION_TYPE } from '../signatures/okta-verification.js';
import {
  DeletedWebhookSourceDto,
  WebhookPresetDto,
  WebhookPreviewDto,
  WebhookSourceDto,
  WebhookSourceInputDto,
  WebhookSourceQueryDto,
  WebhookSourceUpdateDto,
} from './webhook-sources.dto.js';
import { WebhookSourcesService } from './webhook-sources.service.js';

const shownSource = present(WebhookSourceDto);

@ApiTags('Webhooks')
@Controller('api/webhooks')
@Requires('admin')
export class WebhookSourcesController {
  constructor(private readonly sources: WebhookSourcesService) {}

  @Get()
  @Operation('listWebhookSources', 'List the webhook sources', 'Without their secrets.')
  @ApiAnswer({ status: 200, description: 'The sources.', type: WebhookSourceDto, list: true })
  async list(@Query() query: WebhookSourceQueryDto): Promise<ListAnswer<WebhookSourceDto>> {
    const page = await this.sources.list(query, query.sort);
    return ListAnswer.of(page, query, shownSource);
  }

  @Post()
  @Operation(
    'createWebhookSource',
    'Register a webhook source',
    'Events are then sent to `/api/webhooks/{source}`. `GET /api/webhooks/presets` lists presets for many tools.',
  )
  @ApiAnswer({ status: 201, description: 'The source.', type: WebhookSourceDto })
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

  /** Declared before the handlers of `:source`, which would match `presets` as a name. */
  @Get('presets')
  @Operation('listWebhookPresets', 'List the presets', 'Settings and steps for each tool.')
  @ApiAnswer({ status: 200, description: 'All presets.', type: WebhookPresetDto, catalogue: true })
  presets(): WebhookPresetDto[] {
    return PRESETS.map(present(WebhookPresetDto));
  }

  @Get(':source')
  @Operation(
    'getWebhookSource',
    'Read a webhook source',
    'The secret is never shown. With the header `x-okta-verification-challenge`, this is the verification of an Okta event hook: it needs no key and returns only the value of the header, for an enabled source whose `signature` is `token` or `basic`.',
  )
  @ApiOktaChallenge()
  @ApiAnswer({
    status: 200,
    description: 'The source, or the value for Okta.',
    type: WebhookSourceDto,
    others: { [OKTA_VERIFICATION_TYPE]: WebhookVerificationDto },
  })
  async get(@Param('source') source: string): Promise<WebhookSourceDto> {
    return shownSource(await this.sources.get(source));
  }

  @Put(':source')
  @Operation('updateWebhookSource', 'Change a webhook source', 'Absent fields stay.')
  @ApiAnswer({ status: 200, description: 'The source after the change.', type: WebhookSourceDto })
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
  @ApiAnswer({ status: 200, description: 'The incidents of the body.', type: WebhookPreviewDto })
  @Header('content-type', JSON_UTF8)
  async preview(
    @Param('source') source: string,
    @Req() { received }: FastifyRequest,
  ): Promise<string> {
    return WebhookPreviewDto.envelopeOf(await this.sources.preview(source, received));
  }

  @Delete(':source')
  @Operation('deleteWebhookSource', 'Delete a webhook source', 'Its events and incidents stay.')
  @ApiAnswer({ status: 200, description: 'The source is deleted.', type: DeletedWebhookSourceDto })
  async delete(
    @Param('source') source: string,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedWebhookSourceDto> {
    await this.sources.delete(caller, source);
    return { id: source, deleted: true };
  }
}
