import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toAppError } from '../errors/app-error.js';
import { AnswerInstead, errorBody, JSON_UTF8 } from './answer.js';
import { setRespondedAsync } from './prefer.js';
import './request.js';

/** The only place where an exception becomes a response. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (thrown instanceof AnswerInstead) return void sendInstead(thrown, reply);
    const error = toAppError(thrown);
    request.failure = error;
    if (reply.sent) return;
    void reply
      .status(error.status)
      .headers({ ...error.extras.headers })
      .type(JSON_UTF8)
      .send(errorBody(error, request.id));
  }
}

function sendInstead({ answer, headers }: AnswerInstead, reply: FastifyReply): FastifyReply {
  setRespondedAsync(reply.status(answer.status));
  return reply.headers(headers).type(JSON_UTF8).send(answer.body);
}
