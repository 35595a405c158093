import { isDeepStrictEqual } from 'node:util';
import { INCIDENT_EVENTS } from '../../../src/incidents/change-records.js';
import { Transactions } from '../../../src/platform/database/transactions.js';
import { DomainEvents } from '../../../src/platform/work/domain-events.js';
import { Work } from '../../../src/platform/work/work.js';
import {
  type Judgement,
  ModelUnavailableError,
  type ProposedVerdict,
  type Remedy,
  type TokenUse,
  TriageModel,
  type UnavailableReason,
} from '../../../src/triage/model/triage-model.port.js';
import type { Answer, ApiClient } from '../api-client.js';
import { eventually } from '../jobs/eventually.js';
import type { TestApp } from '../test-app.js';
import { World } from '../world.js';

export type Judge = TriageModel['judge'];

export const RAW_DATA = {
  message_id: '<1@mail.example.net>',
  sender: 'ceo@examp1e.example.net',
  recipient: 'bob@example.com',
  subject: 'Urgent wire transfer',
};

export const VERDICT: ProposedVerdict = {
  classification: 'malicious',
  confidence: 0.9,
  category: 'bec',
  reasoning: 'The sender is not who the name says: see http://pay.example.net/now.',
  indicators: [{ type: 'email', value: RAW_DATA.sender, found_in: '/sender' }],
  mitre_techniques: ['T1566.002'],
  evidence: [{ source: 'raw_data', pointer: '/sender', value: RAW_DATA.sender }],
  recommended_actions: ['quarantine_email', 'block_sender'],
};

/** Judgement with the tokens that it costs. */
type CostlyJudgement = Judgement & { readonly tokens?: Partial<TokenUse> };

export function judgement(more: Partial<CostlyJudgement> = {}): CostlyJudgement {
  return {
    verdict: VERDICT,
    model: 'scripted-1',
    prompt_hash: 'ab'.repeat(32),
    tokens: { input: 100, output: 20 },
    tool_calls: [],
    ...more,
  };
}

export function unavailable(
  reason: UnavailableReason,
  remedy: Remedy = 'nothing',
  retryAfterMs?: number,
): ModelUnavailableError {
  const message = `The provider says ${reason}.`;
  return new ModelUnavailableError(reason, message, remedy, { retryAfterMs });
}

/** Replaces the external model of a replica. Returns a mock that counts the requests. */
export function script(app: TestApp, judge: Judge) {
  const asked = jest.fn<ReturnType<Judge>, Parameters<Judge>>(async (given, judging) => {
    const answer: CostlyJudgement = await judge(given, judging);
    if (!answer?.tokens) return answer;
    const { tokens, ...judged } = answer;
    judging.meter.add(tokens);
    return judged;
  });
  Object.assign(app.nest.get(TriageModel), { judge: asked });
  return asked;
}

/** Model that responds when the test tells it to. */
export function heldModel() {
  const begun = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Judgement>();
  const judge: Judge = () => {
    begun.resolve();
    return answer.promise;
  };
  return { judge, begun: begun.promise, answer };
}

/**
 * An external provider, so that the kill switch stops triage. `script` replaces the model, so that no request reaches
 * the provider.
 */
const ASKING_OUTSIDE = { TRIAGE_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: 'key-of-a-test' };

/** Replicas on one database with scripted models, and an API key of each role. */
export class TriageWorld extends World {
  static async start(
    settings: Readonly<Record<string, string>> = {},
    replicas = 1,
  ): Promise<TriageWorld> {
    return new TriageWorld(...(await World.open({ ...ASKING_OUTSIDE, ...settings }, replicas)));
  }

  override incident(fields: object = {}): Promise<string> {
    return super.incident({ raw_data: RAW_DATA, ...fields });
  }

  async triage(
    id: string,
    more: { body?: unknown; headers?: Record<string, string>; client?: ApiClient } = {},
  ): Promise<Answer> {
    const { client = this.clients.analyst, body, headers } = more;
    return await client.post(`/api/incidents/${id}/triage`, body, headers);
  }

  async later(id: string, body: object = {}): Promise<Answer> {
    return await this.triage(id, { body, headers: { prefer: 'respond-async' } });
  }

  async read(id: string): Promise<Answer['body']> {
    return (await this.clients.viewer.get(`/api/incidents/${id}`)).body.data;
  }

  async update(id: string, body: object): Promise<Answer> {
    return await this.clients.analyst.put(`/api/incidents/${id}`, body);
  }

  async runs(id: string): Promise<Answer['body'][]> {
    return (await this.clients.viewer.get(`/api/incidents/${id}/triage`)).body.data;
  }

  async run(id: string, triageId: string): Promise<Answer['body']> {
    return (await this.clients.viewer.get(`/api/incidents/${id}/triage/${triageId}`)).body.data;
  }

  /** Waits until the newest run has one of these statuses, and returns it. */
  async until(id: string, ...statuses: readonly string[]): Promise<Answer['body']> {
    const [run] = await eventually(
      () => this.runs(id),
      ([newest]) => statuses.includes(newest?.status as string),
    );
    return run;
  }

  async timeline(id: string): Promise<{ event: string; summary: string; actor: string }[]> {
    return (await this.clients.viewer.get(`/api/incidents/${id}/timeline`)).body.data;
  }

  /** Records the event that requests triage of an incident. */
  async wantTriage(id: string, payload: object = {}): Promise<void> {
    await this.app.nest.get(Transactions).run((tx) =>
      this.app.nest.get(DomainEvents).record(tx, {
        type: INCIDENT_EVENTS.triageWanted,
        subject: { type: 'incident', id },
        payload,
      }),
    );
  }

  /** Waits until the detailed health shows this state of the provider. */
  async llm(expected: object): Promise<object> {
    return await eventually(
      async () => {
        return (await this.clients.viewer.get('/health/detailed')).body.components.llm as object;
      },
      (seen) => isDeepStrictEqual({ ...seen, ...expected }, seen),
    );
  }

  async held(): Promise<number> {
    return (await this.clients.viewer.get('/api/kill-switch')).body.data.held.triage_runs as number;
  }

  /** Ends the lease or the pause of the run of an incident. */
  async makeDue(id: string): Promise<void> {
    await this.database.query(
      `update work set due_at = now() - interval '1 ms'
        where ref = (select id from triage_runs where incident_id = $1 and status = 'queued') and not ready`,
      [id],
    );
  }

  /** Ends the pause of all runs. */
  async endPause(): Promise<void> {
    await this.database.query(
      'update work_lanes set paused_until = now() where reason is not null',
    );
  }

  /** Stops the work of a replica until `startWorkOf`, so that other replicas take all waiting work. */
  async stopWorkOf({ nest }: TestApp): Promise<void> {
    await nest.get(Work)['worker']['looking'].stop();
  }

  startWorkOf({ nest }: TestApp): void {
    nest.get(Work)['worker']['looking'].start();
  }
}
