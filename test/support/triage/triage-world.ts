import { isDeepStrictEqual } from 'node:util';
import { INCIDENT_EVENTS } from '../../../src/incidents/change-records.js';
import { Transactions } from '../../../src/platform/database/transactions.js';
import { DomainEvents } from '../../../src/platform/work/domain-events.js';
import type { UnavailableReason } from '../../../src/triage/model/model.errors.js';
import { ModelUnavailableError } from '../../../src/triage/model/model.errors.js';
import {
  type Judgement,
  type ProposedVerdict,
  TriageModel,
} from '../../../src/triage/model/triage-model.port.js';
import { RunQueue } from '../../../src/triage/runs/run-queue.js';
import type { Answer, ApiClient } from '../api-client.js';
import { eventually } from '../jobs/eventually.js';
import { lookOften } from '../jobs/look-often.js';
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
  mitreTechniques: ['T1566.002'],
  evidence: [{ source: 'raw_data', pointer: '/sender', value: RAW_DATA.sender }],
  recommendedActions: ['quarantine_email', 'block_sender'],
};

export function judgement(more: Partial<Judgement> = {}): Judgement {
  return {
    verdict: VERDICT,
    model: 'scripted-1',
    promptHash: 'ab'.repeat(32),
    tokens: { input: 100, output: 20 },
    toolCalls: [],
    ...more,
  };
}

export function unavailable(
  reason: UnavailableReason,
  extras: Partial<ModelUnavailableError['extras']> = {},
): ModelUnavailableError {
  return new ModelUnavailableError(reason, `The provider says ${reason}.`, {
    mayHelpLater: false,
    ...extras,
  });
}

/** Puts a script in the place of the configured model of a replica, and counts how often it is asked. */
export function script(app: TestApp, judge: Judge) {
  const asked = jest.fn<ReturnType<Judge>, Parameters<Judge>>(judge);
  Object.assign(app.nest.get(TriageModel), { judge: asked, usesTools: true });
  return asked;
}

/** A model that answers when it is told to. */
export function heldModel() {
  const begun = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Judgement>();
  const judge: Judge = () => {
    begun.resolve();
    return answer.promise;
  };
  return { judge, begun: begun.promise, answer };
}

/** Settings with which the kill switch holds triage; `script` keeps the provider from being asked. */
export const ASKING_OUTSIDE = { TRIAGE_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: 'key-of-a-test' };

/** Replicas on one database with scripted models, and a key of each role. */
export class TriageWorld extends World {
  static async start(
    settings: Readonly<Record<string, string>> = {},
    replicas = 1,
  ): Promise<TriageWorld> {
    const all = { TRIAGE_PROVIDER: 'rules', ACTION_LEASE_MS: '60000', ...settings };
    const world = new TriageWorld(...(await World.open(all, replicas)));
    world.replicas.forEach(lookOften);
    return world;
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

  /** The newest run, once it is in one of the states. */
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

  /** As whoever makes an incident wants it triaged. */
  async wantTriage(id: string, payload: object = {}): Promise<void> {
    await this.app.nest.get(Transactions).run((tx) =>
      this.app.nest.get(DomainEvents).record(tx, {
        type: INCIDENT_EVENTS.triageWanted,
        subject: { type: 'incident', id },
        payload,
      }),
    );
  }

  /** Waits until the detailed health shows this of the provider. */
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

  /** The time of the run of an incident has come: its lease, or its wait, is over. */
  async makeDue(id: string): Promise<void> {
    await this.database.query(
      `update triage_runs set lease_until = now() - interval '1 ms' where incident_id = $1`,
      [id],
    );
  }

  /** From now on nobody but the others works on what waits. */
  async stopQueueOf(app: TestApp): Promise<void> {
    await app.nest.get(RunQueue).beforeApplicationShutdown();
  }
}
