import type { Settings } from '../../src/platform/config/settings.js';
import type { Departure, Gate } from '../../src/platform/net/outbound-request.js';
import { OutboundHttp } from '../../src/platform/net/outbound-http.js';
import { Resolver, Targets } from '../../src/platform/net/targets.js';
import { AnthropicModel } from '../../src/triage/model/anthropic/anthropic-model.js';
import type { AnthropicSettings } from '../../src/triage/model/anthropic/provider-requests.js';
import {
  type Judgement,
  type Judging,
  ModelUnavailableError,
  TokenMeter,
  type TriageCase,
} from '../../src/triage/model/triage-model.port.js';
import type { FakeMessagesApi } from './fake-messages-api.js';

/** No private target is permitted for connectors. The provider may be in a private network. */
const outbound = new OutboundHttp(
  new Targets(new Resolver(), { allowedPrivateTargets: [] } as unknown as Settings),
);

export const CASE: TriageCase = {
  id: '018f2c1e-0000-7000-8000-000000000001',
  incident_number: 'INC-2026-0001',
  incident_type: 'phishing',
  severity: 'high',
  source: 'mail-gateway',
  title: 'Invoice',
  created_at: new Date('2026-11-02T09:30:00Z'),
  rawData: { subject: 'Invoice', from: 'billing@example.net' },
  fields: {},
  indicators: [{ id: 'i1', type: 'email', value: 'billing@example.net', pointers: ['/from'] }],
};

/** Gate that permits requests until it is closed, and counts its calls. */
export class CountingGate implements Gate {
  asked = 0;
  refuseFrom = Infinity;
  refusal: unknown = new Error('the switch is on');
  whenAsked: (() => void) | undefined;
  private readonly signal = new AbortController().signal;

  send<T>(request: (departure: Departure) => Promise<T>): Promise<T> {
    const leave = async (): Promise<void> => {
      this.asked += 1;
      this.whenAsked?.();
      if (this.asked >= this.refuseFrom) throw this.refusal;
    };
    return request({ signal: this.signal, leave });
  }
}

export function modelAt(
  api: Pick<FakeMessagesApi, 'url' | 'key'>,
  more: Partial<AnthropicSettings> = {},
): AnthropicModel {
  const settings = {
    anthropicApiKey: api.key,
    anthropicBaseUrl: api.url,
    anthropicModel: 'claude-sonnet-5-5',
    triageTimeoutMs: 20_000,
  };
  return new AnthropicModel({ ...settings, ...more }, outbound);
}

export async function judge(
  model: AnthropicModel,
  more: Partial<Judging> = {},
): Promise<Judgement & Pick<TokenMeter, 'tokens'>> {
  const signal = new AbortController().signal;
  const meter = new TokenMeter();
  const usual = { tools: [], gate: new CountingGate(), signal, meter };
  const judgement = await model.judge(CASE, { ...usual, ...more });
  return { ...judgement, tokens: meter.tokens };
}

/** Returns the error of the model. Throws if there is none, or another error. */
export async function failureOf(judgement: Promise<unknown>): Promise<ModelUnavailableError> {
  const outcome: unknown = await judgement.catch((error: unknown) => error);
  if (outcome instanceof ModelUnavailableError) return outcome;
  throw new Error('The model did not fail as it should.', { cause: outcome });
}
