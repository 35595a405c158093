import { Ajv, type ValidateFunction } from 'ajv';
import fc from 'fast-check';
import { type ActionType, actionTypes } from '../../src/action-catalogue/action-types.js';
import { parameterErrors } from '../../src/action-catalogue/parameters.js';
import { readContract } from '../support/contract-check-document.js';

/** Errors that no schema can express, because they depend on a URL parser or on invisible characters beyond ASCII. */
const UNSAID = ['is_url', 'is_domain', 'is_email', 'format_character'];

const VALUE = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.domain(),
  fc.webUrl(),
  fc.emailAddress(),
  // The service rejects NUL before it reads the action type.
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
  fc.string({ unit: fc.constantFrom(...':.0aF1%/@-_ ') }),
  fc.constantFrom('quick', 'full', '', ' ', '\n', 'a\n', '::', '1::2:3.4.5.6', 'a.xn--0.b'),
  fc.constantFrom('x'.repeat(4_096), '\u{1f600}'.repeat(4_096), 'x'.repeat(4_097)),
  fc.constantFrom(0, 1, 1.5, 2_147_483_647, 2_147_483_648, null, true),
  fc.constant([]),
);

/** Generates any of the parameters of the type, and sometimes an unknown parameter. */
const parametersOf = ({ parameters }: ActionType) =>
  fc.record(
    Object.fromEntries([...parameters.map(({ name }) => [name, VALUE] as const), ['evil', VALUE]]),
    { requiredKeys: [] },
  );

describe('the schemas of action requests', () => {
  const ajv = new Ajv({ strict: false, formats: { int32: true } });
  const { components } = readContract();
  ajv.addSchema({ $id: 'contract', components });
  const schemaOf = (name: string): ValidateFunction =>
    ajv.compile({ $ref: `contract#/components/schemas/${name}` });
  const fits = schemaOf('ActionRequest');

  it.each(actionTypes().map((type) => [type.name, type] as const))(
    'accept the same parameters of %s as parameterErrors',
    (action, type) => {
      fc.assert(
        fc.property(parametersOf(type), (parameters) => {
          const codes = parameterErrors(type, parameters).map(({ code }) => code);
          if (fits({ action, parameters }))
            expect(codes.filter((code) => !UNSAID.includes(code))).toEqual([]);
          else expect(codes).not.toEqual([]);
        }),
        { numRuns: 300 },
      );
    },
  );

  it('reject unknown types and fields', () => {
    const parameters = { ip: '203.0.113.4' };
    expect(fits({ action: 'block_ip', parameters })).toBe(true);
    expect(fits({ action: 'block_it', parameters })).toBe(false);
    expect(fits({ action: 'block_ip', parameters, more: 1 })).toBe(false);
    expect(fits({ action: 'block_ip' })).toBe(false);
  });
});
