import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../platform/access/access.js';
import { ApiAnswer, ApiErrorMeanings, Operation } from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import { Idempotent } from '../../platform/idempotency/idempotent.js';
import type { Idempotency } from '../../platform/idempotency/idempotency.js';
import { CurrentPrincipal } from '../current-principal.js';
import { DeletedResourceDto } from '../../platform/http/deleted.dto.js';
import type { Principal } from '../principal.js';
import { ApiKeyDto, ApiKeyQueryDto, NewApiKeyDto, CreatedApiKeyDto } from './api-keys.dto.js';
import { ApiKeysService } from './api-keys.service.js';

@ApiTags('Access')
@Controller('api/api-keys')
@Requires('admin')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Post()
  @Operation(
    'createApiKey',
    'Make an API key',
    'The answer shows the key this once: only its hash is stored. It acts as `key:<name>`; where persons count, it counts as who made it.',
  )
  @ApiErrorMeanings({
    conflict:
      'The name is taken, or was (names are not used again), or a request with the same Idempotency-Key is still under way.',
  })
  @ApiAnswer({
    status: 201,
    description: 'The key, which is shown this once.',
    type: CreatedApiKeyDto,
  })
  async create(
    @Body() body: NewApiKeyDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<CreatedApiKeyDto> {
    const remember = idempotency.remember(CreatedApiKeyDto.fromCreated, { secret: true });
    return CreatedApiKeyDto.fromCreated(await this.keys.create(caller, body, remember));
  }

  @Get()
  @Operation(
    'listApiKeys',
    'List the API keys',
    'Without their secrets. Newest first. `last_used_at` tells which nobody needs any more.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The keys that were not deleted.',
    type: ApiKeyDto,
    list: true,
  })
  async list(@Query() query: ApiKeyQueryDto): Promise<ListAnswer<ApiKeyDto>> {
    return ListAnswer.of(await this.keys.list(query), query, ApiKeyDto.from);
  }

  @Delete(':id')
  @Operation(
    'deleteApiKey',
    'Revoke an API key',
    'It cannot be taken back, and the name is not used again.',
  )
  @ApiAnswer({
    status: 200,
    description: 'No request that arrives a second later succeeds with it, on any replica.',
    type: DeletedResourceDto,
  })
  async delete(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    await this.keys.revoke(caller, id);
    return { id, deleted: true };
  }
}
