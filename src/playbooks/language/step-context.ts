import type { Incident } from '../../incidents/incident.js';
import type { Members, Value } from './values.js';
import type { Root } from './expression.js';
import type { StepOutcome } from './playbook-definition.js';

/** What a run is about. */
export interface RunInput {
  /** Absent when it is about no incident; then nothing is in `incident` and `verdict`. */
  readonly incident?: Incident;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What each step came to that is behind, by its name. */
export type Outcomes = Readonly<Record<string, StepOutcome>>;

/** What expressions may read: JSON, and nothing but JSON. */
export type Values = ReadonlyMap<Root, Value>;

/** What is the same for all steps of a run. Raw data may be long: it is read once for a run, and not for each step. */
export function valuesOf({ incident, variables }: RunInput): Values {
  const { verdict, recommended_actions } = incident ?? {};
  return new Map<Root, Value>([
    ['incident', incident ? ofIncident(incident) : {}],
    ['variables', asJson(variables)],
    ['verdict', verdict ? asJson({ ...verdict, recommended_actions }) : {}],
  ]);
}

/** The same, and what the steps before came to. */
export function withOutcomes(values: Values, steps: Outcomes): Values {
  return new Map(values).set('steps', asJson(steps));
}

function ofIncident(incident: Incident): Members {
  const plain = asJson({
    id: incident.id,
    incident_number: incident.incident_number,
    incident_type: incident.incident_type,
    severity: incident.severity,
    status: incident.status,
    source: incident.source,
    title: incident.title,
    resolution: incident.resolution ?? undefined,
    created_at: incident.created_at,
    updated_at: incident.updated_at,
    triaged_at: incident.triaged_at ?? undefined,
  });
  return { ...plain, fields: asJson(incident.fields), raw_data: exactly(incident.raw_data) };
}

function asJson(value: object): Members {
  return JSON.parse(JSON.stringify(value)) as Members;
}

/** A number of so many digits, or with an exponent, may be one that JSON numbers cannot hold. */
const ODD_NUMBER = /\d{16}|\dE/i;
/** A text or a number of JSON. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;
const WHOLE = /^-?\d+$/;

/** The value of JSON. A number that would become another one is the text of its digits instead. */
function exactly(json: string): Value {
  const kept = ODD_NUMBER.test(json) ? json.replace(TOKEN, keptToken) : json;
  return JSON.parse(kept) as Value;
}

function keptToken(token: string): string {
  if (token.startsWith('"')) return token;
  const number = Number(token);
  const changed = WHOLE.test(token) ? !Number.isSafeInteger(number) : !Number.isFinite(number);
  return changed ? `"${token}"` : token;
}
