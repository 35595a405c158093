import { Injectable } from '@nestjs/common';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Set when the service was told to stop: readiness fails from then on, while running requests finish. */
@Injectable()
export class Draining {
  private flag = false;

  get begun(): boolean {
    return this.flag;
  }

  begin(): void {
    this.flag = true;
  }
}

/**
 * Knows which connections serve a request. Node closes those that wait between two requests when the server closes, but not
 * those that never sent a request, nor those whose response began before: they would hold the exit.
 */
@Injectable()
export class OpenConnections {
  private readonly running = new Map<Socket, number>();

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.running.set(socket, 0);
      socket.once('close', () => this.running.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.count(socket, 1);
      response.once('close', () => {
        this.count(socket, -1);
        if (!server.listening) socket.end();
      });
    });
  }

  closeUnused(): void {
    for (const [socket, requests] of this.running) if (requests === 0) socket.destroy();
  }

  private count(socket: Socket, change: 1 | -1): void {
    const requests = this.running.get(socket);
    if (requests !== undefined) this.running.set(socket, requests + change);
  }
}
