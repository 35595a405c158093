import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';
import { toAppError } from '../../common/errors/to-app-error.js';
import { ErrorFilter } from '../../common/http/error.filter.js';
import { field, isForm, nextOf } from './form-request.js';
import { loginPage } from './login-page.js';
import { safeNext } from './next-path.js';

/** Tells a person who filled in the form what went wrong, in the form; programs get what they get everywhere. */
@Catch()
export class LoginPageFilter implements ExceptionFilter {
  private readonly errors = new ErrorFilter();

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const error = toAppError(thrown);
    if (!isForm(request) || error.status === 500) {
      this.errors.catch(thrown, host);
      return;
    }
    const username = field(request.body, 'username');
    void http
      .getResponse<FastifyReply>()
      .status(error.status)
      .headers({ ...error.extras.headers })
      .type('text/html; charset=utf-8')
      .send(
        loginPage({
          next: safeNext(nextOf(request)),
          error: wordsFor(error),
          ...(username !== undefined && { username }),
        }),
      );
  }
}

function wordsFor(error: AppError): string {
  return error.code === 'validation_error' ? 'Enter a user name and a password.' : error.message;
}
