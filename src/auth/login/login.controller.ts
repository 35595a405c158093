import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Post,
  Req,
  Res,
  UseFilters,
} from '@nestjs/common';
import {
  ApiBody,
  ApiQuery,
  ApiResponse,
  ApiTags,
  IntersectionType,
  PickType,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Page } from '../../platform/access/access.js';
import { AnyQuery, Consumes } from '../../platform/http/handler-options.js';
import { FAILURES, Limited, STRANGERS_PER_MINUTE } from '../../platform/limits/limits.js';
import {
  ApiAnswer,
  ApiErrorPages,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
} from '../../platform/openapi/answers.js';
import { AlwaysTrue, Instant, Nested, Text } from '../../platform/validation/fields.js';
import { originOf, setSessionCookie } from '../authentication.js';
import { LONGEST_GUESS, PasswordChangeDto, presentPrincipal, PrincipalDto } from '../auth.dto.js';
import { OtherSiteError, type Principal, UnauthorizedError } from '../principal.js';
import { SessionsService } from '../sessions.service.js';
import { AccountsService } from '../accounts.service.js';
import {
  FormPageFilter,
  isForm,
  loginErrorPage,
  loginPage,
  nextOf,
  passwordErrorPage,
  passwordPage,
} from './login-pages.js';

class CredentialsDto {
  @Text({ min: 1, max: LONGEST_GUESS })
  readonly username: string;

  @Text({ min: 1, max: LONGEST_GUESS, format: 'password' })
  readonly password: string;

  @Text({
    optional: true,
    description:
      'Redirect target of a form: a path on this host. Any other value redirects to /docs.',
  })
  readonly next?: string;
}

class PasswordFormDto extends IntersectionType(
  PasswordChangeDto,
  PickType(CredentialsDto, ['next']),
) {}

class StartedSessionDto {
  @Nested(() => PrincipalDto)
  readonly principal: PrincipalDto;

  @Instant({
    description: 'Latest end of the session. Eight hours without a request end it earlier.',
  })
  readonly expires_at: Date;
}

class EndedSessionDto {
  @AlwaysTrue()
  readonly logged_out: true;
}

const STRANGERS_LIMIT = `More than ${STRANGERS_PER_MINUTE} requests per minute from one address: see Retry-After.`;
const LOGIN_LIMIT = `More than ${STRANGERS_PER_MINUTE} requests or more than ${FAILURES.login.perMinute} failed requests per minute from one address, or too many failed requests for one user name from addresses without an earlier login: see Retry-After.`;

const ApiNextQuery = () =>
  ApiQuery({
    name: 'next',
    required: false,
    description: 'Path on this host to open after the login.',
    schema: { type: 'string' },
  });

/** The OpenAPI document contains only the JSON type, because some generators do not support a body of two types. */
const JSON_OR_FORM = 'JSON, or a browser form: `application/x-www-form-urlencoded`.';

const setCookie = (description: string, example: string) => ({
  'Set-Cookie': { description, schema: { type: 'string' as const, example } },
});

const BEGUN_SESSION = setCookie(
  'The new session, as its_session, or __Host-its_session over https.',
  'its_session=…; HttpOnly; SameSite=Lax',
);
const ENDED_SESSION = setCookie('Removes the session.', 'its_session=; Max-Age=0');

const ApiSeeOther = (description: string, session?: ReturnType<typeof setCookie>) =>
  ApiResponse({
    status: 303,
    description,
    headers: {
      Location: { description: 'A path on this host.', required: true, schema: { type: 'string' } },
      ...session,
    },
  });

const OTHER_SITE = 'The request comes from another site, or does not name its origin.';
const HTML = 'text/html; charset=utf-8';

const FORM_ERRORS = [
  'payload_too_large',
  'unsupported_media_type',
  'validation_error',
  'service_unavailable',
] as const;

const seeOther = (reply: FastifyReply, path: string): undefined => void reply.redirect(path, 303);

