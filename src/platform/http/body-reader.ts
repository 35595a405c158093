import type { FastifyInstance } from 'fastify';
import { ArrivingBody } from './arriving-body.js';
import type { BodyMemory } from './body-memory.js';
import './request.js';

/** Enough for Fastify to hand the body over; the guard refuses what it is not for. */
const ANY_TYPE = 'application/octet-stream';
const WELL_FORMED_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:\s*;.*)?$/;
const INVITATION = /^100-continue$/i;

/**
 * Leaves every body on its way in: whether the caller may come in at all is decided first, and only then is the body read
 * (see BodyGuard). What has not been read when the answer goes out is thrown away.
 */
export function installBodyReader(instance: FastifyInstance, memory: BodyMemory): void {
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('*', (_request, _payload, done) => done(null));
  instance.addHook('onRequest', (request, reply, done) => {
    const { headers } = request;
    const type = headers['content-type'];
    // Fastify would refuse it before anybody has asked who the caller is.
    const isRefused =
      type === undefined ? request.method === 'QUERY' : !WELL_FORMED_TYPE.test(type);
    if (isRefused) headers['content-type'] = ANY_TYPE;
    if (Number(headers['content-length']) > 0 || headers['transfer-encoding'] !== undefined) {
      const isToBeInvited = INVITATION.test(headers.expect ?? '');
      const invite = isToBeInvited ? () => reply.raw.writeContinue() : undefined;
      const body = new ArrivingBody(request.raw, memory, invite);
      request.arriving = body;
      reply.raw.once('close', () => body.release());
    }
    done();
  });
  // Without a listener Node would invite every body at once.
  instance.server.on('checkContinue', (...exchange) =>
    instance.server.emit('request', ...exchange),
  );
  instance.addHook('onSend', (request, reply, payload, done) => {
    if (!request.arriving) return done(null, payload);
    request.arriving.discard((isAll) => {
      // What is left of the body must not be taken for the next request.
      if (!isAll) reply.header('connection', 'close');
      done(null, payload);
    });
  });
}
