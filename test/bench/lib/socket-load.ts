import { connect, type Socket } from 'node:net';
import { percentile } from './load.ts';

/** What was answered to one request. */
export interface Answered {
  readonly status: number;
  readonly body: string;
  readonly milliseconds: number;
}

export interface Fired {
  readonly answers: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Processor time of this process for one request, in microseconds. */
  readonly generator: number;
  /** The requests ran out before the time did. */
  readonly ranOut: boolean;
}

export interface Barrage {
  readonly url: string;
  readonly clients: number;
  readonly seconds: number;
  /** Whole requests, each sent once. */
  readonly requests: readonly Buffer[];
  /** Looks at each answer; what it throws ends the barrage. */
  readonly heard: (answer: Answered) => void;
}

/**
 * Sends requests that are all different, each client one after the other on a connection of its own. autocannon builds a
 * request that differs when it sends it, which takes more processor time than the service has for a receipt.
 */
export async function barrage({ url, clients, seconds, requests, heard }: Barrage): Promise<Fired> {
  const times: number[] = [];
  let sent = 0;
  const sockets = await Promise.all(Array.from({ length: clients }, () => opened(url)));
  const before = process.cpuUsage();
  const start = performance.now();
  const end = start + seconds * 1_000;
  try {
    await Promise.all(
      sockets.map((socket) =>
        exchange(
          socket,
          () => (performance.now() < end ? requests[sent++] : undefined),
          (answer) => {
            times.push(answer.milliseconds);
            heard(answer);
          },
        ),
      ),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const passed = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return {
    answers: times.length,
    perSecond: (times.length * 1_000) / passed,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    generator: (user + system) / times.length,
    ranOut: sent > requests.length,
  };
}

function opened(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

/** One request after the other until there is none. */
function exchange(
  socket: Socket,
  next: () => Buffer | undefined,
  heard: (answer: Answered) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let came = '';
    let sentAt = 0;
    const send = (): void => {
      const request = next();
      if (!request) return resolve();
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The connection was closed before the answer.')));
    socket.on('data', (chunk) => {
      came += chunk.toString('latin1');
      const answer = wholeAnswer(came);
      if (!answer) return;
      came = '';
      try {
        heard({ ...answer, milliseconds: performance.now() - sentAt });
        send();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    send();
  });
}

const LENGTH = /\r\ncontent-length: (\d+)\r\n/i;

/** Undefined while some of it is still to come. Answers in chunks are none that are measured here. */
function wholeAnswer(text: string): { status: number; body: string } | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = LENGTH.exec(text)?.[1];
  if (length === undefined) throw new Error(`An answer without a length: ${text}`);
  const body = text.slice(head + 4);
  return body.length < Number(length) ? undefined : { status: Number(text.slice(9, 12)), body };
}
