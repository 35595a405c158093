import { variableErrors } from './playbook-run.js';

const DEFAULTS = {
  channel: '#soc',
  hours: 4,
  loud: false,
  people: ['alice'],
  limits: { most: 3 },
  note: null,
};

describe('variableErrors', () => {
  it.each([
    ['channel', '#night'],
    ['hours', 0.5],
    ['loud', true],
    ['people', []],
    ['limits', { other: 1 }],
    ['note', 'any type'],
  ])('accepts another value of the same type for %s', (name, value) => {
    expect(variableErrors(DEFAULTS, { [name]: value })).toEqual([]);
  });

  it.each([
    ['channel', 1, 'is_string'],
    ['hours', '4', 'is_number'],
    ['loud', 'true', 'is_boolean'],
    ['people', { 0: 'alice' }, 'is_array'],
    ['limits', [3], 'is_json_object'],
    ['limits', null, 'is_json_object'],
  ])('rejects a value of another type for %s: %j', (name, value, code) => {
    const errors = variableErrors(DEFAULTS, { [name]: value });
    expect(errors).toEqual([expect.objectContaining({ field: `variables.${name}`, code })]);
  });

  it.each(['other', 'toString', '__proto__', 'constructor'])(
    'rejects the unknown variable %s',
    (name) => {
      const given = JSON.parse(`{${JSON.stringify(name)}: "x"}`) as Record<string, unknown>;
      expect(variableErrors(DEFAULTS, given)).toMatchObject([{ code: 'unknown_field' }]);
    },
  );

  it('limits the length of all variables together', () => {
    const errors = variableErrors(DEFAULTS, { channel: 'x'.repeat(40_000) });
    expect(errors).toMatchObject([{ field: 'variables', code: 'max_length' }]);
  });
});
