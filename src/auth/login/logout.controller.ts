import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '../../platform/access/access.js';
import { AnyQuery, Consumes } from '../../platform/http/handler-options.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
} from '../../platform/openapi/answers.js';
import { Limited } from '../../platform/limits/limited.js';
import { RefusesOtherSites } from '../guards/same-origin.guard.js';
import { clearSessionCookie, sessionTokenOf } from '../sessions/session-cookie.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { isForm } from './form-request.js';
import { LogoutDto } from './login.dto.js';
import { ApiSeeOther, ENDED_SESSION, STRANGERS_LIMIT } from './login.openapi.js';

@ApiTags('Access')
@Controller('logout')
@Public()
@AnyQuery()
export class LogoutController {
  constructor(private readonly sessions: SessionsService) {}

  /** Without a session it answers the same. */
  @Post()
  @HttpCode(200)
  @Consumes('json-or-form')
  @RefusesOtherSites()
  @Limited('logout')
  @Operation('logOut', 'End the session')
  @ApiAnswer({
    status: 200,
    description: 'To a program: the session has ended.',
    type: LogoutDto,
    headers: ENDED_SESSION,
  })
  @ApiSeeOther('To a form: go on at the login page.', ENDED_SESSION)
  @ApiErrors(
    'forbidden',
    'payload_too_large',
    'unsupported_media_type',
    'validation_error',
    'rate_limited',
    'service_unavailable',
  )
  @ApiErrorMeanings({
    forbidden: 'The request comes from another site.',
    rate_limited: STRANGERS_LIMIT,
  })
  async logOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LogoutDto | undefined> {
    const token = sessionTokenOf(request);
    if (token !== undefined) await this.sessions.end(token, request.ip);
    clearSessionCookie(request, reply);
    if (!isForm(request)) return { logged_out: true };
    void reply.redirect('/login', 303);
    return undefined;
  }
}
