import { Ajv, type ValidateFunction } from 'ajv';
import fc from 'fast-check';
import { ACTION_TYPES } from '../action-catalogue/action-types.js';
import { configProblems } from './config/config-check.js';
import type { ConfigSchema, ValueSchema } from './config/config-schema.js';
import { CONNECTOR_REQUEST_SCHEMAS } from './connector-request.openapi.js';
import { CONNECTOR_SCHEMAS } from './connector-schemas.js';

/** What OpenAPI 3.0 does not say: names by a pattern, values of two kinds; and how a parser of URLs reads an address. */
const UNSAID = ['unknown_field', 'object_or_string', 'is_url'];

const VALUE = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
  fc.string({ unit: fc.constantFrom(...'aA1-_.@/ ') }),
  fc.webUrl(),
  fc.constantFrom('', 'SEC', '//x', 'x'.repeat(9_000), 0, 25, 1.5, 70_000, null, true, false),
);

/** Something like what the schema says, wrong now and then. */
function valueOf(schema: ValueSchema): fc.Arbitrary<unknown> {
  if ('properties' in schema) return configOf(schema);
  if (schema.type === 'array') return fc.oneof(VALUE, fc.array(VALUE, { maxLength: 3 }));
  if (schema.type !== 'object') return VALUE;
  const names = fc.oneof(fc.constantFrom('a', 'A-b', 'block_ip', 'é '), fc.string());
  return fc.dictionary(names, valueOf(schema.additionalProperties), { maxKeys: 3 });
}

function configOf({ properties }: ConfigSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, valueOf(schema)] as const,
  );
  return fc.record(Object.fromEntries([...fields, ['evil', VALUE]]), { requiredKeys: [] });
}

describe('the schemas of requests for connectors', () => {
  const ajv = new Ajv({ strict: false, ownProperties: true, formats: { int32: true } });
  const known = { KnownActionType: { type: 'string', enum: ACTION_TYPES } };
  const schemas = { ...CONNECTOR_REQUEST_SCHEMAS, ...known };
  ajv.addSchema({ $id: 'contract', components: { schemas } });
  const schemaOf = (name: string): ValidateFunction =>
    ajv.compile({ $ref: `contract#/components/schemas/${name}` });
  const fits = schemaOf('NewConnector');

  it.each(Object.entries(CONNECTOR_SCHEMAS))(
    'say of %s what its configuration may be',
    (type, schema) => {
      fc.assert(
        fc.property(configOf(schema), (config) => {
          const codes = configProblems(schema, config, 'config').map(({ code }) => code);
          if (!fits({ name: 'x', type, config })) expect(codes).not.toEqual([]);
          else expect(codes.filter((code) => !UNSAID.includes(code))).toEqual([]);
        }),
      );
    },
  );

  it.each(['HttpConfig', 'HttpAction'])('say where %s is what a template may name', (name) => {
    const { description } = CONNECTOR_REQUEST_SCHEMAS[name]!;
    for (const root of ['parameters.<name>', 'secrets.<name>', 'action.id']) {
      expect(description).toContain(`{{ ${root} }}`);
    }
  });

  it('say of each field of a configuration what it is there, and not what its name means elsewhere', () => {
    const silent = Object.entries(CONNECTOR_SCHEMAS).flatMap(([type, { properties }]) =>
      Object.entries(properties)
        .filter(([, { description }]) => !description)
        .map(([field]) => `${type}.${field}`),
    );
    expect(silent).toEqual([]);
  });

  it('take no type that there is not, and nothing beside it', () => {
    const right = { name: 'x', type: 'sandbox', config: {} };
    expect(fits(right)).toBe(true);
    expect(fits({ ...right, priority: 1, enabled: false })).toBe(true);
    for (const wrong of [{ type: 'sandpit' }, { more: 1 }, { priority: -1 }, { config: [] }]) {
      expect(fits({ ...right, ...wrong })).toBe(false);
    }
  });
});
