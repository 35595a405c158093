import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../src/platform/database/embedded/embedded-postgres.js';
import { query } from './query.js';

/** Embedded server with a port on the loopback, for a proxy or TLS in a test. */
export async function startOnLoopback(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const port = await freePort();
  const { dataDir, parameters } = options;
  // Another user must be able to read the file if the tests run as root.
  chmodSync(dataDir, 0o755);
  const access = join(dataDir, 'access.conf');
  writeFileSync(access, 'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n');
  const server = await startEmbeddedPostgres({
    ...options,
    parameters: {
      listen_addresses: '127.0.0.1',
      port: String(port),
      hba_file: access,
      ...parameters,
    },
  });
  const url = new URL(server.url);
  url.searchParams.set('port', String(port));
  await query(url.href, `alter role incidents password 'incidents'`);
  return {
    url: `postgres://incidents:incidents@127.0.0.1:${port}/incidents`,
    cluster: server.cluster,
    get pid() {
      return server.pid;
    },
    stop: () => server.stop(),
  };
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
