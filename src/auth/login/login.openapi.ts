import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiQuery, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { FAILURES_PER_MINUTE } from '../../platform/limits/failure-limits.js';
import { STRANGERS_PER_MINUTE } from '../../platform/limits/limited.js';

export const STRANGERS_LIMIT = `More than ${STRANGERS_PER_MINUTE} of these requests in a minute from one address: see Retry-After.`;

export const LOGIN_LIMIT = `More than ${STRANGERS_PER_MINUTE} of these requests, or more than ${FAILURES_PER_MINUTE.login} that failed, in a minute from one address, or too many that failed for one user name from addresses that it never logged in from: see Retry-After.`;

export const ApiNextQuery = () =>
  ApiQuery({
    name: 'next',
    required: false,
    description: 'A path on this host, for after the login.',
    schema: { type: 'string' },
  });

/** The contract shows the JSON alone: what sends a form is a browser, and some generators take no body of two kinds. */
export const ApiJsonOrForm = (type: Type) =>
  applyDecorators(
    ApiExtraModels(type),
    ApiBody({
      required: true,
      description: 'As JSON, or as a form of a browser: `application/x-www-form-urlencoded`.',
      schema: { $ref: getSchemaPath(type) },
    }),
  );

const setCookie = (description: string, example: string) => ({
  'Set-Cookie': { description, schema: { type: 'string' as const, example } },
});

export const BEGUN_SESSION = setCookie(
  'The session that has begun, as its_session; over https as __Host-its_session.',
  'its_session=…; HttpOnly; SameSite=Lax',
);
export const ENDED_SESSION = setCookie('Takes the session away.', 'its_session=; Max-Age=0');

/** The browser that sent a form is led to another page: the answer has no body. */
export const ApiSeeOther = (description: string, session?: ReturnType<typeof setCookie>) =>
  ApiResponse({
    status: 303,
    description,
    headers: {
      Location: { description: 'A path on this host.', required: true, schema: { type: 'string' } },
      ...session,
    },
  });
