import { setTimeout as sleep } from 'node:timers/promises';
import { SENDER_SECRET, signed } from '../webhook-sender.js';
import { ask } from './chaos-site.js';

export const SOURCE = 'storm';

/** The last answer to one event. */
export interface Delivered {
  readonly alertId: string;
  /** Attempts that were not answered, or with an error of the server. */
  readonly inVain: number;
  readonly answer: {
    readonly status: 'accepted' | 'queued';
    readonly incident_id?: string;
    readonly duplicate?: boolean;
    readonly queue_id?: string;
  };
}

const ANSWER_MS = 20_000;
const REST_MS = 50;

export async function registerStorm(url: string, key: string): Promise<void> {
  const body = { source: SOURCE, secret: SENDER_SECRET };
  const answer = await ask(url, 'POST', '/api/webhooks', { key, body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
}

/** As a tool does that wants its event known: the same again, until it is answered. `url` tells where to, each time. */
export async function deliver(alertId: string, url: () => string): Promise<Delivered> {
  const data = { alert_id: alertId, severity: 'high', details: { host: 'ws-1.example.net' } };
  const body = JSON.stringify({ event_type: 'malware', data });
  for (let inVain = 0; ; inVain += 1) {
    const answer = await fetch(`${url()}/api/webhooks/${SOURCE}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signed({ body, source: SOURCE }) },
      body,
      signal: AbortSignal.timeout(ANSWER_MS),
    })
      .then(async (got) => ({ status: got.status, text: await got.text() }))
      .catch(() => undefined);
    if (answer?.status === 200 || answer?.status === 202) {
      return { alertId, inVain, answer: JSON.parse(answer.text) as Delivered['answer'] };
    }
    if (answer && answer.status < 500) throw new Error(`${answer.status} ${answer.text}`);
    await sleep(REST_MS);
  }
}
