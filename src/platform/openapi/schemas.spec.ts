import type { OpenAPIObject } from '@nestjs/swagger';
import { nameSchemas } from './schemas.js';

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
