import type { ResponseObject } from '@nestjs/swagger';
import { ROLES } from '../access/roles.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../errors/error-catalogue.js';
import { SAME_KEY_UNDER_WAY } from './answers.js';
import { ERROR_SCHEMA, errorInWords, forbiddenBelow } from './operations.js';
import { pascal } from './schemas.js';

/** What an error says where its operation has no words of its own for it, and what it is called then. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...(Object.keys(ERROR_CATALOGUE) as ErrorCode[]).map(
    (code) => [errorInWords(code, {}), pascal(code)] as const,
  ),
  [errorInWords('conflict', { conflict: SAME_KEY_UNDER_WAY }), 'RequestUnderWay'],
  ...ROLES.flatMap((role) => [
    [
      errorInWords('forbidden', forbiddenBelow(role, 'get')),
      `${pascal(role)}ReadForbidden`,
    ] as const,
    [errorInWords('forbidden', forbiddenBelow(role, 'post')), `${pascal(role)}Forbidden`] as const,
  ]),
]);

/**
 * The name under which an error is shared: `ValidationErrorOrIdempotencyKeyReusedAnswer`. It follows from what the answer
 * says alone, so that no other operation changes its meaning. Undefined for an answer with words, a body or an example of
 * its own, which stays with its operation.
 */
export function nameOfError(status: string, response: ResponseObject): string | undefined {
  const { content = {}, description, headers = {} } = response;
  const { 'application/json': body, ...otherTypes } = content;
  if (!body || Object.keys(otherTypes).length > 0) return undefined;
  const { schema, examples = {} } = body as { schema?: object; examples?: object };
  if (JSON.stringify(schema) !== JSON.stringify(ERROR_SCHEMA)) return undefined;
  if (!Object.entries(examples).every(isOfTheCatalogue)) return undefined;
  const names = description.split('\n\n').map((words) => NAMES.get(words));
  if (names.includes(undefined)) return undefined;
  return `${names.join('Or')}Answer${endingOf(status, 'X-RateLimit-Limit' in headers)}`;
}

function isOfTheCatalogue([code, example]: [string, { readonly $ref?: string }]): boolean {
  return example.$ref === `#/components/examples/${code}`;
}

/** Who the caller is comes before how many requests it may make: a 401 usually has no limits, all else usually has. */
function endingOf(status: string, isLimited: boolean): string {
  if (isLimited === (status !== '401')) return '';
  return isLimited ? 'Limited' : 'Unlimited';
}
