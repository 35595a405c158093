import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { type Idempotency, Idempotent } from '../platform/idempotency/idempotency.js';
import { ApiAnswer, ApiSchemas, Operation } from '../platform/openapi/answers.js';
import { PagedAnswer } from '../platform/paging/page.js';
import { present } from '../platform/validation/present.js';
import {
  ATTENTION_ENVELOPE,
  AttentionDoneDto,
  AttentionDto,
  AttentionMeta,
  AttentionQueryDto,
  DoneAttentionItemDto,
} from './attention.dto.js';
import { AttentionService, LISTED_DAYS } from './attention.service.js';

const presentAttention = present(AttentionDto);
const presentDone = present(DoneAttentionItemDto);

@ApiTags('Attention')
@Controller('api/attention')
@Requires('viewer')
export class AttentionController {
  constructor(private readonly attention: AttentionService) {}

  @Get()
  @Operation(
    'getAttention',
    'List the items that need attention',
    `Lists failures of the last ${LISTED_DAYS} days about which nobody was notified: failed steps, actions, triage runs and webhook events, expired approvals, resolved incidents with new reports, and silent sources. Administrators also see connectors and notification channels that do not work, and undelivered notifications. An item disappears when it is fixed or marked as done.`,
  )
  @ApiSchemas({ AttentionEnvelope: ATTENTION_ENVELOPE })
  @ApiExtraModels(AttentionMeta)
  @ApiAnswer(200, 'The counts, and a page of items.', AttentionDto)
  async get(
    @Query() query: AttentionQueryDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<PagedAnswer<AttentionDto>> {
    const { page, limit, per_page = limit } = query;
    const found = await this.attention.list(caller, query);
    return new PagedAnswer(presentAttention(found), { page, per_page, total: found.total });
  }

  @Post(':id/done')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'completeAttentionItem',
    'Mark an item as done',
    'Removes the item for everybody. The reason is stored in the audit trail. A later failure of the same source, connector or channel is listed again. Items with `role` admin require an admin.',
  )
  @ApiAnswer(200, 'The item is marked as done.', DoneAttentionItemDto)
  async done(
    @Param('id') id: string,
    @Body() { reason }: AttentionDoneDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<DoneAttentionItemDto> {
    const remember = idempotency.remember(presentDone);
    return presentDone(await this.attention.done(caller, id, reason, remember));
  }
}
