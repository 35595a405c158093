import { type FieldError, MOST_ERRORS } from '../platform/errors/app-error.js';
import { shownName } from '../platform/text.js';
import {
  type ActionParameter,
  FORMATS,
  hasFormat,
  LARGEST_NUMBER,
  LONGEST_TEXT,
} from '../action-catalogue/parameters.js';
import { hasFormatCharacter } from '../action-catalogue/target-forms.js';
import type { ActionType } from '../action-catalogue/action-types.js';

/** What is wrong with the parameters for an action of this type; nothing when they are right. */
export function parameterErrors(
  type: ActionType,
  parameters: Readonly<Record<string, unknown>>,
): FieldError[] {
  const unknown = Object.keys(parameters)
    .filter((name) => !type.parameters.some((parameter) => parameter.name === name))
    .slice(0, MOST_ERRORS)
    .map((name) => error(shownName(name), 'unknown_field', `is not a parameter of ${type.name}`));
  return [
    ...unknown,
    ...type.parameters.flatMap((parameter) => valueErrors(parameter, parameters)),
    ...targetErrors(type, parameters),
  ];
}

/** With an invisible character a protected target would pass for another one. */
function targetErrors(
  { target }: ActionType,
  parameters: Readonly<Record<string, unknown>>,
): FieldError[] {
  const value = target && parameters[target.parameter];
  if (typeof value !== 'string' || !hasFormatCharacter(value)) return [];
  const problem = 'must have no control, zero-width or direction characters';
  return [error(target!.parameter, 'format_character', problem)];
}

function valueErrors(
  parameter: ActionParameter,
  parameters: Readonly<Record<string, unknown>>,
): FieldError[] {
  const { name } = parameter;
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (value === undefined)
    return parameter.required ? [error(name, 'required', 'is required')] : [];
  if (parameter.type === 'integer') {
    const fits =
      typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= LARGEST_NUMBER;
    return fits
      ? []
      : [error(name, 'is_int', `must be a whole number from 1 to ${LARGEST_NUMBER}`)];
  }
  if (typeof value !== 'string') return [error(name, 'is_string', 'must be a string')];
  if (value.trim() === '') return [error(name, 'is_not_empty', 'must not be empty')];
  if (value.length > LONGEST_TEXT && [...value].length > LONGEST_TEXT)
    return [error(name, 'max_length', `must be at most ${LONGEST_TEXT} characters`)];
  if (parameter.values && !parameter.values.includes(value)) {
    return [error(name, 'is_in', `must be one of ${parameter.values.join(', ')}`)];
  }
  const { format } = parameter;
  if (format && !hasFormat(format, value)) {
    return [error(name, `is_${format}`, `must be ${FORMATS[format].words}`)];
  }
  return [];
}

function error(name: string, code: string, problem: string): FieldError {
  const field = `parameters.${name}`;
  return { field, code, message: `${field} ${problem}.` };
}
