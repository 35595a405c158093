import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors/app-error.js';
import './request.js';

/**
 * A client that is still sending when the connection closes may never read the answer, so the rest of a body over the
 * limit is taken and thrown away, as long as that is soon done.
 */
const DISCARD_BYTES = 8 * 1024 * 1024;
const DISCARD_MS = 1_000;

/** Enough for Fastify to hand the body over; the guard refuses what it is not for. */
const ANY_TYPE = 'application/octet-stream';
const WELL_FORMED_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:\s*;.*)?$/;

/**
 * Reads every body as bytes and judges nothing yet: whether the caller may come in at all is decided first, and only
 * then what is wrong with the body (see BodyGuard). A body over the limit is not kept.
 */
export function installBodyReader(instance: FastifyInstance, limit: number): void {
  instance.removeAllContentTypeParsers();
  instance.addHook('onRequest', (request, _reply, done) => {
    const type = request.headers['content-type'];
    // Fastify would refuse it before anybody has asked who the caller is.
    if (type !== undefined && !WELL_FORMED_TYPE.test(type)) {
      request.headers['content-type'] = ANY_TYPE;
    }
    done();
  });
  instance.server.on('checkContinue', (request, response) => {
    if (!(Number(request.headers['content-length']) > limit)) response.writeContinue();
    instance.server.emit('request', request, response);
  });
  instance.addContentTypeParser('*', (request, payload, done) => {
    const announced = Number(request.headers['content-length']);
    const mostDiscarded = limit + DISCARD_BYTES;
    let chunks: Buffer[] = [];
    let size = 0;
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const finish = (problem?: AppError): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      request.received = problem
        ? { bytes: Buffer.alloc(0), problem }
        : { bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size) };
      chunks = [];
      done(null);
    };
    const giveUp = (): void => finish(tooLarge(limit, { close: true }));
    const discardTheRest = (): void => {
      chunks = [];
      timer ??= setTimeout(giveUp, DISCARD_MS);
    };
    payload.on('data', (chunk: Buffer) => {
      if (isOver) return;
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else if (size > mostDiscarded) giveUp();
      else discardTheRest();
    });
    payload.on('end', () => finish(size > limit ? tooLarge(limit, { close: false }) : undefined));
    payload.on('error', () => finish(new AppError('bad_request', 'The body was cut short.')));
    // Whoever waits to be invited has sent nothing yet.
    const isInvited = request.headers.expect === undefined;
    if (announced > limit && (announced > mostDiscarded || !isInvited)) giveUp();
    else if (announced > limit) discardTheRest();
  });
  instance.addHook('onSend', (request, reply, payload, done) => {
    // Also when the answer is another one: what is left of the body must not be taken for the next request.
    if (request.received?.problem?.extras.headers?.['connection']) {
      reply.header('connection', 'close');
    }
    done(null, payload);
  });
}

/** When the rest of the body is never read, the connection cannot be used again. */
function tooLarge(limit: number, { close }: { close: boolean }): AppError {
  return new AppError('payload_too_large', `The body is larger than ${limit} bytes.`, {
    headers: close ? { connection: 'close' } : {},
  });
}
