import {
  Agent as HttpAgent,
  type AgentOptions,
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
} from 'node:http';
import { Agent as HttpsAgent, request as requestTls, type RequestOptions } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { OutcomeUnknownError, UnreachableError } from './net.errors.js';
import { OutboundAnswer, type OutboundRequest } from './outbound-request.js';
import type { PinnedAddress } from './targets.js';
import { GrowingBuffer } from '../growing-buffer.js';

/** A request with a resolved and allowed target and with all limits set. */
export interface PreparedRequest extends OutboundRequest {
  /** The only addresses that the connection may use. */
  readonly addresses: readonly PinnedAddress[];
  /** Deadline for the open connection, in performance.now() time. */
  readonly connectBy: number;
  /** Deadline for the complete response. */
  readonly deadline: number;
  readonly maxAnswerBytes: number;
  readonly traceparent?: string;
}

/** Maximum number of 1xx responses. Honest vendors send one or two. */
const MOST_INTERIM_ANSWERS = 16;

/** A connection serves only requests whose name resolves to the same addresses. */
type WithAddresses = AgentOptions & { readonly addresses?: readonly PinnedAddress[] };
const addressesOf = ({ addresses = [] }: WithAddresses): string =>
  addresses
    .map(({ address }) => address)
    .toSorted()
    .join();

class KeepingHttpAgent extends HttpAgent {
  override getName(options: WithAddresses = {}): string {
    return `${super.getName(options)}:${addressesOf(options)}`;
  }
}

class KeepingHttpsAgent extends HttpsAgent {
  override getName(options: WithAddresses = {}): string {
    return `${super.getName(options)}:${addressesOf(options)}`;
  }
}

/** Many servers close a connection that is idle for 5 s. */
const KEEPING = { keepAlive: true, timeout: 4_000 };
/** Own agents, because the environment can make the global agents of Node use a proxy. */
const AGENTS = {
  'http:': { once: new HttpAgent(), keeping: new KeepingHttpAgent(KEEPING) },
  'https:': { once: new HttpsAgent(), keeping: new KeepingHttpsAgent(KEEPING) },
};
/** How much of an unread response is received to keep its connection. */
const DROPPED_BYTES = 65_536;
const DROPPED_MS = 1_000;

/** Sends one request and reads the response. */
export async function sendRequest(prepared: PreparedRequest): Promise<OutboundAnswer> {
  const request = new RequestUnderWay(prepared);
  try {
    return await request.run();
  } catch (error) {
    if (!request.wasStale) throw error;
    const { deadline } = prepared;
    const again = { ...prepared, connectBy: deadline, reusesConnection: undefined };
    return await new RequestUnderWay(again).run();
  }
}

class RequestUnderWay {
  private readonly outgoing: ClientRequest;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly outcome = Promise.withResolvers<OutboundAnswer>();
  /** Whether bytes of the request may have been sent. */
  private sent = false;
  /** The outcome is known. An error that nobody sees would cost its stack trace. */
  private ended = false;
  private interimAnswers = 0;
  private isAnswered = false;
  /** The response does not need the connection any more. */
  private isComplete = false;
  /** The server had closed the kept connection. */
  wasStale = false;

  constructor(private readonly request: PreparedRequest) {
    try {
      this.outgoing = open(this.request);
    } catch (cause) {
      const message = 'The request has characters that HTTP does not allow.';
      throw new UnreachableError(message, { temporary: false, cause });
    }
  }

  async run(): Promise<OutboundAnswer> {
    const { connectBy, deadline, signal } = this.request;
    const abort = (): void => this.fail('timeout', 'The request was aborted.');
    this.outgoing.on('socket', (socket) => this.whenConnected(socket));
    this.outgoing.on('response', (incoming) => this.receive(incoming));
    this.outgoing.on('information', () => this.countInterim());
    this.outgoing.on('upgrade', () => {
      this.isAnswered = true;
      this.fail('broken', 'The response changes the protocol.');
    });
    this.outgoing.on('error', (cause) => this.fail('broken', messageOf(cause), cause));
    this.outgoing.on('close', () => this.fail('broken', 'The connection ended.'));
    this.after(connectBy, () => {
      if (!this.sent) this.fail('timeout', 'The connection was not established in time.');
    });
    this.after(deadline, () => this.fail('timeout', 'No complete response came in time.'));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    try {
      return await this.outcome.promise;
    } finally {
      for (const timer of this.timers) clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      const isKept = this.request.reusesConnection && this.isComplete;
      if (!isKept || !this.outgoing.writableFinished) this.outgoing.destroy();
    }
  }

  /** The connection is open and TLS is verified. Node sends nothing before `end`, not even headers. */
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

  private countInterim(): void {
    this.isAnswered = true;
    this.interimAnswers += 1;
    if (this.interimAnswers > MOST_INTERIM_ANSWERS)
      this.fail('broken', 'The server sent only interim responses.');
  }

  private receive(incoming: IncomingMessage): void {
    if (!this.sent) return this.fail('broken', 'The server responded before the request.');
    this.isAnswered = true;
    const { statusCode = 0, headers } = incoming;
    const { maxAnswerBytes, withoutBody = false } = this.request;
    if (withoutBody) {
      // Later data and errors do not matter.
      incoming.on('error', () => undefined);
      this.isComplete = true;
      if (this.request.reusesConnection) drop(incoming);
      return this.answer(new OutboundAnswer(statusCode, headers, Buffer.alloc(0)));
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
    incoming.on('end', () => {
      this.isComplete = true;
      this.answer(new OutboundAnswer(statusCode, headers, body.content));
    });
  }

  private answer(answer: OutboundAnswer): void {
    this.ended = true;
    this.outcome.resolve(answer);
  }

  /** Only the first outcome counts: a later connection error does not undo a complete response. */
  private fail(reason: 'timeout' | 'broken', message: string, cause?: unknown): void {
    if (this.ended) return;
    const { reusedSocket } = this.outgoing;
    this.ended = true;
    this.wasStale = reusedSocket && reason === 'broken' && !this.isAnswered;
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

function drop(incoming: IncomingMessage): void {
  let size = 0;
  const end = () => incoming.destroy();
  const timer = setTimeout(end, DROPPED_MS).unref();
  incoming.on('close', () => clearTimeout(timer));
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > DROPPED_BYTES) end();
  });
}

function open(request: PreparedRequest): ClientRequest {
  const { url, method, headers, body, addresses, traceparent, reusesConnection } = request;
  const secure = url.protocol === 'https:';
  const options: WithAddresses & RequestOptions = {
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
    agent: AGENTS[secure ? 'https:' : 'http:'][reusesConnection ? 'keeping' : 'once'],
    addresses,
    lookup: lookUpOf(addresses),
    // Certificates are verified regardless of NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
  };
  return (secure ? requestTls : requestPlain)(options);
}

/** Node throws if the value of a header is undefined. */
function withoutUndefined(
  headers: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
}

/** Answers the look-up of Node with the resolved and allowed addresses. */
export function lookUpOf(addresses: readonly PinnedAddress[]): LookupFunction {
  return (_host, options, answer) => {
    const [first] = addresses;
    if (options.all) answer(null, [...addresses]);
    else answer(null, first!.address, first!.family);
  };
}

/** Describes the failure without the address, because callers see the text. */
export function messageOf(cause: unknown): string {
  const { code } = cause as { code?: unknown };
  return typeof code === 'string' ? `The connection failed (${code}).` : 'The connection failed.';
}
