import type { FieldError } from '../platform/errors/app-error.js';
import { parsePointer } from '../platform/json-pointer.js';
import type { Problem } from './language/playbook-definition.js';

/** The problems by the names that callers have for fields: `steps.2.parameters.message_id`. */
export function definitionErrors(problems: readonly Problem[]): FieldError[] {
  return problems.map(({ step, field, position, message }) => ({
    field: [...(step === undefined ? [] : ['steps', step]), ...(parsePointer(field) ?? [])].join(
      '.',
    ),
    ...(position
      ? { code: 'expression', message: `At character ${position.offset + 1}: ${message}` }
      : { code: 'playbook', message }),
  }));
}
