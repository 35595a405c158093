import { NotFoundError } from '../platform/errors/app-error.js';
import { isUuid } from '../platform/ids.js';
import { type FieldOptions, Text } from '../platform/validation/fields.js';

const PREFIX = 'act-';

const PATTERN = '^act-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
export const ACTION_ID_EXAMPLE = 'act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

/** The id of an action as answers show it. */
export const ActionId = (options: FieldOptions = {}) =>
  Text({
    example: ACTION_ID_EXAMPLE,
    ...options,
    contract: { title: 'ActionId', pattern: PATTERN },
  });

export function shownActionId(id: string): string {
  return `${PREFIX}${id}`;
}

/** A malformed id is the id of nothing. */
export function actionIdOf(shown: string): string {
  const id = shown.startsWith(PREFIX) ? shown.slice(PREFIX.length) : '';
  if (!isUuid(id)) throw new NotFoundError('Action');
  return id.toLowerCase();
}
