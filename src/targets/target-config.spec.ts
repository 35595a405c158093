import { changeConfig, type ConfigSchema, withDefaults } from './target-config.js';

const SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: { type: 'string', maxLength: 100, default: 'https://vendor.example.com' },
    secure: { type: 'boolean', default: false },
    token: { type: 'string', maxLength: 100, writeOnly: true },
    headers: {
      type: 'object',
      propertyNames: { pattern: '^' },
      additionalProperties: { type: 'string', maxLength: 100 },
      maxProperties: 9,
      writeOnly: true,
      'x-ignore-case': true,
    },
    secrets: {
      type: 'object',
      propertyNames: { pattern: '^' },
      additionalProperties: { type: 'string', maxLength: 100 },
      maxProperties: 9,
      writeOnly: true,
    },
  },
  required: [],
  additionalProperties: false,
};

describe('withDefaults', () => {
  it('adds defaults for absent fields, and changes nothing else', () => {
    expect(withDefaults(SCHEMA, {})).toEqual({
      base_url: 'https://vendor.example.com',
      secure: false,
    });
    const config = { base_url: 'https://other.example.com', secure: true, token: 'x' };
    expect(withDefaults(SCHEMA, config)).toEqual(config);
  });
});

describe('changeConfig', () => {
  const before = { headers: { 'X-A': '1', 'x-b': '2' }, secrets: { Token: '3', constructor: '4' } };

  it('ignores upper and lower case in a name only if the map does', () => {
    const change = {
      headers: { 'x-a': '5', 'X-B': null, constructor: '6' },
      secrets: { token: '7', CONSTRUCTOR: null },
    };
    expect(changeConfig(SCHEMA, before, change)).toEqual({
      headers: { 'x-a': '5', constructor: '6' },
      secrets: { Token: '3', constructor: '4', token: '7' },
    });
  });

  it('removes an optional field that is null, and leaves null in a required field for the check to reject', () => {
    const schema: ConfigSchema = { ...SCHEMA, required: ['secure'] };
    const whole = { ...before, secure: true, token: 'abc', base_url: 'https://a.example.com' };
    const change = { headers: null, token: null, base_url: null, secure: null, constructor: null };
    expect(changeConfig(schema, whole, change)).toEqual({
      secrets: before.secrets,
      secure: null,
      constructor: null,
    });
  });
});
