import type { OpenAPIObject } from '@nestjs/swagger';
import { leaveOutNul } from './schemas.js';

const WITHOUT_NUL = '^[^\\x00]*$';

describe('leaveOutNul', () => {
  const text = () => ({ type: 'string' });
  const document = {
    openapi: '3.0.3',
    info: { title: '', version: '' },
    paths: {
      '/things': {
        get: { parameters: [{ in: 'query', name: 'next', schema: text() }], responses: {} },
        post: {
          security: [{ bearer: [] }],
          parameters: [
            { in: 'query', name: 'source', schema: text() },
            { in: 'path', name: 'id', schema: text() },
          ],
          requestBody: { content: { json: { schema: { $ref: '#/components/schemas/Thing' } } } },
          responses: { 200: { content: { json: { schema: text() } } } },
        },
      },
    },
    components: {
      schemas: {
        Thing: {
          type: 'object',
          example: { type: 'string' },
          properties: {
            name: text(),
            word: { type: 'string', format: 'password' },
            at: { type: 'string', format: 'date-time' },
            kind: { type: 'string', enum: ['a'] },
            parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
            labels: { type: 'object', additionalProperties: text() },
          },
        },
        Answer: text(),
      },
    },
  } as unknown as OpenAPIObject;

  it('says of each text that is sent that it has no NUL, unless more is said of it', () => {
    leaveOutNul(document);
    const found: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('pattern' in value && value.pattern === WITHOUT_NUL) found.push(path);
      for (const [key, child] of Object.entries(value)) walk(child, `${path}/${key}`);
    };
    walk(document, '');
    expect(found).toEqual([
      '/paths//things/post/parameters/0/schema',
      '/components/schemas/Thing/properties/name',
      '/components/schemas/Thing/properties/word',
      '/components/schemas/Thing/properties/labels/additionalProperties',
    ]);
  });
});
