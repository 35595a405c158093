import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../platform/access/access.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  Operation,
  DeletedResourceDto,
} from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import { Idempotent, type Idempotency } from '../../platform/idempotency/idempotency.js';
import { CurrentPrincipal, type Principal } from '../principal.js';
import { ApiKeyDto, ApiKeyQueryDto, ApiKeyInputDto, CreatedApiKeyDto } from './api-keys.dto.js';
import { present } from '../../platform/validation/present.js';
import { ApiKeysService } from './api-keys.service.js';

const presentCreated = present(CreatedApiKeyDto);

@ApiTags('Access')
@Controller('api/api-keys')
@Requires('admin')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Post()
  @Operation(
    'createApiKey',
    'Create an API key',
    'Shows the key only once, because only its hash is stored. The key acts as `key:<name>`. For the four-eyes check it counts as the person who created it.',
  )
  @ApiErrorMeanings({
    conflict:
      'The name is in use or was used before (names are not reused), or a request with the same Idempotency-Key is in progress.',
  })
  @ApiAnswer({ status: 201, description: 'The new key.', type: CreatedApiKeyDto })
  async create(
    @Body() body: ApiKeyInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<CreatedApiKeyDto> {
    const remember = idempotency.remember(presentCreated, { secret: true });
    return presentCreated(await this.keys.create(caller, body, remember));
  }

  @Get()
  @Operation(
    'listApiKeys',
    'List the API keys',
    'Newest first, without secrets. `last_used_at` helps to find unused keys.',
  )
  @ApiAnswer({ status: 200, description: 'The valid keys.', type: ApiKeyDto, list: true })
  async list(@Query() query: ApiKeyQueryDto): Promise<ListAnswer<ApiKeyDto>> {
    return ListAnswer.of(await this.keys.list(query), query, present(ApiKeyDto));
  }

  @Delete(':id')
  @Operation('deleteApiKey', 'Revoke an API key', 'Cannot be undone. The name is not reused.')
  @ApiAnswer({
    status: 200,
    description: 'The key is revoked on all replicas within one second.',
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
