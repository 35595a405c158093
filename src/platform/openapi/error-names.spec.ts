import type { ResponseObject } from '@nestjs/swagger';
import { nameOfError } from './error-names.js';

const LIMITED = { 'X-RateLimit-Limit': { $ref: '#/components/headers/XRateLimitLimit' } };

function answer(code: string, meaning: string, body: object = {}): ResponseObject {
  const schema = { $ref: '#/components/schemas/ErrorEnvelope' };
  const examples = { [code]: { $ref: `#/components/examples/${code}` } };
  return {
    description: `\`${code}\`: ${meaning}`,
    headers: LIMITED,
    content: { 'application/json': { schema, examples, ...body } },
  };
}

const NOT_FOUND = ['not_found', 'The resource does not exist.'] as const;
const BELOW_ADMIN = 'The role is below `admin`';
const SITE =
  "a request with a session's cookie comes from another site, or does not say where it comes from";

describe('nameOfError', () => {
  it.each([
    ['NotFoundAnswer', '404', answer(...NOT_FOUND)],
    ['NotFoundAnswerUnlimited', '404', { ...answer(...NOT_FOUND), headers: {} }],
    ['AdminReadForbiddenAnswer', '403', answer('forbidden', `${BELOW_ADMIN}.`)],
    ['AdminForbiddenAnswer', '403', answer('forbidden', `${BELOW_ADMIN}, or ${SITE}.`)],
    [
      'RequestUnderWayAnswer',
      '409',
      answer('conflict', 'A request with the same Idempotency-Key is still under way.'),
    ],
  ])('says %s', (name, status, response) => {
    expect(nameOfError(status, response)).toBe(name);
  });

  it('counts the limits of a 401 the other way round, since it comes before them', () => {
    const meaning = 'No, an unknown, an expired or a revoked key or session.';
    const unauthorized = answer('unauthorized', meaning);
    expect(nameOfError('401', { ...unauthorized, headers: {} })).toBe('UnauthorizedAnswer');
    expect(nameOfError('401', unauthorized)).toBe('UnauthorizedAnswerLimited');
  });

  it.each([
    ['words', answer('not_found', 'There is no such playbook.')],
    ['an example', answer(...NOT_FOUND, { examples: { not_found: { value: {} } } })],
    ['a body', answer(...NOT_FOUND, { schema: { $ref: '#/components/schemas/HealthOrError' } })],
    ['no body', { description: answer(...NOT_FOUND).description }],
    [
      'a page',
      {
        ...answer(...NOT_FOUND),
        content: { ...answer(...NOT_FOUND).content, 'text/html': {} },
      },
    ],
  ])('names none that has %s of its own', (_what, response) => {
    expect(nameOfError('404', response)).toBeUndefined();
  });
});
