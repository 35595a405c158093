import { Body, Controller, Get, Put, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Requires } from '../../common/access.js';
import { ApiAnswer, ApiErrors, Operation } from '../../common/openapi/answers.js';
import { CurrentPrincipal } from '../current-principal.js';
import type { Principal } from '../principal.js';
import { ChangePasswordDto, PrincipalDto } from './me.dto.js';
import { OwnPasswordService } from './own-password.service.js';

@ApiTags('Access')
@Controller('api/me')
@Requires('viewer')
export class MeController {
  constructor(private readonly ownPassword: OwnPasswordService) {}

  @Get()
  @Operation('getMe', 'Read who the caller is')
  @ApiAnswer({
    status: 200,
    description: 'The principal of the key or session.',
    type: PrincipalDto,
  })
  get(@CurrentPrincipal() caller: Principal): PrincipalDto {
    return PrincipalDto.from(caller);
  }

  /** Ends the caller's other sessions; the present one goes on. */
  @Put('password')
  @Operation('changeMyPassword', "Change the caller's own password")
  @ApiAnswer({ status: 200, description: 'The new password holds.', type: PrincipalDto })
  @ApiErrors('invalid_credentials', 'invalid_state')
  async changePassword(
    @Body() body: ChangePasswordDto,
    @CurrentPrincipal() caller: Principal,
    @Req() request: FastifyRequest,
  ): Promise<PrincipalDto> {
    await this.ownPassword.change(caller, body, request.ip);
    return PrincipalDto.from(caller);
  }
}
