import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from './embedded/on-loopback.js';

/** The server that is installed, if one is: Redis or the fork that some distributions have instead. */
export function installedRedis(): string | undefined {
  return ['redis-server', 'valkey-server'].find((name) => {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

export interface RedisServer {
  readonly url: string;
  readonly admin: Redis;
  /** Stops answering, with its connections open. */
  hang(): void;
  goOn(): void;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRedis(program: string): Promise<RedisServer> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    server = spawn(
      program,
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore', cwd: '/tmp' },
    );
    await answers(url);
  };
  await start();
  const admin = new Redis(url, { maxRetriesPerRequest: null, disconnectTimeout: 100 });
  admin.on('error', () => undefined);
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  return {
    url,
    admin,
    hang: () => void server.kill('SIGSTOP'),
    goOn: () => void server.kill('SIGCONT'),
    kill,
    start,
    stop: async () => {
      admin.disconnect();
      await kill();
    },
  };
}

async function answers(url: string): Promise<void> {
  const client = new Redis(url, {
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
    disconnectTimeout: 100,
  });
  client.on('error', () => undefined);
  try {
    await Promise.race([
      client.ping(),
      sleep(5_000, undefined, { ref: false }).then(() => {
        throw new Error('Redis does not start.');
      }),
    ]);
  } finally {
    client.disconnect();
  }
}
