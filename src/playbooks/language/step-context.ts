import type { Incident } from '../../incidents/incident.js';
import type { Members, Value } from './values.js';
import type { Root } from './expression.js';
import type { StepOutcome } from './playbook-definition.js';

/** Input of a run. */
export interface RunInput {
  /** Without an incident, `incident` and `verdict` are empty. */
  readonly incident?: Incident;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Outcomes of the earlier steps, by name. */
export type Outcomes = Readonly<Record<string, StepOutcome>>;

/** JSON values that expressions can read. */
export type Values = ReadonlyMap<Root, Value>;

/** Values that all steps of a run share. Raw data may be long, so it is parsed once. */
export function valuesOf({ incident, variables }: RunInput): Values {
  const { verdict, recommended_actions } = incident ?? {};
  return new Map<Root, Value>([
    ['incident', incident ? ofIncident(incident) : {}],
    ['variables', asJson(variables)],
    ['verdict', verdict ? asJson({ ...verdict, recommended_actions }) : {}],
  ]);
}

/** Adds the outcomes of the earlier steps. */
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

/** Numbers with so many digits, or with an exponent, may exceed the precision of JavaScript. */
const ODD_NUMBER = /\d{16}|\dE/i;
/** A JSON text or number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;
const WHOLE = /^-?\d+$/;

/** Parses JSON. A number that would change becomes the text of its digits. */
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
