import type { OpenAPIObject } from '@nestjs/swagger';
import { nameTitled, nameWords } from './components.js';

const documentWith = (schemas: object, paths: object = {}): OpenAPIObject =>
  ({
    openapi: '3.0.3',
    info: { title: 'Things', version: '1' },
    paths,
    components: { schemas },
  }) as OpenAPIObject;

const thingWith = (properties: object) => ({ Thing: { type: 'object', properties } });
const ID = { title: 'ThingId', type: 'string', format: 'uuid' };

function named(document: OpenAPIObject) {
  nameTitled(document);
  return document.components!.schemas as Record<string, Record<string, unknown>>;
}

describe('nameTitled', () => {
  it('makes one component of what has a title, and refers to it', () => {
    const parameter = { name: 'id', in: 'path', schema: ID };
    const document = documentWith(thingWith({ id: ID, ids: { type: 'array', items: ID } }), {
      '/things/{id}': { get: { parameters: [parameter] } },
    });
    const schemas = named(document);
    const reference = { $ref: '#/components/schemas/ThingId' };
    expect(schemas['ThingId']).toEqual({
      type: 'string',
      format: 'uuid',
      description: 'The id of one thing.',
    });
    expect(schemas['Thing']).toEqual(
      thingWith({ id: reference, ids: { type: 'array', items: reference } }).Thing,
    );
    expect(document.paths['/things/{id}']!.get!.parameters).toEqual([
      { ...parameter, schema: reference },
    ]);
  });

  it('leaves what is said of one place at that place', () => {
    const said = { description: 'The thing before it.', example: '1', default: '2' };
    const schemas = named(documentWith(thingWith({ before: { ...ID, ...said } })));
    expect(schemas['Thing']!['properties']).toEqual({
      before: { allOf: [{ $ref: '#/components/schemas/ThingId' }], ...said },
    });
  });

  it('leaves an example of a parameter beside its schema', () => {
    const parameter = { name: 'thing', in: 'query', schema: { ...ID, example: '1' } };
    const document = documentWith({}, { '/things': { get: { parameters: [parameter] } } });
    nameTitled(document);
    expect(document.paths['/things']!.get!.parameters).toEqual([
      { ...parameter, schema: { $ref: '#/components/schemas/ThingId' }, example: '1' },
    ]);
  });

  it('names what is within what it names', () => {
    const part = { title: 'Part', type: 'object', properties: { id: ID } };
    const schemas = named(documentWith(thingWith({ part })));
    expect(schemas['Part']!['properties']).toEqual({
      id: { $ref: '#/components/schemas/ThingId' },
    });
  });

  it('tells the words of a set that grows', () => {
    const word = { title: 'Word', type: 'string', 'x-extensible-enum': ['a', 'b'] };
    const schemas = named(documentWith(thingWith({ word })));
    expect(schemas['Word']!['description']).toBe('An open set: there will be more. Known: a, b.');
  });

  it('takes no title for a name that is a field or a value', () => {
    const example = { title: 'A title', type: 'a type' };
    const thing = { type: 'object', properties: { title: { type: 'string' } }, example };
    expect(named(documentWith({ Thing: thing }))).toEqual({ Thing: thing });
  });

  it('refuses one name for two schemas', () => {
    const other = { title: 'ThingId', type: 'string' };
    expect(() => named(documentWith(thingWith({ id: ID, other })))).toThrow(/Two different/);
    const taken = { ...thingWith({ id: ID }), ThingId: { type: 'string' } };
    expect(() => named(documentWith(taken))).toThrow(/Two schemas are called ThingId/);
  });
});

describe('nameWords', () => {
  it('names the words that are no identifiers, each otherwise', () => {
    const words = ['created_at', '-created_at', 'action.approved'];
    const document = documentWith({ Word: { type: 'string', enum: words } });
    nameWords(document);
    expect(document.components!.schemas!['Word']).toHaveProperty('x-enum-varnames', [
      'CreatedAt',
      'CreatedAtDesc',
      'ActionApproved',
    ]);
  });

  it('leaves words alone that are identifiers', () => {
    const document = documentWith({ Word: { type: 'string', enum: ['open', 'not_ready'] } });
    nameWords(document);
    expect(document.components!.schemas!['Word']).toEqual({
      type: 'string',
      enum: ['open', 'not_ready'],
    });
  });
});