@ApiTags('Access')
@Controller()
@Page()
@AnyQuery()
export class LoginController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly accounts: AccountsService,
  ) {}

  @Get('login')
  @Operation('getLoginPage', 'Read the login page', 'For people. Shows the current user.')
  @ApiNextQuery()
  @ApiAnswer(200, 'A form.', undefined, { contentType: 'text/html' })
  @Header('content-type', HTML)
  page(@Req() request: FastifyRequest): string {
    return loginPage({ next: nextOf(request), principal: request.caller?.name });
  }

  @Post('login')
  @HttpCode(200)
  @Consumes('json-or-form')
  @Limited('login')
  @UseFilters(new FormPageFilter(loginErrorPage))
  @Operation(
    'logIn',
    'Log in',
    'A program sends JSON and gets the session as a cookie; a form is redirected to `next`. Failed attempts are limited. An unknown name takes as long as a wrong password.',
  )
  @ApiNextQuery()
  @ApiBody({ type: CredentialsDto, description: JSON_OR_FORM })
  @ApiAnswer(200, 'For JSON: the session has started.', StartedSessionDto, {
    headers: BEGUN_SESSION,
  })
  @ApiSeeOther(
    'For a form: redirect to `next`, or to the password page while the generated password of the first start is in use.',
    BEGUN_SESSION,
  )
  @ApiErrorPages()
  @ApiErrors('invalid_credentials', ...FORM_ERRORS)
  @ApiErrorMeanings({ forbidden: OTHER_SITE, rate_limited: LOGIN_LIMIT })
  async logIn(
    @Body() body: CredentialsDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StartedSessionDto | undefined> {
    const session = await this.sessions.logIn(body.username, body.password, {
      address: request.ip,
      userAgent: request.headers['user-agent'],
      formerSession: request.caller?.sessionId,
    });
    const { name, role, expires_at } = session;
    setSessionCookie(request, reply, session.token);
    if (!isForm(request)) {
      return { principal: presentPrincipal({ name, kind: 'user', role }), expires_at };
    }
    const next = nextOf(request);
    const offer = `/login/password?next=${encodeURIComponent(next)}`;
    return seeOther(reply, session.passwordMadeUp ? offer : next);
  }

  @Post('logout')
  @HttpCode(200)
  @Consumes('json-or-form')
  @Limited('logout')
  @Operation('logOut', 'End the session', 'The response is the same without a session.')
  @ApiAnswer(200, 'For JSON: the session has ended.', EndedSessionDto, { headers: ENDED_SESSION })
  @ApiSeeOther('For a form: redirect to the login page.', ENDED_SESSION)
  @ApiErrors(...FORM_ERRORS)
  @ApiErrorMeanings({ forbidden: OTHER_SITE, rate_limited: STRANGERS_LIMIT })
  async logOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EndedSessionDto | undefined> {
    if (request.caller) await this.sessions.logOut(request.caller, request.ip);
    setSessionCookie(request, reply);
    return isForm(request) ? seeOther(reply, '/login') : { logged_out: true };
  }

  @Get('login/password')
  @Operation(
    'getPasswordPage',
    'Read the page to change your own password',
    'A login by form redirects here while the generated password of the first start is in use.',
  )
  @ApiNextQuery()
  @ApiAnswer(200, 'A form.', undefined, { contentType: 'text/html' })
  @ApiSeeOther('Without a session: log in first.')
  @ApiErrors('service_unavailable')
  @Header('content-type', HTML)
  async passwordPage(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | undefined> {
    const caller = request.caller as Principal | undefined;
    if (!caller) return seeOther(reply, '/login?next=/login/password');
    const { password_made_up: madeUp } = await this.accounts.getUser(caller.id);
    return passwordPage(caller.name, { next: nextOf(request), madeUp });
  }

  @Post('login/password')
  @HttpCode(200)
  @Consumes('json-or-form')
  @Limited('write')
  @UseFilters(new FormPageFilter(passwordErrorPage))
  @Operation('changePasswordByForm', 'Change your password by form', 'Ends your other sessions.')
  @ApiNextQuery()
  @ApiBody({ type: PasswordFormDto, description: JSON_OR_FORM })
  @ApiAnswer(200, 'For JSON: the new password is set.', PrincipalDto)
  @ApiSeeOther('For a form: redirect to `next`.')
  @ApiErrorPages()
  @ApiErrors('unauthorized', 'invalid_credentials', ...FORM_ERRORS, 'weak_password', 'rate_limited')
  @ApiErrorMeanings({ forbidden: OTHER_SITE })
  async changePassword(
    @Body() body: PasswordFormDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PrincipalDto | undefined> {
    const caller = request.caller as Principal | undefined;
    if (!caller) throw new UnauthorizedError('The session has ended: log in again.');
    if (originOf(request) !== 'same') throw new OtherSiteError();
    await this.sessions.changePassword(caller, body, request.ip);
    return isForm(request) ? seeOther(reply, nextOf(request)) : presentPrincipal(caller);
  }
}
