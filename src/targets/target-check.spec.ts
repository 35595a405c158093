import { configProblems } from './target-check.js';
import type { ConfigSchema } from './target-config.js';

const TEXT = { type: 'string', maxLength: 10 } as const;

const SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    url: { type: 'string', format: 'uri', maxLength: 100 },
    key: { ...TEXT, minLength: 2, writeOnly: true },
    method: { ...TEXT, enum: ['GET', 'POST'] },
    path: { ...TEXT, pattern: '^/' },
    port: { type: 'integer', minimum: 1, maximum: 65_535, default: 443 },
    secure: { type: 'boolean' },
    codes: {
      type: 'array',
      items: { type: 'integer', minimum: 200, maximum: 599 },
      minItems: 1,
      maxItems: 3,
      uniqueItems: true,
    },
    body: { type: ['object', 'string'] },
    headers: {
      type: 'object',
      propertyNames: { pattern: '^[a-z-]{1,100}$' },
      additionalProperties: TEXT,
      maxProperties: 2,
      writeOnly: true,
    },
    actions: {
      type: 'object',
      propertyNames: { enum: ['block', 'allow'] },
      additionalProperties: {
        type: 'object',
        properties: { path: TEXT },
        required: ['path'],
        additionalProperties: false,
      },
      minProperties: 1,
      maxProperties: 2,
    },
  },
  required: ['url'],
  additionalProperties: false,
};

const problems = (config: unknown) => configProblems(SCHEMA, config);
const inField = (config: object) => problems({ url: 'https://vendor.example', ...config });

describe('configProblems', () => {
  it('accepts a valid configuration', () => {
    const whole = {
      key: 'k2',
      method: 'GET',
      path: '/a',
      port: 65_535,
      secure: false,
      codes: [200, 599],
      body: { anything: [null, { a: 1 }] },
      headers: { 'x-a': '', 'x-b': '' },
      actions: { block: { path: '/' } },
    };
    expect(inField(whole)).toEqual([]);
    expect(inField({ body: 'text', headers: {} })).toEqual([]);
  });

  it.each<readonly [string, object, string, string, string]>([
    ['a number for a text', { key: 1 }, 'config.key', 'is_string', 'must be a string'],
    ['null', { key: null }, 'config.key', 'is_string', 'must be a string'],
    ['a short text', { key: 'x' }, 'config.key', 'length', 'must have 2 to 10 characters'],
    [
      'a long text',
      { path: 'x'.repeat(11) },
      'config.path',
      'length',
      'must have 0 to 10 characters',
    ],
    [
      'a word that is not in the list',
      { method: 'get' },
      'config.method',
      'is_in',
      'must be one of GET, POST',
    ],
    ['a number for a word', { method: 1 }, 'config.method', 'is_string', 'must be a string'],
    [
      'a text that does not match the pattern',
      { path: 'a' },
      'config.path',
      'matches',
      'must match ^/',
    ],
    [
      'a relative address',
      { url: 'vendor' },
      'config.url',
      'is_url',
      'must be an absolute address',
    ],
    [
      'another scheme',
      { url: 'ftp://vendor.example' },
      'config.url',
      'is_url',
      'must be an https or http address',
    ],
    [
      'an address with a password',
      { url: 'https://u:p@vendor.example' },
      'config.url',
      'is_url',
      'must have no user, password, query or fragment',
    ],
    ...[0, 65_536, 1.5, '1', true].map(
      (port) =>
        [
          `a port that is ${JSON.stringify(port)}`,
          { port },
          'config.port',
          'is_int',
          'must be a whole number from 1 to 65535',
        ] as const,
    ),
    [
      'a text for a boolean',
      { secure: 'no' },
      'config.secure',
      'is_boolean',
      'must be true or false',
    ],
    ['an empty list', { codes: [] }, 'config.codes', 'size', 'must have 1 to 3 entries'],
    ['an object for a list', { codes: {} }, 'config.codes', 'is_array', 'must be a list'],
    [
      'a long list',
      { codes: [200, 201, 202, 203] },
      'config.codes',
      'size',
      'must have 1 to 3 entries',
    ],
    [
      'a duplicate entry',
      { codes: [200, 200] },
      'config.codes',
      'unique',
      'must not contain duplicates',
    ],
    [
      'a wrong entry',
      { codes: [200, 7] },
      'config.codes.1',
      'is_int',
      'must be a whole number from 200 to 599',
    ],
    [
      'a list for an object or a text',
      { body: [] },
      'config.body',
      'object_or_string',
      'must be an object or a string',
    ],
    [
      'a list for an object',
      { headers: [] },
      'config.headers',
      'is_json_object',
      'must be an object',
    ],
    [
      'too many names',
      { headers: { a: '', b: '', c: '' } },
      'config.headers',
      'size',
      'must have 0 to 2 entries',
    ],
    ['an empty map', { actions: {} }, 'config.actions', 'size', 'must have 1 to 2 entries'],
    [
      'a name against the pattern',
      { headers: { 'X A': '' } },
      'config.headers.X A',
      'unknown_field',
      'is not a known name',
    ],
    [
      'a name that is not in the list',
      { actions: { explode: { path: '/' } } },
      'config.actions.explode',
      'unknown_field',
      'is not a known name',
    ],
    [
      'a wrong value of a name',
      { headers: { 'x-a': 7 } },
      'config.headers.x-a',
      'is_string',
      'must be a string',
    ],
    [
      'a missing field within',
      { actions: { block: {} } },
      'config.actions.block.path',
      'required',
      'is required',
    ],
    ['an unknown field', { other: 1 }, 'config.other', 'unknown_field', 'is not a known field'],
    [
      'a name that every object inherits',
      { constructor: 1 },
      'config.constructor',
      'unknown_field',
      'is not a known field',
    ],
  ])('names field, code and rule for %s', (_, config, field, code, rule) => {
    expect(inField(config)).toEqual([{ field, code, message: `${field} ${rule}.` }]);
  });

  it('reports a missing field, and a configuration that is not an object', () => {
    expect(problems({})).toEqual([
      { field: 'config.url', code: 'required', message: 'config.url is required.' },
    ]);
    expect(problems('text')).toEqual([
      { field: 'config', code: 'is_json_object', message: 'config must be an object.' },
    ]);
  });

  it('names every invalid field once: first missing fields, then unknown fields, then other fields', () => {
    const wrong = { path: 'a text that is too long', other: 1, port: 0, headers: { 'A B': 7 } };
    expect(problems(wrong).map(({ field, code }) => `${field} ${code}`)).toEqual([
      'config.url required',
      'config.other unknown_field',
      'config.path length',
      'config.port is_int',
      'config.headers.A B unknown_field',
    ]);
  });

  it('cuts long names', () => {
    const [long] = inField({ ['x'.repeat(5_000)]: 1 });
    expect(long).toMatchObject({ field: `config.${'x'.repeat(100)}` });
  });

  it('shows no value of the configuration, because values may be secrets', () => {
    const secret = 'hidden-value';
    const config = { url: secret, key: secret, headers: { 'x-a': secret }, path: secret };
    expect(JSON.stringify(problems(config))).not.toContain(secret);
  });

  it('shows a name with the special characters of JSON pointers unchanged', () => {
    const found = inField({ body: '', 'a/b~c': 1 });
    expect(found).toMatchObject([{ field: 'config.a/b~c' }]);
  });
});
