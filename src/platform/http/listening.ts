import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { Settings } from '../config/settings.js';

/**
 * Holds the port from the beginning of a start, so that a port in use is reported before the database is migrated and
 * work begins. Closes connections during this time. Returns a function that releases the port.
 */
export async function claimPort({
  host,
  port,
}: Pick<Settings, 'host' | 'port'>): Promise<() => Promise<void>> {
  const server = createServer((socket) => socket.destroy());
  server.listen(port, host);
  await once(server, 'listening').catch((cause: Error) => {
    throw new Error(`${host}:${port} cannot be used: ${cause.message}.`, { cause });
  });
  server.unref();
  return async () => {
    server.close();
    await once(server, 'close');
  };
}

/** Set when the service begins to stop. Readiness then fails, while running requests finish. */
@Injectable()
export class Draining {
  begun = false;
}

/**
 * Tracks the connections that never sent a request, which would delay the exit. A closing server only closes
 * connections that wait between two requests, not unused connections or connections whose response began earlier.
 */
@Injectable()
export class OpenConnections {
  private readonly unused = new Set<Socket>();

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.unused.add(socket);
      socket.once('close', () => this.unused.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.unused.delete(socket);
      response.once('close', () => {
        if (!server.listening) socket.end();
      });
    });
  }

  closeUnused(): void {
    for (const socket of this.unused) socket.destroy();
  }
}
