import { Injectable } from '@nestjs/common';
import {
  Agent as HttpAgent,
  type ClientRequest,
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

/** Timeout for name lookup, TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 1_048_576;
/** Maximum time to receive a response that nobody reads, so that its connection can be reused. */
const DROPPED_MS = 1_000;

/** The idle timeout is below 5 s, after which many servers close an idle connection. */
const KEEPING = { keepAlive: true, timeout: 4_000 };
/** Own agents, because environment variables can make the global agents of Node use a proxy. */
const HTTP = { send: requestPlain, once: new HttpAgent(), keeping: new HttpAgent(KEEPING) };
const HTTPS = { send: requestTls, once: new HttpsAgent(), keeping: new HttpsAgent(KEEPING) };

/** Sends all outgoing requests: no redirects, no proxies of the environment, and only verified certificates. */
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
    const answer = await attempt(request, lookup, deadline);
    return (
      answer ?? (await attempt({ ...request, reusesConnection: undefined }, lookup, deadline))!
    );
  }
}

/** Omits the path and the query, because the path is a secret for some receivers. */
function workOf({ method, url: { hostname, port, protocol } }: OutboundRequest): Work {
  return {
    name: `${method} ${hostname}`,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    },
  };
}

function refuseOtherUrls(url: URL): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TargetRefusedError('The URL must be http or https.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefusedError('The URL must not have a user name or password.');
  }
}

/** Returns `undefined` if the server had closed the reused connection and did not respond. */
async function attempt(
  request: OutboundRequest,
  lookup: LookupFunction,
  deadline: number,
): Promise<OutboundAnswer | undefined> {
  const { signal, reusesConnection } = request;
  const outgoing = open(request, lookup);
  const response = Promise.withResolvers<IncomingMessage>();
  const failure = Promise.withResolvers<undefined>();
  /** True if bytes of the request may have been sent. */
  let sent = false;
  let isAnswered = false;
  let isOver = false;

  const fail = (reason: 'timeout' | 'broken', message: string, cause?: unknown): void => {
    if (isOver) return;
    isOver = true;
    const isStale = outgoing.reusedSocket && reason === 'broken' && !isAnswered;
    if (isStale) failure.resolve(undefined);
    else if (sent) failure.reject(new OutcomeUnknownError(message, reason, { cause }));
    else if (cause instanceof UnreachableError) failure.reject(cause);
    else failure.reject(new UnreachableError(message, { cause }));
    outgoing.destroy();
  };
  const exchange = async (): Promise<OutboundAnswer | undefined> => {
    await connectionOf(outgoing);
    await request.beforeLeaving?.();
    // The request was aborted during `beforeLeaving`, so nothing may be sent.
    if (isOver) return await failure.promise;
    sent = true;
    outgoing.end(request.body);
    const incoming = await response.promise;
    const body = await bodyOf(incoming, request);
    return new OutboundAnswer(incoming.statusCode ?? 0, incoming.headers, body);
  };

  outgoing.on('response', (incoming) => {
    isAnswered = sent;
    if (sent) response.resolve(incoming);
    else fail('broken', 'The server responded before the request.');
  });
  outgoing.on('error', (cause) => fail('broken', messageOf(cause), cause));
  // Once a response has begun, bodyOf reports whether the response is complete.
  outgoing.on('close', () => isAnswered || fail('broken', 'The connection ended.'));
  const left = Math.max(0, deadline - performance.now());
  const connecting = setTimeout(
    () => sent || fail('timeout', 'The connection was not established in time.'),
    Math.min(CONNECT_TIMEOUT_MS, left),
  );
  const waiting = setTimeout(() => fail('timeout', 'No complete response came in time.'), left);
  const abort = (): void => fail('timeout', 'The request was aborted.');
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  let isKept: boolean | undefined;
  try {
    const answer = await Promise.race([exchange(), failure.promise]);
    isKept = answer && reusesConnection && outgoing.writableFinished;
    return answer;
  } finally {
    isOver = true;
    clearTimeout(connecting);
    clearTimeout(waiting);
    signal?.removeEventListener('abort', abort);
    if (!isKept) outgoing.destroy();
  }
}

/** Waits until TLS is verified. Before `end`, Node sends nothing, not even headers. */
function connectionOf(outgoing: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    outgoing.once('socket', (socket) => {
      const connected = outgoing.protocol === 'https:' ? 'secureConnect' : 'connect';
      if (outgoing.reusedSocket) resolve();
      else socket.once(connected, () => resolve());
    });
  });
}

const NOTHING = Buffer.alloc(0);
const tooLong = () => new OutcomeUnknownError('The response is too long.', 'broken');

async function bodyOf(
  incoming: IncomingMessage,
  { withoutBody, maxAnswerBytes = MAX_ANSWER_BYTES }: OutboundRequest,
): Promise<Buffer> {
  if (withoutBody) {
    incoming.on('error', () => undefined).resume();
    setTimeout(() => incoming.destroy(), DROPPED_MS).unref();
    return NOTHING;
  }
  const body = new GrowingBuffer(maxAnswerBytes, () => true);
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      if (body.length + chunk.length > maxAnswerBytes) throw tooLong();
      body.append(chunk);
    }
  } catch (cause) {
    if (cause instanceof OutcomeUnknownError) throw cause;
    throw new OutcomeUnknownError(messageOf(cause), 'broken', { cause });
  }
  // The request asks for an uncompressed response, because a few compressed bytes could become gigabytes.
  return /^(identity)?$/i.test(incoming.headers['content-encoding'] ?? '') ? body.content : NOTHING;
}

function open(request: OutboundRequest, lookup: LookupFunction): ClientRequest {
  const { url, method, body, reusesConnection } = request;
  const headers = {
    'accept-encoding': 'identity',
    'user-agent': 'incident-triage-service',
    ...request.headers,
    'content-length': body === undefined ? undefined : String(Buffer.byteLength(body)),
  };
  const { send, once, keeping } = url.protocol === 'https:' ? HTTPS : HTTP;
  const options = {
    method,
    // Omits undefined headers, because Node would throw.
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
    agent: reusesConnection ? keeping : once,
    lookup,
    // Certificates are verified regardless of NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
  };
  try {
    return send(url, options);
  } catch (cause) {
    const message = 'The request has characters that HTTP does not allow.';
    throw new UnreachableError(message, { temporary: false, cause });
  }
}
