import { Injectable } from '@nestjs/common';
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
} from 'node:http';
import { Agent as HttpsAgent, request as requestTls } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
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
/** Maximum number of 1xx responses. Honest vendors send one or two. */
const MOST_INTERIM_ANSWERS = 16;
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
    const attempt = new Attempt(request, lookup, deadline);
    try {
      return await attempt.run();
    } catch (error) {
      if (!attempt.wasStale) throw error;
      return await new Attempt({ ...request, reusesConnection: undefined }, lookup, deadline).run();
    }
  }
}

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

class Attempt {
  private readonly outgoing: ClientRequest;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly outcome = Promise.withResolvers<OutboundAnswer>();
  /** True if bytes of the request may have been sent. */
  private sent = false;
  /** True if the outcome is known. Avoids later errors, because each error costs a stack trace. */
  private ended = false;
  private isAnswered = false;
  /** True if the response no longer needs the connection. */
  private isComplete = false;
  /** True if the server had closed the kept connection. */
  wasStale = false;

  constructor(
    private readonly request: OutboundRequest,
    lookup: LookupFunction,
    private readonly deadline: number,
  ) {
    try {
      this.outgoing = open(request, lookup);
    } catch (cause) {
      const message = 'The request has characters that HTTP does not allow.';
      throw new UnreachableError(message, { temporary: false, cause });
    }
  }

  async run(): Promise<OutboundAnswer> {
    const { signal, reusesConnection } = this.request;
    const abort = (): void => this.fail('timeout', 'The request was aborted.');
    this.outgoing.on('socket', (socket) => this.whenConnected(socket));
    this.outgoing.on('response', (incoming) => this.receive(incoming));
    let interim = 0;
    this.outgoing.on('information', () => {
      interim += 1;
      if (interim > MOST_INTERIM_ANSWERS) {
        this.fail('broken', 'The server sent only interim responses.');
      }
    });
    this.outgoing.on('error', (cause) => this.fail('broken', messageOf(cause), cause));
    this.outgoing.on('close', () => this.fail('broken', 'The connection ended.'));
    const left = this.deadline - performance.now();
    this.after(Math.min(CONNECT_TIMEOUT_MS, left), () => {
      if (!this.sent) this.fail('timeout', 'The connection was not established in time.');
    });
    this.after(left, () => this.fail('timeout', 'No complete response came in time.'));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    try {
      return await this.outcome.promise;
    } finally {
      for (const timer of this.timers) clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      const isKept = reusesConnection && this.isComplete && this.outgoing.writableFinished;
      if (!isKept) this.outgoing.destroy();
    }
  }

  /** Waits until the connection is open and TLS is verified. Node sends nothing before `end`, not even headers. */
  private whenConnected(socket: Socket): void {
    if (this.outgoing.reusedSocket) return void this.leave();
    const event = this.request.url.protocol === 'https:' ? 'secureConnect' : 'connect';
    socket.once(event, () => void this.leave());
  }

  private async leave(): Promise<void> {
    try {
      await this.request.beforeLeaving?.();
    } catch (error) {
      this.ended = true;
      this.outcome.reject(error);
      return;
    }
    // The request was aborted during `beforeLeaving`, so nothing may be sent.
    if (this.outgoing.destroyed) return;
    this.sent = true;
    this.outgoing.end(this.request.body);
  }

  private receive(incoming: IncomingMessage): void {
    if (!this.sent) return this.fail('broken', 'The server responded before the request.');
    this.isAnswered = true;
    const { statusCode = 0, headers } = incoming;
    const { maxAnswerBytes = MAX_ANSWER_BYTES, withoutBody, reusesConnection } = this.request;
    const end = (content: Buffer): void => {
      this.isComplete = true;
      this.ended = true;
      this.outcome.resolve(new OutboundAnswer(statusCode, headers, content));
    };
    if (withoutBody) {
      // Ignores later data and errors.
      incoming.on('error', () => undefined);
      if (reusesConnection) {
        incoming.resume();
        setTimeout(() => incoming.destroy(), DROPPED_MS).unref();
      }
      return end(Buffer.alloc(0));
    }
    const tooLong = (): void => this.fail('broken', 'The response is too long.');
    const body = new GrowingBuffer(maxAnswerBytes, () => true);
    // The request accepts no compression. A compressed body is not unpacked, because a few bytes could become
    // gigabytes.
    const isPlain = /^(identity)?$/i.test(headers['content-encoding'] ?? '');
    let size = 0;
    if (Number(headers['content-length'] ?? 0) > maxAnswerBytes) tooLong();
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxAnswerBytes) tooLong();
      else if (isPlain && !this.outgoing.destroyed) body.append(chunk);
    });
    incoming.on('error', (cause) => this.fail('broken', messageOf(cause), cause));
    incoming.on('end', () => end(body.content));
  }

  /** Only the first outcome counts: a later connection error does not undo a complete response. */
  private fail(reason: 'timeout' | 'broken', message: string, cause?: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.wasStale = this.outgoing.reusedSocket && reason === 'broken' && !this.isAnswered;
    if (this.sent) this.outcome.reject(new OutcomeUnknownError(message, reason, { cause }));
    else if (cause instanceof UnreachableError) this.outcome.reject(cause);
    else this.outcome.reject(new UnreachableError(message, { cause }));
    this.outgoing.destroy();
  }

  private after(ms: number, action: () => void): void {
    this.timers.push(setTimeout(action, Math.max(0, ms)));
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
  return (secure ? requestTls : requestPlain)({
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
  });
}
