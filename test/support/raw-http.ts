import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { ContractCheck } from './contract-check.js';
import { readContract } from './contract-check-document.js';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: ReturnType<typeof JSON.parse>;
}

/** Connection for bytes that no HTTP client would send. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private ended = false;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => (this.received = Buffer.concat([this.received, chunk])));
    socket.on('close', () => (this.ended = true));
    socket.on('error', () => undefined);
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new RawConnection(socket)));
      socket.once('error', reject);
    });
  }

  get closed(): boolean {
    return this.ended;
  }

  send(...parts: readonly (string | Uint8Array)[]): this {
    for (const part of parts) this.socket.write(part);
    return this;
  }

  /** Closes the connection like a crashed client. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }

  /** Next response, including interim responses (100 Continue). */
  async answer(patienceMs = 30_000): Promise<RawAnswer> {
    const end = Date.now() + patienceMs;
    for (;;) {
      const parsed = this.take();
      if (parsed) return parsed;
      if (this.ended) throw new Error(`Closed after: ${this.received.toString('latin1')}`);
      if (Date.now() > end) throw new Error(`Silent after: ${this.received.toString('latin1')}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async untilClosed(patienceMs = 5_000): Promise<void> {
    const end = Date.now() + patienceMs;
    while (!this.ended) {
      if (Date.now() > end) throw new Error('Still open.');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  private take(): RawAnswer | undefined {
    const headEnd = this.received.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const [first = '', ...lines] = this.received
      .subarray(0, headEnd)
      .toString('latin1')
      .split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const length = Number(headers['content-length'] ?? 0);
    const bodyStart = headEnd + 4;
    if (this.received.length < bodyStart + length) return undefined;
    const text = this.received.subarray(bodyStart, bodyStart + length).toString('utf8');
    this.received = this.received.subarray(bodyStart + length);
    const json = (headers['content-type'] ?? '').startsWith('application/json');
    return {
      status: Number(first.split(' ')[1]),
      headers,
      text,
      body: json ? JSON.parse(text) : text,
    };
  }
}

/** Sends the bytes on a new connection and returns the first response. */
export async function rawRequest(
  port: number,
  ...parts: (string | Uint8Array)[]
): Promise<RawAnswer> {
  const connection = await RawConnection.open(port);
  try {
    return await connection.send(...parts).answer();
  } finally {
    connection.close();
  }
}

/** Returns the response as sent. fetch would decompress it. */
export async function packedAnswer(url: string, headers: object = {}, method = 'GET') {
  const outgoing = request(url, { method, headers: { ...headers } }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { statusCode: status, headers: received } = response;
  return { status, headers: received, bytes: await buffer(response) };
}

const check = new ContractCheck(readContract());

/**
 * Checks a response that Node.js sends without a request. It belongs to no address, so only the envelope and the common
 * headers are checked.
 */
export function expectErrorOutsideRouting({ status, headers, text }: RawAnswer): void {
  const url = '/outside-routing';
  expect(check.problems({ method: 'GET', url, status, headers, body: text })).toEqual([]);
}
