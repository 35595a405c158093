import { breakingChanges } from '../../scripts/contract/compare.js';
import type { OpenApiDocument } from '../../scripts/contract/document.js';

const CREATE = ['paths', '/api/things', 'post'];
const SCHEMAS = ['components', 'schemas'];

const content = (name: string) => ({
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
});

/** A small contract: one operation that sends a NewThing and receives a Thing. */
const draft = () => ({
  paths: {
    '/api/things': {
      post: {
        operationId: 'createThing',
        security: [{ bearer: [] }, { session: [] }],
        parameters: [{ name: 'dry', in: 'query', required: false, schema: { type: 'boolean' } }],
        requestBody: content('NewThing'),
        responses: { 201: content('Thing'), 422: content('Error') },
      },
    },
  },
  components: {
    schemas: {
      NewThing: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', maxLength: 20 },
          sizes: { type: 'string', pattern: '^(s|m)(,(s|m)){0,1}$' },
          size: { $ref: '#/components/schemas/Size' },
        },
      },
      Thing: {
        type: 'object',
        required: ['id'],
        properties: { id: { type: 'string', format: 'uuid' }, note: { type: 'string' } },
      },
      Size: { type: 'string', enum: ['small', 'large'] },
      Error: { type: 'object' },
    },
  },
});

/** The contract with the value at a path replaced, or taken out where there is none to put. */
function contract(path: readonly (string | number)[] = [], value?: unknown): OpenApiDocument {
  const document: unknown = draft();
  const last = path.at(-1);
  if (last === undefined) return document as OpenApiDocument;
  const parent = path
    .slice(0, -1)
    .reduce((part, key) => (part as Record<string, unknown>)[key], document);
  if (value === undefined) delete (parent as Record<string, unknown>)[last];
  else (parent as Record<string, unknown>)[last] = value;
  return document as OpenApiDocument;
}

describe('the comparison of contracts', () => {
  it('finds nothing between equal ones', () => {
    expect(breakingChanges(contract(), contract())).toEqual([]);
  });

  it.each<[string, (string | number)[], unknown]>([
    ['operation-removed createThing POST /api/things', [...CREATE, 'operationId'], 'addThing'],
    ['operation-removed createThing POST /api/things', ['paths'], {}],
    ['success-status-removed createThing 201', [...CREATE, 'responses', 201], undefined],
    ['parameter-removed createThing query dry', [...CREATE, 'parameters'], []],
    ['parameter-required createThing query dry', [...CREATE, 'parameters', 0, 'required'], true],
    ['body-required createThing', [...CREATE, 'requestBody', 'required'], true],
    ['security-removed createThing session', [...CREATE, 'security'], [{ bearer: [] }]],
    ['schema-removed Error', [...SCHEMAS, 'Error'], undefined],
    ['property-removed Thing.note', [...SCHEMAS, 'Thing', 'properties', 'note'], undefined],
    ['property-optional Thing.id', [...SCHEMAS, 'Thing', 'required'], []],
    ['property-required NewThing.size', [...SCHEMAS, 'NewThing', 'required'], ['name', 'size']],
    ['enum-value-removed Size=large', [...SCHEMAS, 'Size', 'enum'], ['small']],
    [
      'limit-narrowed NewThing.name maxLength',
      [...SCHEMAS, 'NewThing', 'properties', 'name', 'maxLength'],
      10,
    ],
    [
      'pattern-changed NewThing.sizes',
      [...SCHEMAS, 'NewThing', 'properties', 'sizes', 'pattern'],
      '^(s|l)(,(s|l)){0,2}$',
    ],
    ['format-changed Thing.id', [...SCHEMAS, 'Thing', 'properties', 'id', 'format'], 'uri'],
  ])('finds %s', (change, path, value) => {
    expect(breakingChanges(contract(), contract(path, value))).toContain(change);
  });

  it.each<[string, (string | number)[], unknown]>([
    ['an address', ['paths', '/api/new'], {}],
    ['a property to send', [...SCHEMAS, 'NewThing', 'properties', 'more'], { type: 'string' }],
    ['a property to receive', [...SCHEMAS, 'Thing', 'properties', 'more'], { type: 'string' }],
    ['an error', [...CREATE, 'responses', 409], content('Error')],
    ['a value to an enum', [...SCHEMAS, 'Size', 'enum'], ['small', 'large', 'huge']],
    [
      'a word to a list',
      [...SCHEMAS, 'NewThing', 'properties', 'sizes', 'pattern'],
      '^(s|m|l)(,(s|m|l)){0,2}$',
    ],
    ['room', [...SCHEMAS, 'NewThing', 'properties', 'name', 'maxLength'], 100],
    ['a promise', [...SCHEMAS, 'Thing', 'required'], ['id', 'note']],
  ])('lets %s be added', (_what, path, value) => {
    expect(breakingChanges(contract(), contract(path, value))).toEqual([]);
  });
});
