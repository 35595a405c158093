import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from './cleanup.ts';

const ANSWERS_AFTER_MS = 20;

/** Two vendors behind one address: `/well` always answers, `/other` only while it does not hang. */
export interface TwoVendors {
  readonly url: string;
  hangs: boolean;
  /** How many calls wait for an answer that does not come. */
  readonly hanging: number;
  /** Cuts the connections of those. */
  letGo(): void;
  stop(): Promise<void>;
}

export async function startTwoVendors(): Promise<TwoVendors> {
  const waiting = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    request.resume();
    if (vendors.hangs && request.url === '/other') {
      waiting.add(response);
      response.on('close', () => waiting.delete(response));
      return;
    }
    void sleep(ANSWERS_AFTER_MS).then(() =>
      response.setHeader('content-type', 'application/json').end('{}'),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const letGo = (): void => waiting.forEach((response) => response.destroy());
  const stop = atEnd(async () => {
    letGo();
    await new Promise((resolve) => server.close(resolve));
  });
  const vendors: TwoVendors = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hangs: false,
    get hanging() {
      return waiting.size;
    },
    letGo,
    stop,
  };
  return vendors;
}
