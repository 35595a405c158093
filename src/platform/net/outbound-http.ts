import { Injectable } from '@nestjs/common';
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestPlain,
} from 'node:http';
import { Agent as HttpsAgent, request as requestTls } from 'node:https';
import type { LookupFunction } from 'node:net';
import { GrowingBuffer } from '../growing-buffer.js';
import { traced, type Work } from '../tracing/tracing.js';
import {
  messageOf,
  OutcomeUnknownError,
  TargetRefusedError,
  UnreachableError,
} from './net.errors.js';
import { OutboundAnswer, type OutboundRequest } from './outbound-request.js';
import { Targets } from './targets.js';

/** Timeout for name look-up, TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 1_048_576;
/** Maximum time to receive an unread response, so that its connection can be reused. */
const DROPPED_MS = 1_000;

/** Below 5 s, after which many servers close an idle connection. */
const KEEPING = { keepAlive: true, timeout: 4_000 };
/** Own agents, because environment variables can make the global agents of Node use a proxy. */
const AGENTS = {
  'http:': { once: new HttpAgent(), keeping: new HttpAgent(KEEPING) },
  'https:': { once: new HttpsAgent(), keeping: new HttpsAgent(KEEPING) },
};

/**
 * Sends all outgoing HTTP requests: no redirects, no proxies of the environment, verified certificates.
 * UnreachableError: nothing was sent. OutcomeUnknownError: something was sent, without a complete response.
 */
@Injectable()
export class OutboundHttp {
  constructor(private readonly targets: Targets) {}

  async request(request: OutboundRequest): Promise<OutboundAnswer> {
    return await traced(
      () => workOf(request),
      async (span) => {
        const traceparent = request.handsOnTrace ? span?.traceparent : undefined;
        const answer = await this.send({
          ...request,
          headers: { traceparent, ...request.headers },
        });
        span?.note({ 'http.response.status_code': answer.status });
        return answer;
      },
    );
  }

  private async send(request: OutboundRequest): Promise<OutboundAnswer> {
    const { url, operatorsTarget, timeoutMs = TIMEOUT_MS } = request;
    refuseOtherUrls(url);
    const lookup = this.targets.lookupFor(url.hostname, operatorsTarget);
    const deadline = performance.now() + timeoutMs;
    try {
      return await attempt(request, lookup, deadline);
    } catch (error) {
      if (!(error instanceof StaleConnectionError)) throw error;
      return await attempt({ ...request, reusesConnection: undefined }, lookup, deadline);
    }
  }
}

/** The server had closed the kept connection, and did not respond. */
class StaleConnectionError extends Error {}

/** Omits path and query, because some receivers have a secret path. */
function workOf({ method, url }: OutboundRequest): Work {
  return {
    name: `${method} ${url.hostname}`,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'server.address': url.hostname,
      'server.port': portOf(url),
    },
  };
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function refuseOtherUrls(url: URL): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TargetRefusedError('The URL must be http or https.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefusedError('The URL must not have a user name or password.');
  }
}

