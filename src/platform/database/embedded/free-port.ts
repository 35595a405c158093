import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { ServerProcess } from './server-process.js';

/** Troubles that pass: the free port was taken meanwhile, or processes of a killed server are still ending. */
const PASSING = /TCP\/IP sockets|shared memory block|lock file/;
const PATIENCE_MS = 10_000;

export async function startOnFreePort(
  spawnOn: (port: number) => Promise<ServerProcess>,
): Promise<{ server: ServerProcess; port: number }> {
  for (const begin = Date.now(); ; await sleep(100)) {
    const port = await freePort();
    const server = await spawnOn(port);
    try {
      await server.ready();
      return { server, port };
    } catch (error) {
      const passing = error instanceof EmbeddedPostgresError && PASSING.test(error.message);
      if (!passing || Date.now() - begin > PATIENCE_MS) throw error;
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
