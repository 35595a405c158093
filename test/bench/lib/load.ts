import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { run, type Target } from './processes.ts';

export interface Load {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Processor time per request, in microseconds. */
  readonly processor: ProcessorTime;
}

export interface ProcessorTime {
  readonly server: number;
  /** Backends of the database, including those that count and clean up for the service. NaN for a remote PostgreSQL. */
  readonly postgres: number;
  /** The process that sends the requests. */
  readonly generator: number;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Barrage {
  readonly clients: number;
  readonly seconds: number;
  /** Complete HTTP requests. Each request is sent once. */
  readonly requests: Iterator<Buffer>;
  readonly isRight?: (body: string) => boolean;
}

/**
 * Sends requests until the time is over or all are sent, and returns the milliseconds of each response. Each client
 * sends on its own connection, one request after the other. A wrong response is an error. Existing load generators take
 * more processor time per request than the service needs for a webhook event.
 */
export async function barrage(
  { url }: Pick<Target, 'url'>,
  { clients, seconds, requests, isRight = () => true }: Barrage,
): Promise<number[]> {
  const times: number[] = [];
  const sockets = await Promise.all(Array.from({ length: clients }, () => open(url)));
  const end = performance.now() + seconds * 1_000;
  const sendAll = async (socket: Socket): Promise<void> => {
    while (performance.now() < end) {
      const { value, done } = requests.next();
      if (done) return;
      const sentAt = performance.now();
      const { status, body } = await exchange(socket, value);
      times.push(performance.now() - sentAt);
      const isSuccess = status >= 200 && status < 300;
      if (!isSuccess || !isRight(body)) throw new Error(`${url} responded ${status} ${body}`);
    }
  };
  try {
    await Promise.all(sockets.map(sendAll));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  return times;
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket;
}

function exchange(socket: Socket, request: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = '';
    const closed = () => reject(new Error('The connection was closed before the response.'));
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const answer = parse(text);
      if (!answer) return;
      socket.off('data', read).off('close', closed);
      resolve(answer);
    };
    socket.on('data', read).on('close', closed).write(request);
  });
}

/** Returns `undefined` while a part of the response is missing. The status is 0 if the response has no length. */
function parse(text: string): Answer | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1];
  if (length === undefined) return { status: 0, body: text };
  const body = text.slice(head + 4);
  return body.length < Number(length) ? undefined : { status: Number(text.slice(9, 12)), body };
}

/** Runs a barrage for its whole time, and measures the processor time. */
export async function load(target: Target, shot: Barrage): Promise<Load> {
  const processorTime = await countProcessorTime(target);
  const before = process.cpuUsage();
  const start = performance.now();
  const times = await barrage(target, shot);
  const passed = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(before);
  if (passed < shot.seconds) throw new Error(`${times.length} requests are too few.`);
  const { server, postgres } = await processorTime();
  return {
    perSecond: times.length / passed,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    processor: {
      server: server / times.length,
      postgres: postgres / times.length,
      generator: (user + system) / times.length,
    },
  };
}

/** Begins to count processor time. The returned function returns the microseconds since then. */
export async function countProcessorTime(target: Target) {
  const before = await readTimes(target);
  return async () => {
    const after = await readTimes(target);
    const used = [...after.backends].map(([pid, time]) => time - (before.backends.get(pid) ?? 0));
    const postgres = used.length === 0 ? NaN : used.reduce((sum, time) => sum + time, 0);
    return { server: after.server - before.server, postgres };
  };
}

async function readTimes({ pid, databaseUrl }: Target) {
  const rows = await run<{ pid: number }>(
    databaseUrl,
    'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  const backends = rows.map((row) => [row.pid, timeOf(row.pid, 'postgres')] as const);
  return {
    server: timeOf(pid),
    backends: new Map(backends.filter(([, time]) => !Number.isNaN(time))),
  };
}

/**
 * Returns the processor time of a process. NaN if the process does not run, if another program now has its id, or if
 * this is not Linux.
 */
function timeOf(pid: number, name?: string): number {
  try {
    // The name is in parentheses and may contain any character. utime and stime are fields 11 and 12 after it.
    const [, found, rest] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!;
    const fields = rest!.split(' ');
    const microsPerTick = 10_000;
    const time = (Number(fields[11]) + Number(fields[12])) * microsPerTick;
    return name === undefined || name === found ? time : NaN;
  } catch {
    return NaN;
  }
}

export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const median = (numbers: readonly number[]): number => percentile(numbers, 0.5);
