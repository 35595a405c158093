import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ReceivedEvent } from './webhook-receiver.js';

export interface Arrival extends ReceivedEvent {
  /** It was answered with success; the sender may not have heard of it. */
  readonly taken: boolean;
}

/** Takes most events, and fails on the others in all ways: an error, an answer that never arrives, a slow one. */
export class StormReceiver {
  readonly arrivals: Arrival[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<StormReceiver> {
    const server = createServer((request, response) => {
      const chance = Math.random();
      void text(request)
        .then(async (body) => {
          const taken = chance > 0.05;
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
          receiver.arrivals.push({ ...(JSON.parse(body) as ReceivedEvent), taken });
          if (!taken) response.writeHead(500).end();
          else if (chance < 0.1) request.socket.destroy();
          else response.writeHead(204).end();
        })
        // Who is killed in the middle of a request has sent none.
        .catch(() => request.socket.destroy());
    });
    const receiver = new StormReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/**
 * What is wrong with the order in which events came: of an incident, each event may come for the first time only when the one
 * before it was taken. `expected` has the ids of the events of each incident, as they happened.
 */
export function overtaken(
  arrivals: readonly Arrival[],
  expected: ReadonlyMap<string, readonly string[]>,
): string[] {
  const wrong: string[] = [];
  for (const [incident, ids] of expected) {
    const firstAt = ids.map((id) => arrivals.findIndex((one) => one.id === id));
    const takenAt = ids.map((id) => arrivals.findIndex((one) => one.id === id && one.taken));
    for (let at = 1; at < ids.length; at += 1) {
      if (firstAt[at]! < takenAt[at - 1]!) wrong.push(`${incident}: event ${at + 1} overtook`);
    }
  }
  return wrong;
}
