import type { FieldError } from '../platform/errors/app-error.js';
import type { PlaybookDefinition } from './playbook.js';

/** What of a definition cannot be saved, by the names of the fields in requests. */
export function definitionErrors(_definition: PlaybookDefinition): FieldError[] {
  return [];
}
