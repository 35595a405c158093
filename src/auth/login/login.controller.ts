import { Body, Controller, Get, HttpCode, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '../../platform/access/access.js';
import { AnyQuery, Consumes } from '../../platform/http/handler-options.js';
import {
  ApiAnswer,
  ApiErrorPages,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
} from '../../platform/openapi/answers.js';
import { Limited } from '../../platform/limits/limited.js';
import { RefusesOtherSites } from '../guards/same-origin.guard.js';
import { PrincipalDto } from '../me/me.dto.js';
import {
  clearSessionCookie,
  sessionTokenOf,
  setSessionCookie,
} from '../sessions/session-cookie.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { isForm } from './form-page.js';
import { loginPage, LoginPageFilter } from './login-page.js';
import { StartedSessionDto, CredentialsDto, EndedSessionDto } from './login.dto.js';
import {
  ApiJsonOrForm,
  ApiNextQuery,
  ApiSeeOther,
  BEGUN_SESSION,
  ENDED_SESSION,
  LOGIN_LIMIT,
  STRANGERS_LIMIT,
} from './login.openapi.js';
import { LoginService } from './login.service.js';
import { nextOf } from './next-path.js';

@ApiTags('Access')
@Controller('login')
@Public()
@AnyQuery()
export class LoginController {
  constructor(private readonly logins: LoginService) {}

  @Get()
  @Operation('getLoginPage', 'Read the login page', 'For people; programs use a key.')
  @ApiNextQuery()
  @ApiProduces('text/html')
  @ApiAnswer({
    status: 200,
    description: 'A form; it says who is logged in already.',
    contentType: 'text/html',
  })
  page(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): string {
    void reply.type('text/html; charset=utf-8');
    return loginPage({ next: nextOf(request), principal: request.caller?.name });
  }

  @Post()
  @HttpCode(200)
  @Consumes('json-or-form')
  @RefusesOtherSites()
  @Limited('login')
  @UseFilters(LoginPageFilter)
  @Operation(
    'logIn',
    'Log in',
    'A program sends JSON and gets the session as a cookie; a form is led on to `next`. Failed attempts are limited, and an unknown name takes as long as a wrong password.',
  )
  @ApiNextQuery()
  @ApiJsonOrForm(CredentialsDto)
  @ApiAnswer({
    status: 200,
    description:
      'To JSON: the session has begun; its cookie is its_session, over https __Host-its_session.',
    type: StartedSessionDto,
    headers: BEGUN_SESSION,
  })
  @ApiSeeOther(
    'To a form: go on at `next`, or change the password that the first start made up.',
    BEGUN_SESSION,
  )
  @ApiErrorPages()
  @ApiErrors(
    'invalid_credentials',
    'forbidden',
    'payload_too_large',
    'unsupported_media_type',
    'validation_error',
    'rate_limited',
    'service_unavailable',
  )
  @ApiErrorMeanings({
    forbidden: 'The request comes from another site.',
    rate_limited: LOGIN_LIMIT,
  })
  async logIn(
    @Body() body: CredentialsDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StartedSessionDto | undefined> {
    const userAgent = request.headers['user-agent'];
    const formerToken = sessionTokenOf(request);
    const { token, name, role, expiresAt, passwordMadeUp } = await this.logins.logIn({
      username: body.username,
      password: body.password,
      address: request.ip,
      userAgent,
      formerToken,
    });
    setSessionCookie(request, reply, token);
    if (isForm(request)) {
      const next = nextOf(request);
      const offer = `/login/password?next=${encodeURIComponent(next)}`;
      void reply.redirect(passwordMadeUp ? offer : next, 303);
      return undefined;
    }
    const principal = PrincipalDto.from({ name, kind: 'user', role });
    return { principal, expires_at: expiresAt.toISOString() };
  }
}

@ApiTags('Access')
@Controller('logout')
@Public()
@AnyQuery()
export class LogoutController {
  constructor(private readonly sessions: SessionsService) {}

  @Post()
  @HttpCode(200)
  @Consumes('json-or-form')
  @RefusesOtherSites()
  @Limited('logout')
  @Operation('logOut', 'End the session', 'Without a session it answers the same.')
  @ApiAnswer({
    status: 200,
    description: 'To a program: the session has ended.',
    type: EndedSessionDto,
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
  ): Promise<EndedSessionDto | undefined> {
    const token = sessionTokenOf(request);
    if (token !== undefined) await this.sessions.end(token, request.ip);
    clearSessionCookie(request, reply);
    if (!isForm(request)) return { logged_out: true };
    void reply.redirect('/login', 303);
    return undefined;
  }
}
