import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors/app-error.js';
import './request.js';

/**
 * Reads every body as bytes and judges nothing yet: whether the caller may come in at all is decided first, and only
 * then what is wrong with the body (see BodyGuard). A body over the limit is not kept.
 */
export function installBodyReader(instance: FastifyInstance, limit: number): void {
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('*', (request, payload, done) => {
    const announced = Number(request.headers['content-length']);
    if (announced > limit) {
      request.received = { bytes: Buffer.alloc(0), problem: tooLarge(limit) };
      done(null);
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (problem?: AppError): void => {
      payload.removeAllListeners('data');
      payload.removeAllListeners('end');
      request.received = problem
        ? { bytes: Buffer.alloc(0), problem }
        : { bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size) };
      done(null);
    };
    payload.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) finish(tooLarge(limit));
      else chunks.push(chunk);
    });
    payload.on('end', () => finish());
    payload.on('error', (error: Error) => done(error));
  });
}

function tooLarge(limit: number): AppError {
  return new AppError('payload_too_large', `The body is larger than ${limit} bytes.`, {
    // The rest of the body is never read, so the connection cannot be used again.
    headers: { connection: 'close' },
  });
}
