import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { SettingError } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process',
  EACCES: 'may not be used by this user',
  EADDRNOTAVAIL: 'is no address of this machine',
  ENOTFOUND: 'is no known host',
};

/**
 * Holds the port from the first moment of a start, so that one that is taken is refused before a database is made or
 * migrated. Whoever connects meanwhile is turned away.
 */
export class PortClaim {
  private constructor(private readonly server: Server) {}

  static async of({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<PortClaim> {
    const server = createServer((socket) => socket.destroy());
    server.listen(port, host);
    try {
      await once(server, 'listening');
    } catch (error) {
      const { code = '' } = error as { code?: string };
      throw new SettingError(`${host}:${port} ${REASONS[code] ?? 'cannot be used'} (${code}).`, {
        cause: error,
      });
    }
    server.unref();
    return new PortClaim(server);
  }

  /** Just before the service listens itself. */
  async release(): Promise<void> {
    this.server.close();
    await once(this.server, 'close');
  }
}
