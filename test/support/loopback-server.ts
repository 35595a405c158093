import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** HTTP server of a test on a free port of the loopback. It closes the connection if `take` fails. */
export abstract class LoopbackServer {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((request, response) => {
    this.take(request, response).catch((error: unknown) => {
      this.failed(error);
      request.socket.destroy();
    });
  }).on('connection', (socket: Socket) => {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
  });

  protected abstract take(request: IncomingMessage, response: ServerResponse): Promise<void>;

  /** Called if `take` fails. Does nothing by default, because a test may kill a client during a request. */
  protected failed(_error: unknown): void {}

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.sockets.size;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Sends `chunk` repeatedly until the receiver closes the connection. */
export function flood(target: ServerResponse | Socket, chunk: string): void {
  while (!target.destroyed && target.write(chunk));
  if (!target.destroyed) target.once('drain', () => flood(target, chunk));
}
