import { FastifyAdapter, RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { PagedAnswer } from '../paging/page.js';
import { JSON_UTF8 } from './answer.js';
import './request.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    rawAnswer?: boolean;
  }
}

/** Answers with the object that the handler returns, without the envelope. */
export const RawAnswer = (): MethodDecorator => RouteConfig({ rawAnswer: true });

type Send = FastifyAdapter['reply'];

/**
 * Puts an object that a handler returns into `{data}`, and a page into `{data, meta}`; text goes out as it is. Elsewhere
 * interceptors do this, which cost a read a quarter of its processor time: docs/adr/0016.
 */
export class AnsweringAdapter extends FastifyAdapter {
  override reply(...[response, returned, status]: Parameters<Send>): ReturnType<Send> {
    const reply = response as FastifyReply;
    noteId(reply, returned);
    const answer = answerOf(reply, returned);
    const settle = reply.request?.completeAnswer;
    if (!settle) return super.reply(response, answer, status);
    // A handler that writes its JSON itself returns text.
    const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
    const settled = settle({ status: status ?? reply.statusCode, body });
    // Nest waits for what it is given here, and treats a failure like one of the handler.
    return settled.then((final) =>
      reply.status(final.status).type(JSON_UTF8).send(final.body),
    ) as unknown as ReturnType<Send>;
  }
}

function answerOf(reply: FastifyReply, returned: unknown): unknown {
  const isObject = typeof returned === 'object' && returned !== null && !Buffer.isBuffer(returned);
  if (!isObject || returned instanceof PagedAnswer || reply.routeOptions.config.rawAnswer) {
    return returned;
  }
  return { data: returned };
}

/** For the log: what a creation made has no id in its address yet. */
function noteId({ request }: FastifyReply, returned: unknown): void {
  const id = (returned as { readonly id?: unknown } | null | undefined)?.id;
  if (request && typeof id === 'string') request.answeredId = id;
}
