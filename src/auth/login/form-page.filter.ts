import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '../../platform/errors/app-error.js';
import { toAppError } from '../../platform/errors/to-app-error.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';
import { isForm } from './form-request.js';

/** Tells a person who filled in a form what went wrong, in the form; programs get what they get everywhere. */
export abstract class FormPageFilter implements ExceptionFilter {
  private readonly errors = new ErrorFilter();

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const error = toAppError(thrown);
    const page = isForm(request) && error.status !== 500 ? this.page(request, error) : undefined;
    if (page === undefined) {
      this.errors.catch(thrown, host);
      return;
    }
    void http
      .getResponse<FastifyReply>()
      .status(error.status)
      .headers({ ...error.extras.headers })
      .type('text/html; charset=utf-8')
      .send(page);
  }

  protected abstract page(request: FastifyRequest, error: AppError): string;
}
