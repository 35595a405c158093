import { Injectable } from '@nestjs/common';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Set when the service was told to stop: readiness fails from then on, while running requests finish. */
@Injectable()
export class Draining {
  begun = false;

  begin(): void {
    this.begun = true;
  }
}

/**
 * Knows the connections that never sent a request. Node closes those that wait between two requests when the server
 * closes, but not these, nor those whose response began before: they would hold the exit.
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
