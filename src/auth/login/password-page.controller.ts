import { Body, Controller, Get, HttpCode, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '../../platform/access/access.js';
import { AnyQuery, Consumes } from '../../platform/http/handler-options.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrorPages,
  ApiErrors,
  Operation,
} from '../../platform/openapi/answers.js';
import { Limited } from '../../platform/limits/limited.js';
import { UnauthorizedError } from '../auth.errors.js';
import { MadeUpPassword } from '../bootstrap/made-up-password.js';
import { RequiresThisSite } from '../guards/same-origin.guard.js';
import { PrincipalDto } from '../me/me.dto.js';
import { OwnPasswordService } from '../me/own-password.service.js';
import type { Principal } from '../principal.js';
import { isForm } from './form-page.js';
import { PasswordFormDto } from './login.dto.js';
import { ApiJsonOrForm, ApiNextQuery, ApiSeeOther } from './login.openapi.js';
import { nextOf } from './next-path.js';
import { passwordPage, PasswordPageFilter } from './password-page.js';

/** The same as PUT /api/me/password, for a person in a browser. */
@ApiTags('Access')
@Controller('login/password')
@Public()
@AnyQuery()
export class PasswordPageController {
  constructor(
    private readonly ownPassword: OwnPasswordService,
    private readonly madeUpPassword: MadeUpPassword,
  ) {}

  @Get()
  @Operation(
    'getPasswordPage',
    'Read the page that changes the own password',
    "A form's login leads here while the password that the first start made up is in use.",
  )
  @ApiNextQuery()
  @ApiProduces('text/html')
  @ApiAnswer({
    status: 200,
    description: 'A form, with a link that goes on without a change.',
    contentType: 'text/html',
  })
  @ApiSeeOther('Without a session: log in first.')
  @ApiErrors('service_unavailable')
  async page(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | undefined> {
    const caller = request.caller as Principal | undefined;
    if (!caller) {
      void reply.redirect('/login?next=/login/password', 303);
      return undefined;
    }
    void reply.type('text/html; charset=utf-8');
    const madeUp = await this.madeUpPassword.isStillUsedBy(caller.name);
    return passwordPage({ next: nextOf(request), principal: caller.name, madeUp });
  }

  @Post()
  @HttpCode(200)
  @Consumes('json-or-form')
  @Limited('write')
  @RequiresThisSite()
  @UseFilters(PasswordPageFilter)
  @Operation(
    'changePasswordByForm',
    'Change the own password by a form',
    "Ends the caller's other sessions; the present one goes on.",
  )
  @ApiNextQuery()
  @ApiJsonOrForm(PasswordFormDto)
  @ApiAnswer({ status: 200, description: 'To JSON: the new password holds.', type: PrincipalDto })
  @ApiSeeOther('To a form: go on at `next`.')
  @ApiErrorPages()
  @ApiErrors(
    'unauthorized',
    'invalid_credentials',
    'forbidden',
    'payload_too_large',
    'unsupported_media_type',
    'validation_error',
    'weak_password',
    'rate_limited',
    'service_unavailable',
  )
  @ApiErrorMeanings({ forbidden: 'The request does not come from this site, or does not say so.' })
  async change(
    @Body() body: PasswordFormDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PrincipalDto | undefined> {
    const caller = request.caller as Principal | undefined;
    if (!caller) throw new UnauthorizedError('The session has ended: log in again.');
    await this.ownPassword.change(caller, body, request.ip);
    if (!isForm(request)) return PrincipalDto.from(caller);
    void reply.redirect(nextOf(request), 303);
    return undefined;
  }
}
