import type { FieldError } from '../../platform/errors/app-error.js';
import type { Alert } from '../reading/alert.js';
import type { Json } from '../reading/json.js';
import type { Mapping } from './mapping.js';

export function mappingProblems(mapping: unknown, field: string): FieldError[] {
  const pointers = Object.entries(mapping as object).filter(
    ([, value]) => typeof value === 'string',
  );
  return pointers
    .filter(([, value]) => !/^(\/|$)/.test(value as string))
    .map(([key]) => ({
      field: `${field}.${key}`,
      code: 'matches',
      message: `${field}.${key} must be a JSON pointer.`,
    }));
}

export function readByMapping(_mapping: Mapping, _body: Json): Alert[] | undefined {
  return undefined;
}