async function attempt(
  request: OutboundRequest,
  lookup: LookupFunction,
  deadline: number,
): Promise<OutboundAnswer> {
  const { url, signal, maxAnswerBytes = MAX_ANSWER_BYTES } = request;
  const outgoing = open(request, lookup);
  const outcome = Promise.withResolvers<OutboundAnswer>();
  /** True if bytes of the request may have been sent. */
  let sent = false;
  let isAnswered = false;
  /** True if the response no longer needs the connection. */
  let isComplete = false;
  /** True if the outcome is known. Avoids later errors, because each error costs a stack trace. */
  let ended = false;

  const fail = (reason: 'timeout' | 'broken', message: string, cause?: unknown): void => {
    if (ended) return;
    ended = true;
    const isStale = outgoing.reusedSocket && reason === 'broken' && !isAnswered;
    if (isStale) outcome.reject(new StaleConnectionError(message, { cause }));
    else if (sent) outcome.reject(new OutcomeUnknownError(message, reason, { cause }));
    else if (cause instanceof UnreachableError) outcome.reject(cause);
    else outcome.reject(new UnreachableError(message, { cause }));
    outgoing.destroy();
  };
  const complete = (status: number | undefined, headers: IncomingHttpHeaders, body: Buffer) => {
    isComplete = true;
    ended = true;
    outcome.resolve(new OutboundAnswer(status ?? 0, headers, body));
  };
  const leave = async (): Promise<void> => {
    try {
      await request.beforeLeaving?.();
    } catch (error) {
      ended = true;
      outcome.reject(error);
      return;
    }
    // The request was aborted during `beforeLeaving`, so nothing may be sent.
    if (outgoing.destroyed) return;
    sent = true;
    outgoing.end(request.body);
  };
  const receive = (incoming: IncomingMessage): void => {
    if (!sent) return fail('broken', 'The server responded before the request.');
    isAnswered = true;
    const { statusCode, headers } = incoming;
    if (request.withoutBody) {
      // Ignores later data and errors.
      incoming.on('error', () => undefined).resume();
      setTimeout(() => incoming.destroy(), DROPPED_MS).unref();
      return complete(statusCode, headers, Buffer.alloc(0));
    }
    const tooLong = (): void => fail('broken', 'The response is too long.');
    const body = new GrowingBuffer(maxAnswerBytes, () => true);
    // The request accepts no compression. A few compressed bytes could become gigabytes, so they are not unpacked.
    const isPlain = /^(identity)?$/i.test(headers['content-encoding'] ?? '');
    let size = 0;
    if (Number(headers['content-length'] ?? 0) > maxAnswerBytes) tooLong();
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxAnswerBytes) tooLong();
      else if (isPlain && !outgoing.destroyed) body.append(chunk);
    });
    incoming.on('error', (cause) => fail('broken', messageOf(cause), cause));
    incoming.on('end', () => complete(statusCode, headers, body.content));
  };

  // Waits until the connection is open and TLS is verified. Node sends nothing before `end`, not even headers.
  const connected = url.protocol === 'https:' ? 'secureConnect' : 'connect';
  outgoing.on('socket', (socket) => {
    if (outgoing.reusedSocket) void leave();
    else socket.once(connected, () => void leave());
  });
  outgoing.on('response', receive);
  outgoing.on('error', (cause) => fail('broken', messageOf(cause), cause));
  outgoing.on('close', () => fail('broken', 'The connection ended.'));
  const left = Math.max(0, deadline - performance.now());
  const connecting = setTimeout(
    () => {
      if (!sent) fail('timeout', 'The connection was not established in time.');
    },
    Math.min(CONNECT_TIMEOUT_MS, left),
  );
  const waiting = setTimeout(() => fail('timeout', 'No complete response came in time.'), left);
  const abort = (): void => fail('timeout', 'The request was aborted.');
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await outcome.promise;
  } finally {
    clearTimeout(connecting);
    clearTimeout(waiting);
    signal?.removeEventListener('abort', abort);
    const isKept = request.reusesConnection && isComplete && outgoing.writableFinished;
    if (!isKept) outgoing.destroy();
  }
}

function open(request: OutboundRequest, lookup: LookupFunction): ClientRequest {
  const { url, method, body, reusesConnection } = request;
  const secure = url.protocol === 'https:';
  const headers = {
    'accept-encoding': 'identity',
    'user-agent': 'incident-triage-service',
    ...request.headers,
    'content-length': body === undefined ? undefined : String(Buffer.byteLength(body)),
  };
  const agents = AGENTS[secure ? 'https:' : 'http:'];
  const options = {
    method,
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    // Node throws if the value of a header is undefined.
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
    agent: reusesConnection ? agents.keeping : agents.once,
    lookup,
    // Certificates are verified regardless of NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
  };
  try {
    return (secure ? requestTls : requestPlain)(options);
  } catch (cause) {
    const message = 'The request has characters that HTTP does not allow.';
    throw new UnreachableError(message, { temporary: false, cause });
  }
}
