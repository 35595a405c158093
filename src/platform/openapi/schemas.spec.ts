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
  it('should call schemas, and what refers to them, without the suffix of classes', () => {
    const thing = { $ref: '#/components/schemas/ThingDto' };
    const named = nameSchemas(
      documentWith({ ThingDto: { type: 'object' }, ThingList: { type: 'array', items: thing } }),
    );
    expect(named.components?.schemas).toEqual({
      Thing: { type: 'object' },
      ThingList: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
    });
  });

  it('should not let one schema take the name of another', () => {
    expect(() => nameSchemas(documentWith({ ThingDto: {}, Thing: {} }))).toThrow(/same name/);
  });
});
