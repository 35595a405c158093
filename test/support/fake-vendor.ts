import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

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
  'never-begins',
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** What the vendor does to one request, and how long after it has read it. */
export interface Plan {
  readonly behaviour: Behaviour;
  readonly afterMs: number;
  /** What the vendor waits for before it does so. */
  readonly until?: Promise<void>;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Monotonic: when the first byte of the request was there. */
  readonly at: number;
}

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/**
 * A vendor that really listens. What it does to a request is set by `behave`: for the next ones in turn, and for all
 * that come after the last. An effect is counted by the request's Idempotency-Key; with `idempotent` the same key has
 * it once.
 */
export class FakeVendor {
  readonly requests: SeenRequest[] = [];
  private readonly effects = new Map<string, number>();
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private turns: Behaviour[] = ['apply'];
  private latencyMs = 0;
  /** Where `redirect` sends to. */
  location = 'http://169.254.169.254/latest/meta-data/';
  retryAfter = '1';
  /** Says this instead of behaving in one of the ways. */
  reply: ((request: SeenRequest) => Reply) | undefined;
  /** Requests are answered when this has been resolved. */
  held: Promise<unknown> | undefined;
  /** Decides request by request, instead of in turn. */
  plan?: (request: { readonly path: string; readonly key: string }) => Plan;

  private constructor(private readonly idempotent: boolean) {
    this.server = createServer((request, response) => {
      // Whoever dies in the middle of a request has sent none.
      this.take(request, response).catch(() => request.socket.destroy());
    });
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  static async start(options: { readonly idempotent?: boolean } = {}): Promise<FakeVendor> {
    const vendor = new FakeVendor(options.idempotent ?? false);
    await new Promise<void>((resolve) => vendor.server.listen(0, '127.0.0.1', resolve));
    return vendor;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** How many connections are open. */
  get connections(): number {
    return this.sockets.size;
  }

  behave(...turns: readonly [Behaviour, ...Behaviour[]]): void {
    this.turns = [...turns];
  }

  answerAfter(latencyMs: number): void {
    this.latencyMs = latencyMs;
  }

  effectsOf(key: string): number {
    return this.effects.get(key) ?? 0;
  }

  get allEffects(): ReadonlyMap<string, number> {
    return this.effects;
  }

  forget(): void {
    this.requests.length = 0;
    this.effects.clear();
    this.turns = ['apply'];
    this.latencyMs = 0;
    this.reply = undefined;
    this.held = undefined;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = performance.now();
    const { method = '', url: path = '', headers } = request;
    const key = String(headers['idempotency-key'] ?? path);
    const { behaviour, afterMs, until } = this.plan?.({ path, key }) ?? this.next();
    if (behaviour === 'drop-before-reading') return void request.socket.destroy();
    const body = await read(request);
    const seen = { method, path, headers, body, at };
    this.requests.push(seen);
    if (method === 'POST') await this.held;
    if (this.reply) return answerWith(response, this.reply(seen));
    await until;
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
    answers[behaviour]({
      response,
      socket: request.socket,
      vendor: this,
      apply: () => this.apply(key),
    });
  }

  private next(): Plan {
    const behaviour = this.turns.length > 1 ? this.turns.shift()! : this.turns[0]!;
    return { behaviour, afterMs: this.latencyMs };
  }

  private apply(key: string): void {
    const before = this.effects.get(key) ?? 0;
    this.effects.set(key, this.idempotent ? 1 : before + 1);
  }
}

interface Turn {
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly vendor: FakeVendor;
  apply(): void;
}

const OK = JSON.stringify({ ok: true, id: 'vendor-1' });
const SINGLE_BYTES = '1\r\n \r\n'.repeat(10_000);
export const BYTES_ONE_BY_ONE = 1_000_000;
const MEGABYTE = 'x'.repeat(1_048_576);

const json = (response: ServerResponse, status: number, body: string): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(body);

function answerWith(response: ServerResponse, { status, type, body }: Reply): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}

const answers: Readonly<Record<Behaviour, (turn: Turn) => void>> = {
  apply: ({ response, apply }) => {
    apply();
    json(response, 200, OK);
  },
  refuse: ({ response }) => json(response, 422, JSON.stringify({ error: 'no such host' })),
  'apply-then-drop': ({ socket, apply }) => {
    apply();
    socket.destroy();
  },
  'drop-before-reading': ({ socket }) => void socket.destroy(),
  'apply-then-500': ({ response, apply }) => {
    apply();
    json(response, 500, '{}');
  },
  'error-500': ({ response }) => json(response, 500, '{}'),
  unavailable: ({ response, vendor }) =>
    void response.writeHead(503, { 'retry-after': vendor.retryAfter }).end(),
  'rate-limit': ({ response, vendor }) =>
    void response.writeHead(429, { 'retry-after': vendor.retryAfter }).end(),
  hang: ({ apply }) => apply(),
  'answer-twice': ({ socket, apply }) => {
    apply();
    const one = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${OK.length}\r\n\r\n${OK}`;
    socket.end(one + one.replace('200 OK', '500 No'));
  },
  html: ({ response, apply }) => {
    apply();
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Please log in</html>');
  },
  huge: ({ response, socket, apply }) => {
    apply();
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (!socket.destroyed && response.write(MEGABYTE));
      if (!socket.destroyed) response.once('drain', more);
    };
    more();
  },
  'slow-drip': ({ response, socket, apply }) => {
    apply();
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 20);
    socket.on('close', () => clearInterval(drip));
  },
  redirect: ({ response, vendor }) =>
    void response.writeHead(307, { location: vendor.location }).end(),
  garbage: ({ socket, apply }) => {
    apply();
    socket.end('\0\x01 not http at all\r\n\r\n');
  },
  upgrade: ({ socket, apply }) => {
    apply();
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
  },
  'not-json': ({ response, apply }) => {
    apply();
    json(response, 200, '{"ok": tru');
  },
  truncated: ({ socket, apply }) => {
    apply();
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"ok":');
  },
  'byte-by-byte': ({ socket, apply }) => {
    apply();
    socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n');
    const more = (left: number): void => {
      if (left === 0) socket.end('0\r\n\r\n');
      else if (socket.write(SINGLE_BYTES)) setImmediate(more, left - 1);
      else socket.once('drain', () => more(left - 1));
    };
    more(BYTES_ONE_BY_ONE / 10_000);
  },
  compressed: ({ response, apply }) => {
    apply();
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(`"${MEGABYTE.repeat(8)}"`));
  },
  'never-begins': ({ socket, apply }) => {
    apply();
    const more = (): void => {
      while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'));
      if (!socket.destroyed) socket.once('drain', more);
    };
    more();
  },
};

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
