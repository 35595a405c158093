import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { failure, type FakeAnswer, refusal, verdict } from '../fake-messages-answers.js';
import type { FakeMessagesApi, SeenMessagesRequest } from '../fake-messages-api.js';
import { ask } from './chaos-site.js';

const LATE = { ...verdict(), afterMs: 400 };
/** What the provider does when it is asked about an incident for the first time, and after that. */
const PLANS: readonly (readonly [FakeAnswer, FakeAnswer])[] = [
  [verdict(), verdict()],
  [{ kind: 'hang' }, LATE],
  [LATE, verdict()],
  [failure(529, 'overloaded_error'), LATE],
  [refusal('cyber'), refusal('cyber')],
  [{ kind: 'cut' }, verdict()],
];
const REFUSED = 4;

const REST_MS = 100;
const PATIENCE_MS = 120_000;

/** A verdict that somebody was told of. */
export interface Told {
  readonly incidentId: string;
  readonly triageId: string;
  readonly classification: string;
}

/** A provider that hangs, fails, refuses and answers, by incident; and somebody who wants a verdict for each. */
export class TriageStorm {
  readonly told: Told[] = [];
  incidents = 0;
  /** Of these, how many the provider gives no verdict for. */
  refused = 0;
  /** How often the provider was asked about an incident while it was being asked about it already. */
  twice = 0;
  private readonly times = new Map<number, number>();
  private readonly open = new Map<number, number>();

  constructor(
    api: FakeMessagesApi,
    private readonly db: Pool,
    private readonly key: string,
    /** A replica, another one each time. */
    private readonly url: () => string,
  ) {
    api.whenAsked = (request) => {
      const about = incidentOf(request);
      if (this.count(this.open, about, 1) > 1) this.twice += 1;
      const [first, later] = PLANS[about % PLANS.length]!;
      api.script(this.count(this.times, about, 1) === 1 ? first : later);
    };
    api.whenOver = (request) => this.count(this.open, incidentOf(request), -1);
  }

  /** Requests that the provider has not answered yet. */
  get underWay(): number {
    return [...this.open.values()].reduce((sum, count) => sum + count, 0);
  }

  /** A new incident, until there is a verdict for it, or the provider refuses one. Every second one is not waited for. */
  async one(): Promise<void> {
    const number = this.incidents;
    this.incidents += 1;
    const incidentId = await this.create(number);
    const headers: Record<string, string> = number % 2 ? { prefer: 'respond-async' } : {};
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(REST_MS)) {
      const path = `/api/incidents/${incidentId}/triage`;
      const answer = await this.asked(path, { headers });
      if (answer?.status === 200) {
        const { triage_id: triageId, verdict: given } = answer.body.data;
        this.told.push({ incidentId, triageId, classification: given.classification });
        return;
      }
      // 409: the run of a request whose answer was lost goes on.
      if (answer?.status === 202 || answer?.status === 409) await this.ended(incidentId, end);
      else if (answer && answer.status !== 503) throw new Error(JSON.stringify(answer));
      if (answer && number % PLANS.length === REFUSED) {
        this.refused += 1;
        return;
      }
    }
    throw new Error(`There is no verdict for incident ${number} (${incidentId}).`);
  }

  /** Once, even if the answer is lost. */
  private async create(number: number): Promise<string> {
    const rawData = { subject: 'Invoice', from: 'billing@example.net', note: `storm-${number}-` };
    const body = { incident_type: 'phishing', source: 'storm', raw_data: rawData };
    for (;;) {
      const headers = { 'idempotency-key': `storm-${number}` };
      const answer = await this.asked('/api/incidents', { headers, body });
      if (answer?.status === 201) return answer.body.data.id as string;
      await sleep(REST_MS);
    }
  }

  /** Undefined when no whole answer came: the replica was killed. */
  private asked(path: string, more: { headers: Record<string, string>; body?: unknown }) {
    return ask(this.url(), 'POST', path, { key: this.key, ...more }).catch(() => undefined);
  }

  private async ended(incidentId: string, end: number): Promise<void> {
    while (Date.now() < end) {
      const { rowCount } = await this.db.query(
        `select from triage_runs where incident_id = $1 and completed_at is null`,
        [incidentId],
      );
      if (rowCount === 0) return;
      await sleep(REST_MS);
    }
  }

  private count(counts: Map<number, number>, about: number, by: number): number {
    const count = (counts.get(about) ?? 0) + by;
    counts.set(about, count);
    return count;
  }
}

function incidentOf({ text }: SeenMessagesRequest): number {
  return Number(/storm-(\d+)-/.exec(text)?.[1]);
}
