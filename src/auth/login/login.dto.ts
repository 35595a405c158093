import { IsString, MaxLength, MinLength } from 'class-validator';
import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiQuery, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { AlwaysTrue, Field, Instant, Nested, Text } from '../../platform/validation/fields.js';
import { PasswordChangeDto, LONGEST_GUESS, PrincipalDto } from '../me/me.dto.js';
import { STRANGERS_PER_MINUTE, FAILURES_PER_MINUTE } from '../../platform/limits/limits.js';

/** Name or password of a login attempt. A guess may be longer than a valid value. */
const Guess = (format?: 'password') =>
  Field(
    {},
    { type: 'string', format, minLength: 1, maxLength: LONGEST_GUESS },
    MaxLength(LONGEST_GUESS),
    MinLength(1),
    IsString(),
  );

const Next = () =>
  Text({
    optional: true,
    description:
      'Redirect target of a form: a path on this host. Any other value redirects to /docs.',
  });

export class CredentialsDto {
  @Guess()
  readonly username: string;

  @Guess('password')
  readonly password: string;

  @Next()
  readonly next?: string;
}

export class PasswordFormDto extends PasswordChangeDto {
  @Next()
  readonly next?: string;
}

export class StartedSessionDto {
  @Nested(() => PrincipalDto)
  readonly principal: PrincipalDto;

  @Instant({
    description: 'Latest end of the session. Eight hours without a request end it earlier.',
  })
  readonly expires_at: Date;
}

export class EndedSessionDto {
  @AlwaysTrue()
  readonly logged_out: true;
}

export const STRANGERS_LIMIT = `More than ${STRANGERS_PER_MINUTE} requests per minute from one address: see Retry-After.`;

export const LOGIN_LIMIT = `More than ${STRANGERS_PER_MINUTE} requests or more than ${FAILURES_PER_MINUTE.login} failed requests per minute from one address, or too many failed requests for one user name from addresses without an earlier login: see Retry-After.`;

export const ApiNextQuery = () =>
  ApiQuery({
    name: 'next',
    required: false,
    description: 'Path on this host to open after the login.',
    schema: { type: 'string' },
  });

/** The contract shows only JSON, because some generators do not support a body of two types. */
export const ApiJsonOrForm = (type: Type) =>
  applyDecorators(
    ApiExtraModels(type),
    ApiBody({
      required: true,
      description: 'JSON, or a browser form: `application/x-www-form-urlencoded`.',
      schema: { $ref: getSchemaPath(type) },
    }),
  );

const setCookie = (description: string, example: string) => ({
  'Set-Cookie': { description, schema: { type: 'string' as const, example } },
});

export const BEGUN_SESSION = setCookie(
  'The new session, as its_session, or __Host-its_session over https.',
  'its_session=…; HttpOnly; SameSite=Lax',
);
export const ENDED_SESSION = setCookie('Removes the session.', 'its_session=; Max-Age=0');

export const ApiSeeOther = (description: string, session?: ReturnType<typeof setCookie>) =>
  ApiResponse({
    status: 303,
    description,
    headers: {
      Location: { description: 'A path on this host.', required: true, schema: { type: 'string' } },
      ...session,
    },
  });
