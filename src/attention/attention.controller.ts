import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../auth/current-principal.js';
import type { Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import type { Idempotency } from '../platform/idempotency/idempotency.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import { ApiAnswer, Operation } from '../platform/openapi/answers.js';
import {
  AttentionDoneDto,
  AttentionDto,
  AttentionQueryDto,
  DoneAttentionItemDto,
} from './attention.dto.js';
import { LISTED_DAYS } from './attention.repository.js';
import { AttentionService } from './attention.service.js';

@ApiTags('Attention')
@Controller('api/attention')
@Requires('viewer')
export class AttentionController {
  constructor(private readonly attention: AttentionService) {}

  @Get()
  @Operation(
    'getAttention',
    'Read what needs attention',
    `What silently did not happen in the last ${LISTED_DAYS} days: failed steps, actions, triage runs and webhook events, approvals that expired, resolved incidents whose tool reported more, sources that fell silent. Administrators also see connectors and notification channels that do not work, and notifications that were given up. An item is gone once it is mended or done with.`,
  )
  @ApiAnswer({ status: 200, description: 'The counts, and the items.', type: AttentionDto })
  async get(
    @Query() query: AttentionQueryDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<AttentionDto> {
    const { kind, limit } = query;
    return AttentionDto.from(await this.attention.list(caller, { chosen: kind, limit }));
  }

  @Post(':id/done')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'completeAttentionItem',
    'Say that an item is done with',
    'It leaves the list for everybody, with your reason in the audit trail. What happens to the same source, connector or channel later is listed again. Items whose `role` is admin need one.',
  )
  @ApiAnswer({
    status: 200,
    description: 'It is done with.',
    type: DoneAttentionItemDto,
  })
  async done(
    @Param('id') id: string,
    @Body() { reason }: AttentionDoneDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<DoneAttentionItemDto> {
    const remember = idempotency.remember(DoneAttentionItemDto.from);
    return DoneAttentionItemDto.from(await this.attention.done(caller, id, reason, remember));
  }
}
