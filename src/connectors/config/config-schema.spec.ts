import { type ConfigSchema, withDefaults } from './config-schema.js';

const SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: { type: 'string', maxLength: 100, default: 'https://vendor.example.com' },
    secure: { type: 'boolean', default: false },
    token: { type: 'string', maxLength: 100, writeOnly: true },
  },
  required: [],
  additionalProperties: false,
};

describe('withDefaults', () => {
  it('adds what a configuration leaves out, and changes nothing of what it has', () => {
    expect(withDefaults(SCHEMA, {})).toEqual({
      base_url: 'https://vendor.example.com',
      secure: false,
    });
    const config = { base_url: 'https://other.example.com', secure: true, token: 'x' };
    expect(withDefaults(SCHEMA, config)).toEqual(config);
  });
});
