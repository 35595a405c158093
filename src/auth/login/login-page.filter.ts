import { Catch } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AppError } from '../../platform/errors/app-error.js';
import { FormPageFilter } from './form-page.filter.js';
import { field, nextOf } from './form-request.js';
import { loginPage } from './login-page.js';
import { safeNext } from './next-path.js';

@Catch()
export class LoginPageFilter extends FormPageFilter {
  protected page(request: FastifyRequest, error: AppError): string {
    const username = field(request.body, 'username');
    return loginPage({
      next: safeNext(nextOf(request)),
      error: wordsFor(error),
      username,
    });
  }
}

function wordsFor(error: AppError): string {
  return error.code === 'validation_error' ? 'Enter a user name and a password.' : error.message;
}
