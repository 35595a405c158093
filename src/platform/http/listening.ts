import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { Settings } from '../config/settings.js';

/** Holds the port from the start, so that a port in use is reported early. Returns a function that releases it. */
export async function claimPort({
  host,
  port,
}: Pick<Settings, 'host' | 'port'>): Promise<() => Promise<void>> {
  const server = createServer((socket) => socket.destroy());
  server.listen(port, host);
  await once(server, 'listening').catch((cause: Error) => {
    throw new Error(
      `Cannot listen on ${host}:${port} (${cause.message}). Stop the process that uses the port, or change HOST or PORT.`,
      { cause },
    );
  });
  server.unref();
  return async () => {
    server.close();
    await once(server, 'close');
  };
}

@Injectable()
export class Draining {
  begun = false;
}

/** A closing server keeps unused connections, and connections whose response began earlier. Both delay the exit. */
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
