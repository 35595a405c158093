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
import { Requires } from '../platform/access/access.js';
import { IfMatch, type IfMatchCondition, setEtag } from '../platform/http/etag.js';
import { type Idempotency, Idempotent } from '../platform/idempotency/idempotency.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  ApiIfMatch,
  ETAG_HEADER,
  Operation,
  SAME_KEY_UNDER_WAY,
  DeletedResourceDto,
} from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { present } from '../platform/validation/present.js';
import {
  ByNameOrId,
  CheckedPlaybookDto,
  PlaybookDto,
  PlaybookInputDto,
  PlaybookQueryDto,
  PlaybookUpdateDto,
  PlaybookVersionDto,
  PlaybookVersionsQueryDto,
} from './playbook.dto.js';
import { type PlaybookEntity, type PlaybookVersionEntity, revisionOf } from './playbook.js';
import { PlaybooksService } from './playbooks.service.js';

const presentPlaybook = (row: PlaybookEntity): PlaybookDto =>
  present(PlaybookDto)({ ...row, ...row.definition });

function show(reply: FastifyReply, playbook: PlaybookEntity): PlaybookDto {
  setEtag(reply, revisionOf(playbook));
  return presentPlaybook(playbook);
}

const presentVersion = (row: PlaybookVersionEntity): PlaybookVersionDto =>
  present(PlaybookVersionDto)({ ...row, ...row.definition });

@ApiTags('Playbooks')
@Controller('api/playbooks')
@Requires('viewer')
export class PlaybooksController {
  constructor(private readonly playbooks: PlaybooksService) {}

  @Get()
  @Operation(
    'listPlaybooks',
    'List the playbooks',
    'Newest first. The first start of the service creates the shipped playbooks. They run only after someone starts them or sets `auto_run`.',
  )
  @ApiAnswer(200, 'The playbooks.', PlaybookDto, { list: true })
  async list(@Query() query: PlaybookQueryDto): Promise<ListAnswer<PlaybookDto>> {
    return ListAnswer.of(await this.playbooks.list(query), query, presentPlaybook);
  }

  @Post()
  @Requires('senior')
  @Operation(
    'createPlaybook',
    'Create a playbook',
    'Conditions, and texts within `{{ }}` in parameters, are expressions in [CEL](https://cel.dev). The guide [Playbooks](/docs/guides/playbooks#expressions) lists the values and functions that they can use, and their limits.',
  )
  @ApiAnswer(201, 'Its first version.', PlaybookDto)
  @ApiErrorMeanings({
    conflict: 'The name is taken, or a request with the same Idempotency-Key is still under way.',
  })
  async create(
    @Body() body: PlaybookInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<PlaybookDto> {
    const remember = idempotency.remember(presentPlaybook);
    return presentPlaybook(await this.playbooks.create(caller, body, remember));
  }

  @Post('validate')
  @Requires('analyst')
  @HttpCode(200)
  @Operation(
    'validatePlaybook',
    'Check a playbook without saving it',
    'Checks the content as `createPlaybook` does. It does not check whether the name is taken.',
  )
  @ApiAnswer(200, 'The playbook can be saved.', CheckedPlaybookDto)
  @ApiErrorMeanings({ conflict: SAME_KEY_UNDER_WAY })
  validate(@Body() body: PlaybookInputDto): CheckedPlaybookDto {
    this.playbooks.check(body);
    return { valid: true };
  }

  @Get(':id')
  @ByNameOrId()
  @Operation(
    'getPlaybook',
    'Read a playbook',
    'Reads a playbook by its name or id. Use the `ETag` to change exactly this version.',
  )
  @ApiAnswer(200, 'The playbook.', PlaybookDto, { headers: ETAG_HEADER })
  async get(
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PlaybookDto> {
    return show(reply, await this.playbooks.get(id));
  }

  @Get(':id/versions')
  @ByNameOrId()
  @Operation(
    'listPlaybookVersions',
    'List the versions of a playbook',
    'The versions of a deleted playbook can be read by its id.',
  )
  @ApiAnswer(200, 'Newest first.', PlaybookVersionDto, { list: true })
  async versions(
    @Param('id') id: string,
    @Query() query: PlaybookVersionsQueryDto,
  ): Promise<ListAnswer<PlaybookVersionDto>> {
    return ListAnswer.of(await this.playbooks.versions(id, query), query, presentVersion);
  }

  @Put(':id')
  @Requires('senior')
  @ByNameOrId({ conflict: 'The name is taken.' })
  @Operation(
    'updatePlaybook',
    'Change a playbook',
    'Fields that are left out stay unchanged; `triggers`, `variables` and `steps` are replaced as a whole. A change creates a new version; runs that have begun keep their version. Only a manager can change a playbook with `trust_verdict`. A senior can still disable it, describe it, or switch off `auto_run` or `trust_verdict`.',
  )
  @ApiIfMatch()
  @ApiAnswer(200, 'The playbook.', PlaybookDto, { headers: ETAG_HEADER })
  @ApiErrors('precondition_failed')
  async update(
    @Param('id') id: string,
    @Body() body: PlaybookUpdateDto,
    @IfMatch() condition: IfMatchCondition,
    @CurrentPrincipal() caller: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PlaybookDto> {
    return show(reply, await this.playbooks.update(caller, id, body, condition));
  }

  @Delete(':id')
  @Requires('senior')
  @ByNameOrId()
  @Operation(
    'deletePlaybook',
    'Delete a playbook',
    'Frees the name. Runs that have begun continue unless they are cancelled, and can be read by the id of the playbook.',
  )
  @ApiIfMatch()
  @ApiAnswer(200, 'It starts no more runs.', DeletedResourceDto)
  @ApiErrors('precondition_failed')
  async delete(
    @Param('id') id: string,
    @IfMatch() condition: IfMatchCondition,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    return { id: await this.playbooks.delete(caller, id, condition), deleted: true };
  }
}
