import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { flood, LoopbackServer } from './loopback-server.js';

export const BEHAVIOURS = [
  'apply',
  'refuse',
  'apply-then-drop',
  'drop-before-reading',
  'apply-then-500',
  'error-500',
  'unavailable',
  'rate-limit',
  'hang',
  'answer-twice',
  'html',
  'huge',
  'slow-drip',
  'redirect',
  'garbage',
  'upgrade',
  'not-json',
  'truncated',
  'byte-by-byte',
  'compressed',
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** Behaviour for one request, and the delay after the request was read. */
export interface Plan {
  readonly behaviour: Behaviour;
  readonly afterMs: number;
  /** The vendor waits for this promise first. */
  readonly until?: Promise<void>;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Monotonic time of the first byte of the request. */
  readonly at: number;
}

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/**
 * Vendor on the loopback. `behave` sets its behaviour for the next requests in turn; the last behaviour also holds for
 * later requests. Effects are counted by Idempotency-Key.
 */
export class FakeVendor extends LoopbackServer {
  readonly requests: SeenRequest[] = [];
  private readonly effects = new Map<string, number>();
  private turns: Behaviour[] = ['apply'];
  /** Target of the behaviour `redirect`. */
  location = 'http://169.254.169.254/latest/meta-data/';
  retryAfter = '1';
  /** Returns the response to a request. Replaces the behaviours. */
  reply: ((request: SeenRequest) => Reply) | undefined;
  /** If set, POST requests wait for this promise. */
  held: Promise<unknown> | undefined;
  /** Chooses the behaviour by request instead of in turn. */
  plan?: (request: { readonly path: string; readonly key: string }) => Plan;

  static async start(): Promise<FakeVendor> {
    return await new FakeVendor().start();
  }

  behave(...turns: readonly [Behaviour, ...Behaviour[]]): void {
    this.turns = [...turns];
  }

  effectsOf(key: string): number {
    return this.effects.get(key) ?? 0;
  }

  forget(): void {
    this.requests.length = 0;
    this.effects.clear();
    this.turns = ['apply'];
    this.reply = undefined;
    this.held = undefined;
  }

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = performance.now();
    const { method = '', url: path = '', headers } = request;
    const key = String(headers['idempotency-key'] ?? path);
    const { behaviour, afterMs, until } = this.plan?.({ path, key }) ?? this.next();
    if (behaviour === 'drop-before-reading') return void request.socket.destroy();
    const body = await text(request);
    const seen = { method, path, headers, body, at };
    this.requests.push(seen);
    if (method === 'POST') await this.held;
    if (this.reply) return answerWith(response, this.reply(seen));
    await until;
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
    if (!WITHOUT_EFFECT.has(behaviour)) this.effects.set(key, this.effectsOf(key) + 1);
    answers[behaviour]({ response, socket: request.socket, vendor: this });
  }

  private next(): Plan {
    const behaviour = this.turns.length > 1 ? this.turns.shift()! : this.turns[0]!;
    return { behaviour, afterMs: 0 };
  }
}

interface Turn {
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly vendor: FakeVendor;
}

const OK = JSON.stringify({ ok: true, id: 'vendor-1' });
const SINGLE_BYTES = '1\r\n \r\n'.repeat(10_000);
export const BYTES_ONE_BY_ONE = 1_000_000;
const MEGABYTE = 'x'.repeat(1_048_576);

const JSON_TYPE = { 'content-type': 'application/json' };
const WITHOUT_EFFECT: ReadonlySet<Behaviour> = new Set<Behaviour>([
  'refuse',
  'drop-before-reading',
  'error-500',
  'unavailable',
  'rate-limit',
  'redirect',
]);

const json = (response: ServerResponse, status: number, body: string): void =>
  void response.writeHead(status, JSON_TYPE).end(body);
const drop = ({ socket }: Turn): void => void socket.destroy();
const error500 = ({ response }: Turn): void => json(response, 500, '{}');
const wait =
  (status: number) =>
  ({ response, vendor }: Turn): void =>
    void response.writeHead(status, { 'retry-after': vendor.retryAfter }).end();

function answerWith(response: ServerResponse, { status, type, body }: Reply): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}

const answers: Readonly<Record<Behaviour, (turn: Turn) => void>> = {
  apply: ({ response }) => json(response, 200, OK),
  refuse: ({ response }) => json(response, 422, JSON.stringify({ error: 'no such host' })),
  'apply-then-drop': drop,
  'drop-before-reading': drop,
  'apply-then-500': error500,
  'error-500': error500,
  unavailable: wait(503),
  'rate-limit': wait(429),
  hang: () => undefined,
  'answer-twice': ({ socket }) => {
    const one = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${OK.length}\r\n\r\n${OK}`;
    socket.end(one + one.replace('200 OK', '500 No'));
  },
  html: ({ response }) =>
    answerWith(response, { status: 200, type: 'text/html', body: '<html>Please log in</html>' }),
  huge: ({ response }) => flood(response.writeHead(200, JSON_TYPE), MEGABYTE),
  'slow-drip': ({ response, socket }) => {
    response.writeHead(200, JSON_TYPE);
    const drip = setInterval(() => response.write(' '), 20);
    socket.on('close', () => clearInterval(drip));
  },
  redirect: ({ response, vendor }) =>
    void response.writeHead(307, { location: vendor.location }).end(),
  garbage: ({ socket }) => void socket.end('\0\x01 not http at all\r\n\r\n'),
  upgrade: ({ socket }) =>
    void socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    ),
  'not-json': ({ response }) => json(response, 200, '{"ok": tru'),
  truncated: ({ socket }) =>
    void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"ok":'),
  'byte-by-byte': ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n');
    const more = (left: number): void => {
      if (left === 0) socket.end('0\r\n\r\n');
      else if (socket.write(SINGLE_BYTES)) setImmediate(more, left - 1);
      else socket.once('drain', () => more(left - 1));
    };
    more(BYTES_ONE_BY_ONE / 10_000);
  },
  compressed: ({ response }) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' });
    response.end(gzipSync(`"${MEGABYTE.repeat(8)}"`));
  },
};
