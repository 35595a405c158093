import { newEvent, SENDER, signedRequest } from './deliveries.ts';
import { type Load, SpoiltShot } from './load.ts';
import { countProcessorTime } from './processor-time.ts';
import type { Target } from './processes.ts';
import { barrage } from './socket-load.ts';

/** More than any of them can answer in a second. */
const MOST_PER_SECOND = 16_000;

export const RECEIPT_PATH = `/api/webhooks/${SENDER.source}`;

/** Delivers new events, signed before the clock starts, and demands that each is accepted as new. */
export async function receiptLoad(
  target: Target,
  path: string,
  clients: number,
  seconds: number,
): Promise<Load> {
  const { host } = new URL(target.url);
  const count = Math.ceil(MOST_PER_SECOND * seconds * Math.min(1, clients / 4));
  const requests = Array.from({ length: count }, () =>
    signedRequest({ host, path, body: newEvent() }),
  );
  const processorTime = await countProcessorTime(target);
  const fired = await barrage({
    url: target.url,
    clients,
    seconds,
    requests,
    heard: ({ status, body }) => {
      if (status === 200 && body.startsWith('{"status":"accepted"') && !isRepeated(body)) return;
      throw new SpoiltShot(`${path}: no figure, ${status} ${body}`);
    },
  });
  if (fired.ranOut) throw new SpoiltShot(`${path}: no figure, ${count} requests were too few.`);
  const { server, postgres } = await processorTime();
  return {
    perSecond: fired.perSecond,
    p50: fired.p50,
    p99: fired.p99,
    processor: {
      generator: fired.generator,
      ...(server !== undefined && { server: server / fired.answers }),
      ...(postgres !== undefined && { postgres: postgres / fired.answers }),
    },
  };
}

const isRepeated = (body: string): boolean =>
  body.includes('"duplicate"') || body.includes('"updated"');

/** A source that may send as much as it can. */
export async function registerSender({ url, headers }: Target): Promise<void> {
  const answer = await fetch(`${url}/api/webhooks`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(SENDER),
  });
  if (!answer.ok) throw new Error(`No source: ${answer.status} ${await answer.text()}`);
}
