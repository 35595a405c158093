import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '../errors/app-error.js';
import { toAppError } from '../errors/to-app-error.js';
import { AnswerInstead, errorBody, JSON_UTF8 } from './answer.js';
import { setRespondedAsync } from './prefer.js';

/** The only place where what was thrown becomes an answer. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (thrown instanceof AnswerInstead) return void sendInstead(thrown, reply);
    const error = toAppError(thrown);
    if (error.status >= 500) this.log(error, request);
    if (reply.sent) return;
    void reply
      .status(error.status)
      .headers({ ...error.extras.headers })
      .type(JSON_UTF8)
      .send(errorBody(error, request.id));
  }

  private log(error: AppError, request: FastifyRequest): void {
    const { cause, code, message } = error;
    const what = `${request.method} ${request.routeOptions.url ?? 'unknown route'} failed`;
    // The service's own decision, such as too many bodies at once: strangers may cause many of these.
    if (code === 'service_unavailable' && !cause) {
      return this.logger.warn({ request_id: request.id, code, reason: message }, what);
    }
    const err = cause instanceof Error ? cause : error;
    this.logger.error({ request_id: request.id, code, err }, what);
  }
}

function sendInstead({ answer, headers }: AnswerInstead, reply: FastifyReply): FastifyReply {
  setRespondedAsync(reply.status(answer.status));
  return reply.headers(headers).type(JSON_UTF8).send(answer.body);
}
