import { actionType } from '../../action-catalogue/action-types.js';
import { parameterErrors } from '../../action-catalogue/parameters.js';
import type { ActionResult, Parameters } from '../../actions/action.js';
import { defangForPeople } from '../../incidents/defang.js';
import type { Incident } from '../../incidents/incident.js';
import { isKept } from '../../platform/http/strict-json.js';
import { storable } from '../../platform/text.js';
import type { PlaybookStep } from '../playbook.js';
import {
  asTruth,
  ExpressionError,
  fail,
  isRaw,
  type Members,
  needs,
  type Node,
  type Placeholder,
  readTemplate,
  type Root,
  ROOTS,
  soleOf,
  TEMPLATE_ROOTS,
  textOf,
  UnknownResultError,
  type Value,
  withExpression,
} from './expression.js';
import { Interpreter, UNKNOWN_STEP } from './interpreter.js';

export interface RunInput {
  readonly incident?: Incident | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Outcomes of the earlier steps. `undefined` if a dry run does not take the step. */
export type Outcomes = Readonly<Record<string, { readonly result?: ActionResult } | undefined>>;

export type Values = ReadonlyMap<Root, Value>;

export const INCIDENT_TEXTS = [
  'id',
  'incident_number',
  'incident_type',
  'severity',
  'status',
  'source',
  'title',
  'resolution',
  'created_at',
  'updated_at',
  'triaged_at',
] as const satisfies (keyof Incident)[];

export function valuesOf({ incident, variables }: RunInput): Values {
  const { verdict, recommended_actions } = incident ?? {};
  return new Map<Root, Value>([
    ['incident', incident ? ofIncident(incident) : {}],
    ['variables', asJson(variables)],
    ['verdict', verdict ? asJson({ ...verdict, recommended_actions }) : {}],
  ]);
}

export function withOutcomes(values: Values, steps: Outcomes): Values {
  const entries = Object.entries(steps).map(
    ([name, outcome]) => [name, outcome ? asJson(outcome) : UNKNOWN_STEP] as const,
  );
  return new Map(values).set('steps', Object.fromEntries(entries));
}

function ofIncident(incident: Incident): Members {
  const texts = INCIDENT_TEXTS.map((name) => [name, incident[name] ?? undefined] as const);
  const plain = asJson(Object.fromEntries<unknown>([...texts, ['fields', incident.fields]]));
  return { ...plain, raw_data: exactly(incident.raw_data) };
}

function asJson(value: object): Members {
  return JSON.parse(JSON.stringify(value)) as Members;
}

type Parse = (
  text: string,
  reviver: (key: string, value: Value, context: { readonly source: string }) => Value,
) => Value;

/** Numbers that parsing may change. Only JSON with such numbers is parsed with a reviver, because a reviver is slow. */
const ODD_NUMBER = /\d{16}|\dE/i;

function exactly(json: string): Value {
  if (!ODD_NUMBER.test(json)) return JSON.parse(json) as Value;
  return (JSON.parse as Parse)(json, (_, value, { source }) => {
    return typeof value !== 'number' || isKept(source) ? value : source;
  });
}

/** `undecided`: a dry run lacks an outcome that the step reads. If only the condition reads it, `parameters` is present. */
export interface Decision {
  readonly kind: 'run' | 'skip' | 'error' | 'undecided';
  readonly parameters?: Parameters;
  readonly message?: string;
}

/** The same steps and values always give the same decision. */
export function decideStep(
  steps: readonly PlaybookStep[],
  position: number,
  values: Values,
): Decision {
  const { condition, action, parameters } = steps[position]!;
  const path = `steps.${position}`;
  const interpreter = new Interpreter(steps.length);
  let isUndecided = false;
  let field = `${path}.condition`;
  try {
    if (condition !== undefined) {
      const holds = truthOf(condition, (tree) => interpreter.value(tree, values));
      if (holds === false) return { kind: 'skip' };
      isUndecided = holds === undefined;
    }
    const type = actionType(action);
    const filled = Object.entries(parameters).map(([name, written]) => {
      field = `${path}.parameters.${name}`;
      if (typeof written !== 'string') return [name, written] as const;
      const isForPeople = type.parameters.some((one) => one.forPeople && one.name === name);
      const value = filledTemplate(written, isForPeople, values, interpreter);
      const isStorable = typeof value !== 'string' || storable(value) === value;
      if (!isStorable)
        fail('The value must not contain a NUL character or half of a surrogate pair.');
      return [name, value] as const;
    });
    const given = Object.fromEntries(filled.filter(([, value]) => value !== null));
    const [error] = parameterErrors(type, given);
    if (!error) return { kind: isUndecided ? 'undecided' : 'run', parameters: given };
    if (!isUndecided) return { kind: 'error', message: `${path}.${error.message}` };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    if (!isUndecided && !(error instanceof UnknownResultError)) {
      return { kind: 'error', message: error.inField(field).message };
    }
  }
  return { kind: 'undecided' };
}

function truthOf(expression: string, valueOf: (tree: Node) => Value): boolean | undefined {
  try {
    return withExpression({ expression, offset: 0 }, ROOTS, (tree) => asTruth(valueOf(tree)));
  } catch (error) {
    if (error instanceof UnknownResultError) return undefined;
    throw error;
  }
}

const LONGEST_PARAMETER = 8_192;

/** If the value is null, the parameter is omitted. */
function filledTemplate(
  text: string,
  isForPeople: boolean,
  given: Values,
  interpreter: Interpreter,
): string | number | null {
  const values = isForPeople ? withClassification(given) : given;
  const shown = isForPeople ? defangForPeople : (value: string) => value;
  const placed = <T>(placeholder: Placeholder, convert: (value: Value) => T) =>
    withExpression(placeholder, TEMPLATE_ROOTS, (tree) => {
      return { value: convert(interpreter.value(tree, values)), raw: isRaw(tree) };
    });
  const template = readTemplate(text);
  const sole = soleOf(template);
  if (sole) {
    const { value, raw } = placed(sole, whole);
    return typeof value === 'string' && !raw ? shown(value) : value;
  }
  let filled = '';
  // Joined text of adjacent placeholders, because together they may form an address.
  let foreign = '';
  for (const part of template) {
    const { value, raw } =
      typeof part === 'string' ? { value: part, raw: true } : placed(part, textOf);
    if (raw) filled += shown(foreign) + value;
    foreign = raw ? '' : foreign + value;
    if (filled.length + foreign.length > LONGEST_PARAMETER) {
      fail(`With its values this has more than ${LONGEST_PARAMETER} characters.`);
    }
  }
  return filled + shown(foreign);
}

/** Adds the classification, for texts for people only, so that a verdict cannot choose a target. */
function withClassification(values: Values): Values {
  const { classification } = values.get('verdict') as Members;
  const incident = values.get('incident') as Members;
  if (classification === undefined) return values;
  return new Map(values).set('incident', { ...incident, classification });
}

function whole(value: Value): string | number | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return typeof value === 'bigint' ? Number(value) : needs('a text or a number', value);
}
