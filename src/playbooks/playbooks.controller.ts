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
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal } from '../auth/current-principal.js';
import type { Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { DeletedResourceDto } from '../platform/http/deleted.dto.js';
import { IfMatch, type IfMatchCondition, setEtag } from '../platform/http/etag.js';
import type { Idempotency } from '../platform/idempotency/idempotency.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  ApiIfMatch,
  ETAG_HEADER,
  Operation,
  SAME_KEY_UNDER_WAY,
} from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { CheckedPlaybookDto, PlaybookDto, PlaybookVersionDto } from './dto/playbook.dto.js';
import { LANGUAGE_IN_WORDS } from './dto/language-in-words.js';
import { ByNameOrId, NO_SUCH_PLAYBOOK } from './dto/playbook-fields.js';
import {
  NewPlaybookDto,
  PlaybookQueryDto,
  PlaybookVersionsQueryDto,
  PlaybookUpdateDto,
} from './dto/playbook-requests.dto.js';
import { revisionOf } from './playbook.js';
import { MOST_PLAYBOOKS, PlaybookChanges } from './playbook-changes.js';
import { PlaybooksService } from './playbooks.service.js';

@ApiTags('Playbooks')
@Controller('api/playbooks')
@Requires('viewer')
export class PlaybooksController {
  constructor(
    private readonly playbooks: PlaybooksService,
    private readonly changes: PlaybookChanges,
  ) {}

  @Get()
  @Operation(
    'listPlaybooks',
    'List the playbooks',
    'Newest first. The first start makes those that are shipped with the service; they run only when somebody says so.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The playbooks.',
    type: PlaybookDto,
    list: true,
  })
  async list(@Query() query: PlaybookQueryDto): Promise<ListAnswer<PlaybookDto>> {
    const page = await this.playbooks.list(query, PlaybookQueryDto.toFilter(query), query.sort);
    return ListAnswer.of(page, query, PlaybookDto.from);
  }

  @Post()
  @Requires('senior')
  @Operation('createPlaybook', 'Create a playbook', LANGUAGE_IN_WORDS)
  @ApiBody({ type: NewPlaybookDto })
  @ApiAnswer({
    status: 201,
    description: 'Its first version.',
    type: PlaybookDto,
  })
  @ApiErrorMeanings({
    conflict: `The name is taken, there are ${MOST_PLAYBOOKS} playbooks already, or a request with the same Idempotency-Key is still under way.`,
  })
  async create(
    @Body() body: NewPlaybookDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<PlaybookDto> {
    const wanted = NewPlaybookDto.toWanted(body);
    const remember = idempotency.remember(PlaybookDto.from);
    return PlaybookDto.from(await this.changes.create(caller, wanted, remember));
  }

  @Post('validate')
  @Requires('analyst')
  @HttpCode(200)
  @Operation(
    'validatePlaybook',
    'Check a playbook without saving it',
    'What creating it would say of its content. Whether its name is taken is not looked at.',
  )
  @ApiBody({ type: NewPlaybookDto })
  @ApiAnswer({ status: 200, description: 'It can be saved.', type: CheckedPlaybookDto })
  @ApiErrorMeanings({ conflict: SAME_KEY_UNDER_WAY })
  validate(@Body() body: NewPlaybookDto): CheckedPlaybookDto {
    this.changes.check(NewPlaybookDto.toWanted(body));
    return { valid: true };
  }

  @Get(':id')
  @ByNameOrId()
  @Operation(
    'getPlaybook',
    'Read a playbook',
    'By its name or its id. The `ETag` is for a change of just this version.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The playbook.',
    type: PlaybookDto,
    headers: ETAG_HEADER,
  })
  @ApiErrorMeanings({ not_found: NO_SUCH_PLAYBOOK })
  async get(
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PlaybookDto> {
    const playbook = await this.playbooks.get(id);
    setEtag(reply, revisionOf(playbook));
    return PlaybookDto.from(playbook);
  }

  @Get(':id/versions')
  @ByNameOrId()
  @Operation(
    'listPlaybookVersions',
    'List the versions of a playbook',
    'Those of a deleted playbook by its id.',
  )
  @ApiAnswer({
    status: 200,
    description: 'What the playbook was at each version, newest first.',
    type: PlaybookVersionDto,
    list: true,
  })
  @ApiErrorMeanings({ not_found: NO_SUCH_PLAYBOOK })
  async versions(
    @Param('id') id: string,
    @Query() query: PlaybookVersionsQueryDto,
  ): Promise<ListAnswer<PlaybookVersionDto>> {
    const page = await this.playbooks.versions(id, query, query.sort);
    return ListAnswer.of(page, query, PlaybookVersionDto.from);
  }

  @Put(':id')
  @Requires('senior')
  @ByNameOrId()
  @Operation(
    'updatePlaybook',
    'Change a playbook',
    'What is left out stays. A change makes a new version; runs that have begun keep theirs. A playbook with `trust_verdict` is changed by managers alone, but to stop it, to describe it, or to take the trust away.',
  )
  @ApiIfMatch()
  @ApiBody({ type: PlaybookUpdateDto })
  @ApiAnswer({
    status: 200,
    description: 'The playbook as it is now.',
    type: PlaybookDto,
    headers: ETAG_HEADER,
  })
  @ApiErrors('conflict', 'precondition_failed')
  @ApiErrorMeanings({ not_found: NO_SUCH_PLAYBOOK, conflict: 'The name is taken.' })
  async update(
    @Param('id') id: string,
    @Body() body: PlaybookUpdateDto,
    @IfMatch() condition: IfMatchCondition,
    @CurrentPrincipal() caller: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PlaybookDto> {
    const change = PlaybookUpdateDto.toChange(body);
    const playbook = await this.changes.update(caller, id, change, condition);
    setEtag(reply, revisionOf(playbook));
    return PlaybookDto.from(playbook);
  }

  @Delete(':id')
  @Requires('senior')
  @ByNameOrId()
  @Operation(
    'deletePlaybook',
    'Delete a playbook',
    'Its name is free again. Runs that have begun go on unless they are cancelled, and stay readable by its id.',
  )
  @ApiIfMatch()
  @ApiAnswer({ status: 200, description: 'It starts no run any more.', type: DeletedResourceDto })
  @ApiErrors('precondition_failed')
  @ApiErrorMeanings({ not_found: NO_SUCH_PLAYBOOK })
  async delete(
    @Param('id') id: string,
    @IfMatch() condition: IfMatchCondition,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    return { id: await this.changes.delete(caller, id, condition), deleted: true };
  }
}
