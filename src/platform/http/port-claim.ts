import { once } from 'node:events';
import { createServer } from 'node:net';
import { SettingError } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';

/**
 * Holds the port from the first moment of a start, so that a taken port is rejected before the database is migrated and
 * work begins. Connections are closed meanwhile. Returns a function that releases the port.
 */
export async function claimPort({
  host,
  port,
}: Pick<Settings, 'host' | 'port'>): Promise<() => Promise<void>> {
  const server = createServer((socket) => socket.destroy());
  server.listen(port, host);
  await once(server, 'listening').catch((cause: Error) => {
    throw new SettingError(`${host}:${port} cannot be used: ${cause.message}.`, { cause });
  });
  server.unref();
  return async () => {
    server.close();
    await once(server, 'close');
  };
}
