import type { OpenAPIObject } from '@nestjs/swagger';
import { describeRequestBodies, nameSchemas } from './schemas.js';

const documentWith = (schemas: object): OpenAPIObject =>
  ({
    openapi: '3.0.3',
    info: { title: '', version: '' },
    paths: {},
    components: { schemas },
  }) as OpenAPIObject;

describe('nameSchemas', () => {
  it('takes the suffix of classes off schemas and off what refers to them', () => {
    const thing = { $ref: '#/components/schemas/ThingDto' };
    const named = nameSchemas(
      documentWith({ ThingDto: { type: 'object' }, ThingList: { type: 'array', items: thing } }),
    );
    expect(named.components?.schemas).toEqual({
      Thing: { type: 'object' },
      ThingList: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
    });
  });

  it('refuses to give one schema the name of another', () => {
    expect(() => nameSchemas(documentWith({ ThingDto: {}, Thing: {} }))).toThrow(/same name/);
  });
});

describe('describeRequestBodies', () => {
  it('says defaults of what is sent as sentences, and leaves those of answers', () => {
    const thing = { properties: { size: { type: 'integer', default: 3 } } };
    const document = documentWith({
      NewThing: {
        properties: {
          size: { type: 'integer', description: 'How large.', default: 3 },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Part' }, default: [] },
          name: { type: 'string' },
        },
      },
      Part: { properties: { kind: { type: 'string', default: 'plain' } } },
      Thing: thing,
    });
    const body = { $ref: '#/components/schemas/NewThing' };
    document.paths['/things'] = {
      post: { requestBody: { content: { 'application/json': { schema: body } } }, responses: {} },
    };
    describeRequestBodies(document);
    expect(document.components?.schemas).toEqual({
      NewThing: {
        additionalProperties: false,
        properties: {
          size: { type: 'integer', description: 'How large. Default: `3`.' },
          parts: {
            type: 'array',
            items: { $ref: '#/components/schemas/Part' },
            description: 'Default: `[]`.',
          },
          name: { type: 'string' },
        },
      },
      Part: {
        additionalProperties: false,
        properties: { kind: { type: 'string', description: 'Default: `plain`.' } },
      },
      Thing: thing,
    });
  });
});
