import { Body, Controller, Delete, Get, Param, Put, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Requires } from '../../platform/access/access.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
  DeletedResourceDto,
} from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import { CurrentPrincipal, type Principal } from '../principal.js';
import {
  PasswordChangeDto,
  presentPrincipal,
  PrincipalDto,
  LoginSessionDto,
  SessionQueryDto,
} from './me.dto.js';
import { present } from '../../platform/validation/present.js';
import { SessionsService } from '../sessions/sessions.service.js';

const presentSession = present(LoginSessionDto);

@ApiTags('Access')
@Controller('api/me')
@Requires('viewer')
export class MeController {
  constructor(private readonly sessions: SessionsService) {}

  @Get()
  @Operation(
    'getMe',
    'Read the identity of the caller',
    'Use it as the first request with a new key: it shows whether the key works, and its permissions.',
  )
  @ApiAnswer({ status: 200, description: 'The caller.', type: PrincipalDto })
  get(@CurrentPrincipal() caller: Principal): PrincipalDto {
    return presentPrincipal(caller);
  }

  @Put('password')
  @Operation('changeMyPassword', 'Change your own password', 'Ends your other sessions.')
  @ApiAnswer({ status: 200, description: 'The new password is set.', type: PrincipalDto })
  @ApiErrors('weak_password')
  @ApiErrorMeanings({
    invalid_credentials: 'The current password is wrong.',
    invalid_state: 'The caller is a key, which has no password.',
  })
  async changePassword(
    @Body() body: PasswordChangeDto,
    @CurrentPrincipal() caller: Principal,
    @Req() request: FastifyRequest,
  ): Promise<PrincipalDto> {
    await this.sessions.changePassword(caller, body, request.ip);
    return presentPrincipal(caller);
  }

  @Get('sessions')
  @Operation(
    'listMySessions',
    'List your own sessions',
    'Newest first. End the sessions that you do not recognise. A key has no sessions.',
  )
  @ApiAnswer({ status: 200, description: 'Your sessions.', type: LoginSessionDto, list: true })
  async listSessions(
    @Query() query: SessionQueryDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<ListAnswer<LoginSessionDto>> {
    const page = await this.sessions.listOwn(caller, query);
    return ListAnswer.of(page, query, (row) =>
      presentSession({ ...row, current: row.id === caller.sessionId }),
    );
  }

  @Delete('sessions/:id')
  @Operation(
    'endMySession',
    'End one of your own sessions',
    'You can also end the current session. The next request must log in.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The session is ended on all replicas within one second.',
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
