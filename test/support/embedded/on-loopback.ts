import { createServer } from 'node:net';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../src/platform/database/embedded/embedded-postgres.js';

/** An embedded server with a port of the loopback, which a test can put a proxy before, or reach by TLS. */
export async function startOnLoopback(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const port = await freePort();
  const { parameters } = options;
  const server = await startEmbeddedPostgres({
    ...options,
    parameters: { listen_addresses: '127.0.0.1', port: String(port), ...parameters },
  });
  return {
    url: onPort(server.url, port),
    cluster: server.cluster,
    get pid() {
      return server.pid;
    },
    stop: () => server.stop(),
  };
}

function onPort(url: string, port: number): string {
  const address = new URL(url);
  address.host = `127.0.0.1:${port}`;
  address.search = '';
  return address.toString();
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
