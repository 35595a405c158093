import { fieldsOfRawData } from '../../../src/incidents/incident-fields.js';
import { incidentTitle } from '../../../src/incidents/titles.js';
import { checkedVerdict } from '../../../src/triage/evidence/verdict-check.js';
import { extractIndicators } from '../../support/triage/extract-indicators.js';
import {
  type Judgement,
  type RunVerdict,
  TokenMeter,
  type TriageCase,
  type TriageModel,
} from '../../../src/triage/model/triage-model.port.js';
import type { Gate } from '../../../src/platform/net/outbound-request.js';
import { presetNamed } from '../../../src/webhooks/reading/formats.js';
import type { Json } from '../../../src/webhooks/reading/event-json.js';
import { openBody } from '../../../src/webhooks/reading/read-events.js';
import { SEVERITIES } from '../../../src/incidents/incident.js';
import type { EvalCase, GivenIncident, RawData } from './case-shape.js';

/** Permits every request, because an evaluation has no kill switch. */
const OPEN_GATE: Gate = {
  send: (request) =>
    request({ signal: new AbortController().signal, leave: () => Promise.resolve() }),
};

const CREATED_AT = new Date('2026-11-22T12:00:00Z');

export interface Judged {
  readonly verdict: RunVerdict;
  readonly judgement: Judgement & Pick<TokenMeter, 'tokens'>;
}

/**
 * Asks a model about a case, with the same steps before and after the model as a triage run. Tools are not offered,
 * because there are no other incidents and no vendors.
 */
export async function judgedAsInProduction(
  model: TriageModel,
  incident: EvalCase['incident'],
  rawData: RawData,
  signal: AbortSignal,
): Promise<Judged> {
  const read = triageCase(incident, rawData);
  const meter = new TokenMeter();
  const judgement = await model.judge(read, { tools: [], gate: OPEN_GATE, signal, meter });
  const sources = new Map<string, unknown>([
    ['raw_data', read.rawData],
    ['fields', read.fields],
  ]);
  const { verdict } = checkedVerdict(judgement.verdict, sources);
  return { verdict, judgement: { ...judgement, tokens: meter.tokens } };
}

/** Uses neutral ids, because the ids of the cases contain the expected verdict. */
function triageCase(incident: EvalCase['incident'], rawData: RawData): TriageCase {
  return {
    id: '00000000-0000-4000-8000-000000000001',
    incident_number: 'INC-2026-0001',
    created_at: CREATED_AT,
    ...('preset' in incident ? readByPreset(incident.preset, rawData) : asGiven(incident, rawData)),
  };
}

type ReadIncident = Omit<TriageCase, 'id' | 'incident_number' | 'created_at'>;

function asGiven(incident: GivenIncident, rawData: RawData): ReadIncident {
  const { incident_type, source } = incident;
  const fields = fieldsOfRawData(rawData);
  return {
    incident_type,
    severity: SEVERITIES.find((severity) => severity === incident.severity)!,
    source,
    title: incidentTitle(incident_type, rawData, source),
    rawData,
    fields,
    indicators: extractIndicators(rawData, fields),
  };
}

/** Reads the first event of a body, like a webhook source with this preset. */
function readByPreset(name: string, body: RawData): ReadIncident {
  const rules = { ...presetNamed(name)!, source: name, format: 'mapping' } as const;
  const read = openBody(rules, body as Json).read();
  if (typeof read === 'string') throw new Error(`${name}: ${read}`);
  const { incident, severity } = read[0]!;
  const rawData = JSON.parse(incident.raw_data) as RawData;
  return {
    incident_type: incident.incident_type,
    severity,
    source: name,
    title: incident.title,
    rawData,
    fields: incident.fields,
    indicators: extractIndicators(rawData, incident.fields),
  };
}
