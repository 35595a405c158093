import type { FieldError } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';

type Variables = Readonly<Record<string, unknown>>;

/** Maximum characters of the variables of a request, as JSON. */
export const LONGEST_VARIABLES = 32_768;

const KINDS = {
  string: ['is_string', 'a string'],
  number: ['is_number', 'a number'],
  boolean: ['is_boolean', 'true or false'],
  array: ['is_array', 'a list'],
  object: ['is_json_object', 'an object'],
} as const;

/** Returns the errors of the given variables. A run can override variables of its playbook, but not their types. */
export function variableErrors(defaults: Variables, given: Variables): FieldError[] {
  if (JSON.stringify(given).length > LONGEST_VARIABLES) {
    const message = `variables must be at most ${LONGEST_VARIABLES} characters as JSON.`;
    return [{ field: 'variables', code: 'max_length', message }];
  }
  return Object.keys(given).flatMap((name) => errorOf(name, defaults, given[name]));
}

function errorOf(name: string, defaults: Variables, value: unknown): FieldError[] {
  const field = `variables.${shownName(name)}`;
  if (!Object.hasOwn(defaults, name)) {
    const message = `${field} is not a variable of the playbook.`;
    return [{ field, code: 'unknown_field', message }];
  }
  const kind = kindOf(defaults[name]);
  // The type of a variable without a value is unknown.
  if (!kind || kindOf(value) === kind) return [];
  const [code, inWords] = KINDS[kind];
  return [{ field, code, message: `${field} must be ${inWords}, as it is in the playbook.` }];
}

function kindOf(value: unknown): keyof typeof KINDS | undefined {
  if (value === null) return undefined;
  return Array.isArray(value) ? 'array' : (typeof value as keyof typeof KINDS);
}
