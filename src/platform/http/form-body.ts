import { AppError, type FieldError, ValidationError } from '../errors/app-error.js';
import { shownName } from '../text.js';
import { type ReadBody, textOf } from './strict-json.js';

export const MOST_FIELDS = 100;

/** Reads the fields of an HTML form. As for JSON, every reader must read the same: no field twice, only UTF-8. */
export function readForm(bytes: Buffer): ReadBody {
  const text = textOf(bytes);
  try {
    decodeURIComponent(text);
  } catch (error) {
    throw new AppError('bad_request', 'The body is not a valid form.', { cause: error });
  }
  if (text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS) {
    const message = `The form has more than ${MOST_FIELDS} fields.`;
    return { value: undefined, problem: ValidationError.of('', 'too_many_fields', message) };
  }
  const value: Record<string, string> = {};
  const problems: FieldError[] = [];
  for (const [field, content] of new URLSearchParams(text)) {
    const report = (code: string, problem: string): void => {
      const name = shownName(field);
      problems.push({ field: name, code, message: `${name} ${problem}.` });
    };
    if (Object.hasOwn(value, field)) report('duplicate_key', 'is given more than once');
    if (field === '__proto__') report('forbidden_key', 'is not allowed as a key');
    else value[field] = content;
    if (`${field}${content}`.includes('\0')) report('nul_character', 'contains a NUL character');
  }
  return problems.length === 0 ? { value } : { value, problem: new ValidationError(problems) };
}
