import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { LoopbackServer } from '../loopback-server.js';
import type { ReceivedEvent } from './webhook-receiver.js';

export interface Arrival extends ReceivedEvent {
  /** It was answered with success; the sender may not have heard of it. */
  readonly taken: boolean;
}

/** Takes most events, and fails on the others in all ways: an error, an answer that never arrives, a slow one. */
export class StormReceiver extends LoopbackServer {
  readonly arrivals: Arrival[] = [];

  get hook(): string {
    return `${this.url}/hook`;
  }

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chance = Math.random();
    const body = await text(request);
    const taken = chance > 0.05;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    this.arrivals.push({ ...(JSON.parse(body) as ReceivedEvent), taken });
    if (!taken) response.writeHead(500).end();
    else if (chance < 0.1) request.socket.destroy();
    else response.writeHead(204).end();
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
