import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import type { Logger } from 'pino';
import { AppError, toAppError } from '../errors/app-error.js';
import { newId } from '../ids.js';
import { errorBody, JSON_UTF8 } from './answer.js';
import { API_HEADERS } from './security-headers.js';

/** What Fastify refuses before any route is known. */
export function answerFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const known = toAppError(error);
  request.failure = known;
  void reply
    .status(known.status)
    .headers({ ...API_HEADERS, 'x-request-id': request.id })
    .type(JSON_UTF8)
    .send(errorBody(known, request.id));
}

/**
 * Node would answer these two itself, without a body: a request of HTTP/1.1 that names no host is malformed, and an
 * expectation that nobody knows may be ignored.
 */
export function answerWhatNodeWould(instance: FastifyInstance): void {
  instance.addHook('onRequest', (request, _reply, done) => {
    const { httpVersion, headers } = request.raw;
    const isNameless = headers.host === undefined && httpVersion === '1.1';
    if (!isNameless) return done();
    const headersOfAnswer = { connection: 'close' };
    done(new AppError('bad_request', 'The Host header is missing.', { headers: headersOfAnswer }));
  });
  instance.server.on('checkExpectation', (...exchange) =>
    instance.server.emit('request', ...exchange),
  );
}

const CLIENT_FAULTS: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The headers are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive.' },
};

/** What Node refuses before it is a request at all: answer and line of the log are written by hand, without what was sent. */
export function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  logger: Logger,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const fault = CLIENT_FAULTS[error.code ?? ''] ?? {
    status: 400,
    message: 'The request is malformed.',
  };
  const requestId = newId();
  const body = JSON.stringify(errorBody(new AppError('bad_request', fault.message), requestId));
  const headers = {
    ...API_HEADERS,
    'x-request-id': requestId,
    'content-type': JSON_UTF8,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  logger.info(
    {
      request_id: requestId,
      route: 'unknown',
      status: fault.status,
      code: 'bad_request',
      reason: error.code,
      address: socket.remoteAddress,
    },
    'request',
  );
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(
    `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
  );
}
