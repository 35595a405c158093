import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
} from 'node:http';
import { Agent as HttpsAgent, request as requestTls } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { AnswerMemory } from './answer-memory.js';
import { OutcomeUnknownError, UnreachableError } from './net.errors.js';
import { OutboundAnswer, type OutboundRequest } from './outbound-request.js';
import type { PinnedAddress } from './targets.js';

/** A request whose target was resolved and allowed, and whose limits are set. */
export interface PreparedRequest extends OutboundRequest {
  /** The connection goes to one of these and nowhere else. */
  readonly addresses: readonly PinnedAddress[];
  /** Until when the connection must be open, as performance.now() counts. */
  readonly connectBy: number;
  /** Until when the whole answer must be there. */
  readonly deadline: number;
  readonly maxAnswerBytes: number;
  /** All requests share it. */
  readonly answerMemory: AnswerMemory;
  readonly traceparent?: string;
}

/** Interim answers (status 1xx) that may come before the real one: honest vendors send one or two. */
const MOST_INTERIM_ANSWERS = 16;

/** Agents of our own, because the environment can make Node's global ones use a proxy. Each connection serves one request. */
const PLAIN = new HttpAgent({ keepAlive: false });
const TLS = new HttpsAgent({ keepAlive: false });

/** Sends one request over a new connection and reads its answer. */
export async function sendRequest(prepared: PreparedRequest): Promise<OutboundAnswer> {
  return await new RequestUnderWay(prepared).run();
}

class RequestUnderWay {
  private readonly outgoing: ClientRequest;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly outcome = Promise.withResolvers<OutboundAnswer>();
  /** Whether bytes of the request may have left. */
  private sent = false;
  private interimAnswers = 0;

  constructor(private readonly request: PreparedRequest) {
    try {
      this.outgoing = open(this.request);
    } catch (cause) {
      const message = 'The request has characters that HTTP cannot carry.';
      throw new UnreachableError(message, { temporary: false, cause });
    }
  }

  async run(): Promise<OutboundAnswer> {
    const { connectBy, deadline, signal } = this.request;
    const abort = (): void => this.fail('timeout', 'The request was given up.');
    this.outgoing.on('socket', (socket) => this.whenConnected(socket));
    this.outgoing.on('response', (incoming) => this.receive(incoming));
    this.outgoing.on('information', () => this.countInterim());
    this.outgoing.on('upgrade', () => this.fail('broken', 'The answer changes the protocol.'));
    this.outgoing.on('error', (cause) => this.fail('broken', messageOf(cause), cause));
    this.outgoing.on('close', () => this.fail('broken', 'The connection ended.'));
    this.after(connectBy, () => {
      if (!this.sent) this.fail('timeout', 'No connection could be made in time.');
    });
    this.after(deadline, () => this.fail('timeout', 'No whole answer came in time.'));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    try {
      return await this.outcome.promise;
    } finally {
      for (const timer of this.timers) clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.outgoing.destroy();
    }
  }

  /** The connection is open now, and TLS is verified. Node sends nothing, not even the headers, before `end` is called. */
  private whenConnected(socket: Socket): void {
    const event = this.request.url.protocol === 'https:' ? 'secureConnect' : 'connect';
    socket.once(event, () => void this.leave());
  }

  private async leave(): Promise<void> {
    try {
      await this.request.beforeLeaving?.();
    } catch (error) {
      this.outcome.reject(error);
      return;
    }
    // The request was given up while `beforeLeaving` ran: no byte may leave any more.
    if (this.outgoing.destroyed) return;
    this.sent = true;
    this.outgoing.end(this.request.body);
  }

  private countInterim(): void {
    this.interimAnswers += 1;
    if (this.interimAnswers > MOST_INTERIM_ANSWERS) this.fail('broken', 'The answer never begins.');
  }

  private receive(incoming: IncomingMessage): void {
    const { statusCode = 0, headers } = incoming;
    const { answerMemory, maxAnswerBytes, withoutBody = false } = this.request;
    if (withoutBody) {
      // Nobody reads it: what still comes, or goes wrong with it, changes nothing.
      incoming.on('error', () => undefined);
      return this.outcome.resolve(new OutboundAnswer(statusCode, headers, Buffer.alloc(0)));
    }
    const tooLong = (): void => this.fail('broken', 'The answer is too long.');
    const body = answerMemory.open(() => this.fail('broken', 'The answer is too long for now.'));
    // The request asks for no compression. What is compressed all the same is not unpacked: a few bytes could become gigabytes.
    const isPlain = /^(identity)?$/i.test(headers['content-encoding'] ?? '');
    let size = 0;
    if (Number(headers['content-length'] ?? 0) > maxAnswerBytes) tooLong();
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxAnswerBytes) tooLong();
      else if (isPlain && !this.outgoing.destroyed) body.append(chunk);
    });
    incoming.on('error', (cause) => this.fail('broken', messageOf(cause), cause));
    incoming.on('end', () =>
      this.outcome.resolve(new OutboundAnswer(statusCode, headers, body.content)),
    );
    incoming.on('close', () => answerMemory.close(body));
  }

  /** Only the first outcome counts: an answer that came whole is not undone by what happens to the connection later. */
  private fail(reason: 'timeout' | 'broken', message: string, cause?: unknown): void {
    this.outcome.reject(
      this.sent
        ? new OutcomeUnknownError(message, reason, { cause })
        : new UnreachableError(message, { cause }),
    );
    this.outgoing.destroy();
  }

  private after(time: number, action: () => void): void {
    this.timers.push(setTimeout(action, Math.max(0, time - performance.now())));
  }
}

function open(request: PreparedRequest): ClientRequest {
  const { url, method, headers, body, addresses, traceparent } = request;
  const secure = url.protocol === 'https:';
  return (secure ? requestTls : requestPlain)({
    method,
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: withoutUndefined({
      'accept-encoding': 'identity',
      'user-agent': 'incident-triage-service',
      traceparent,
      ...headers,
      'content-length': body === undefined ? undefined : String(Buffer.byteLength(body)),
    }),
    agent: secure ? TLS : PLAIN,
    lookup: lookUpOf(addresses),
    // Certificates are verified whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    rejectUnauthorized: true,
  });
}

/** Node throws when the value of a header is undefined. */
function withoutUndefined(
  headers: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
}

/** Answers Node's look-up of the host name with the addresses that were resolved and allowed before. */
export function lookUpOf(addresses: readonly PinnedAddress[]): LookupFunction {
  return (_host, options, answer) => {
    const [first] = addresses;
    if (options.all) answer(null, [...addresses]);
    else answer(null, first!.address, first!.family);
  };
}

/** Says what went wrong without naming the address: the text reaches callers. */
export function messageOf(cause: unknown): string {
  const { code } = cause as { code?: unknown };
  return typeof code === 'string' ? `The connection failed (${code}).` : 'The connection failed.';
}
