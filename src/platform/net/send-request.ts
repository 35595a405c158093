import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Agent as HttpsAgent, request as requestTls } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { AnswerMemory } from './answer-memory.js';
import { OutcomeUnknownError, UnreachableError } from './net.errors.js';
import { OutboundAnswer, type OutboundRequest } from './outbound-request.js';
import type { PinnedAddress } from './targets.js';

export interface PreparedRequest extends OutboundRequest {
  readonly addresses: readonly PinnedAddress[];
  /** Monotonic. */
  readonly connectBy: number;
  readonly deadline: number;
  readonly maxAnswerBytes: number;
  /** Shared with all other exchanges. */
  readonly room: AnswerMemory;
}

/** Interim answers (1xx) before the real one: honest vendors send one or two. */
const MOST_INTERIM = 16;

/** Agents of our own: the global ones may be told by the environment to use a proxy. A connection serves one request. */
const PLAIN = new HttpAgent({ keepAlive: false });
const TLS = new HttpsAgent({ keepAlive: false });

/** One request and its answer over a new connection to one of the pinned addresses. */
export async function sendRequest(given: PreparedRequest): Promise<OutboundAnswer> {
  return await new RequestUnderWay(given).run();
}

class RequestUnderWay {
  private readonly outgoing: ClientRequest;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly ended = Promise.withResolvers<OutboundAnswer>();
  private sent = false;
  private interim = 0;

  constructor(private readonly given: PreparedRequest) {
    try {
      this.outgoing = open(given);
    } catch (cause) {
      const message = 'The request has characters that HTTP cannot carry.';
      throw new UnreachableError(message, { temporary: false, cause });
    }
  }

  async run(): Promise<OutboundAnswer> {
    const { connectBy, deadline, signal } = this.given;
    const abort = (): void => this.fail('timeout', 'The request was given up.');
    this.outgoing.on('socket', (socket) => this.whenConnected(socket));
    this.outgoing.on('response', (incoming) => this.receive(incoming));
    this.outgoing.on('information', () => this.countInterim());
    this.outgoing.on('upgrade', () => this.fail('broken', 'The answer changes the protocol.'));
    this.outgoing.on('error', (cause) => this.fail('broken', wordsFor(cause), cause));
    this.outgoing.on('close', () => this.fail('broken', 'The connection ended.'));
    this.after(connectBy, () => {
      if (!this.sent) this.fail('timeout', 'No connection could be made in time.');
    });
    this.after(deadline, () => this.fail('timeout', 'No whole answer came in time.'));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    try {
      return await this.ended.promise;
    } finally {
      for (const timer of this.timers) clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.outgoing.destroy();
    }
  }

  /** Node sends nothing, not even the headers, before `end` is called. */
  private whenConnected(socket: Socket): void {
    const event = this.given.url.protocol === 'https:' ? 'secureConnect' : 'connect';
    socket.once(event, () => void this.leave());
  }

  private async leave(): Promise<void> {
    try {
      await this.given.beforeLeaving?.();
    } catch (error) {
      this.ended.reject(error);
      return;
    }
    // Given up while the hook was asked: the bytes must not leave any more.
    if (this.outgoing.destroyed) return;
    this.sent = true;
    this.outgoing.end(this.given.body);
  }

  private countInterim(): void {
    this.interim += 1;
    if (this.interim > MOST_INTERIM) this.fail('broken', 'The answer never begins.');
  }

  private receive(incoming: IncomingMessage): void {
    const { statusCode = 0, headers } = incoming;
    const { room, maxAnswerBytes } = this.given;
    const tooLong = (): void => this.fail('broken', 'The answer is too long.');
    const body = room.open(() => this.fail('broken', 'The answer is too long for now.'));
    // Nobody asked for compression, so what is compressed is not unpacked: a few bytes could stand for gigabytes.
    const readable = /^(identity)?$/i.test(headers['content-encoding'] ?? '');
    let size = 0;
    if (Number(headers['content-length'] ?? 0) > maxAnswerBytes) tooLong();
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxAnswerBytes) tooLong();
      else if (readable && !this.outgoing.destroyed) body.append(chunk);
    });
    incoming.on('error', (cause) => this.fail('broken', wordsFor(cause), cause));
    incoming.on('end', () =>
      this.ended.resolve(new OutboundAnswer(statusCode, headers, body.content)),
    );
    incoming.on('close', () => room.close(body));
  }

  /** The first outcome counts, so that an answer that came whole stays one. */
  private fail(reason: 'timeout' | 'broken', message: string, cause?: unknown): void {
    this.ended.reject(
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

function open({ url, method, headers, body, addresses }: PreparedRequest): ClientRequest {
  const secure = url.protocol === 'https:';
  return (secure ? requestTls : request)({
    method,
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: {
      'accept-encoding': 'identity',
      'user-agent': 'incident-triage-service',
      ...headers,
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    },
    agent: secure ? TLS : PLAIN,
    lookup: pinned(addresses),
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    ...(secure && { rejectUnauthorized: true }),
  });
}

/** Answers Node's own look-up with what was resolved and judged before. */
function pinned(addresses: readonly PinnedAddress[]): LookupFunction {
  return (_host, options, answer) => {
    const [first] = addresses;
    if (options.all) answer(null, [...addresses]);
    else answer(null, first!.address, first!.family);
  };
}

/** Says what went wrong without saying where: the text reaches callers. */
function wordsFor(cause: unknown): string {
  const { code } = cause as { code?: unknown };
  return typeof code === 'string' ? `The connection failed (${code}).` : 'The connection failed.';
}
