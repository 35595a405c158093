import type { Incident } from '../../incidents/incident.js';
import type { Members, Value } from './evaluation/values.js';
import type { Root } from './expression.js';
import type { StepOutcome } from './playbook-definition.js';

/** What the expressions of a step may read. */
export interface StepContext {
  /** Absent when the run is about none; then nothing is in `incident` and `verdict`. */
  readonly incident?: Incident;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Of every earlier step, by its name. */
  readonly steps: Readonly<Record<string, StepOutcome>>;
}

/** The context as values: JSON, and nothing but JSON. */
export function valuesOf({ incident, variables, steps }: StepContext): Map<Root, Value> {
  const { verdict, recommendedActions } = incident ?? {};
  return new Map<Root, Value>([
    ['incident', incident ? ofIncident(incident) : {}],
    ['variables', asJson(variables)],
    ['steps', asJson(steps)],
    ['verdict', verdict ? asJson({ ...verdict, recommended_actions: recommendedActions }) : {}],
  ]);
}

function ofIncident(incident: Incident): Members {
  const plain = asJson({
    id: incident.id,
    incident_number: incident.incidentNumber,
    incident_type: incident.incidentType,
    severity: incident.severity,
    status: incident.status,
    source: incident.source,
    title: incident.title,
    resolution: incident.resolution,
    created_at: incident.createdAt,
    updated_at: incident.updatedAt,
    triaged_at: incident.triagedAt,
  });
  return { ...plain, raw_data: exactly(incident.rawData) };
}

function asJson(value: object): Members {
  return JSON.parse(JSON.stringify(value)) as Members;
}

/** A number of so many digits, or with an exponent, may be one that JSON numbers cannot hold. */
const ODD_NUMBER = /\d{16}|\dE/i;

function exactly(text: string): Value {
  if (!ODD_NUMBER.test(text)) return JSON.parse(text) as Value;
  return JSON.parse(text, (_key, value: Value, { source }) => {
    return typeof value === 'number' ? exactNumber(value, source!) : value;
  }) as Value;
}

const WHOLE = /^-?\d+$/;
const MOST_DIGITS = 18;

/** Whole numbers keep each digit: as a whole number of CEL, and when they are too large for it, as text. */
function exactNumber(value: number, source: string): Value {
  if (Number.isSafeInteger(value)) return value;
  if (!WHOLE.test(source)) return Number.isFinite(value) ? value : source;
  return source.length <= MOST_DIGITS ? BigInt(source) : source;
}

declare global {
  interface JSON {
    /** Node gives the reviver the text of each number; the types of TypeScript do not know it yet. */
    parse(
      text: string,
      reviver: (key: string, value: never, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}
