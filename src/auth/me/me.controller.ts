import { Body, Controller, Delete, Get, Param, Put, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Requires } from '../../platform/access/access.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
} from '../../platform/openapi/answers.js';
import { DeletedResourceDto } from '../../platform/http/deleted.dto.js';
import { ListAnswer } from '../../platform/paging/page.js';
import { CurrentPrincipal } from '../current-principal.js';
import type { Principal } from '../principal.js';
import { PasswordChangeDto, PrincipalDto } from './me.dto.js';
import { OwnPasswordService } from './own-password.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { SessionDto, SessionQueryDto } from './sessions.dto.js';

@ApiTags('Access')
@Controller('api/me')
@Requires('viewer')
export class MeController {
  constructor(
    private readonly ownPassword: OwnPasswordService,
    private readonly sessions: SessionsService,
  ) {}

  @Get()
  @Operation(
    'getMe',
    'Read who the caller is',
    'A first request with a new key: it tells whether the key works, and what it may.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The principal of the key or session.',
    type: PrincipalDto,
  })
  get(@CurrentPrincipal() caller: Principal): PrincipalDto {
    return PrincipalDto.from(caller);
  }

  @Put('password')
  @Operation(
    'changeMyPassword',
    "Change the caller's own password",
    "Ends the caller's other sessions; the present one goes on.",
  )
  @ApiAnswer({ status: 200, description: 'The new password holds.', type: PrincipalDto })
  @ApiErrors('invalid_credentials', 'invalid_state', 'weak_password')
  @ApiErrorMeanings({
    invalid_credentials: 'The current password is wrong.',
    invalid_state: 'The caller is a key, which has no password.',
  })
  async changePassword(
    @Body() body: PasswordChangeDto,
    @CurrentPrincipal() caller: Principal,
    @Req() request: FastifyRequest,
  ): Promise<PrincipalDto> {
    await this.ownPassword.change(caller, body, request.ip);
    return PrincipalDto.from(caller);
  }

  @Get('sessions')
  @Operation(
    'listMySessions',
    "List the caller's own sessions",
    'Where one is logged in, newest first. What one does not know should be ended.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Where the caller is logged in; a key is nowhere.',
    type: SessionDto,
    list: true,
  })
  async listSessions(
    @Query() query: SessionQueryDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<ListAnswer<SessionDto>> {
    const page = await this.sessions.listOwn(caller, query, query.sort);
    return ListAnswer.of(page, query, (row) => SessionDto.from(row, caller.sessionId));
  }

  @Delete('sessions/:id')
  @Operation(
    'endMySession',
    "End one of the caller's own sessions",
    'The present one, too: then the next request has to log in.',
  )
  @ApiAnswer({
    status: 200,
    description: 'No request that arrives a second later succeeds with it, on any replica.',
    type: DeletedResourceDto,
  })
  async endSession(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Req() request: FastifyRequest,
  ): Promise<DeletedResourceDto> {
    await this.sessions.endOwn(caller, id, request.ip);
    return { id, deleted: true };
  }
}
