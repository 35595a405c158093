import { Catch } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type AppError, ValidationError } from '../../platform/errors/app-error.js';
import { FormPageFilter } from './form-page.filter.js';
import { nextOf } from './form-request.js';
import { loginPage } from './login-page.js';
import { safeNext } from './next-path.js';
import { passwordPage } from './password-page.js';

/** Whoever is not logged in any more is asked to, and comes back. */
@Catch()
export class PasswordPageFilter extends FormPageFilter {
  protected page(request: FastifyRequest, error: AppError): string {
    const principal = request.caller?.name;
    if (principal === undefined)
      return loginPage({ next: '/login/password', error: error.message });
    const next = safeNext(nextOf(request));
    return passwordPage({ next, principal, madeUp: false, error: wordsFor(error) });
  }
}

function wordsFor(error: AppError): string {
  if (!(error instanceof ValidationError)) return error.message;
  return error.errors.map(({ message }) => message.replace(/^(\w+?)_password\b/, named)).join(' ');
}

/** As the labels of the form call it. */
function named(_: string, which: string): string {
  return `The ${which} password`;
}
