import { Ajv } from 'ajv';
import fc from 'fast-check';
import { configProblems } from '../../src/targets/target-check.js';
import {
  type ConfigSchema,
  isFields,
  isMap,
  type ValueSchema,
} from '../../src/targets/target-config.js';
import { CONNECTOR_TYPES } from '../../src/connectors/connector-registry.js';
import { CHANNEL_TYPES } from '../../src/notifications/channel.js';
import { readContract } from '../support/contract-check-document.js';

/** Rules that OpenAPI 3.0 cannot express: patterns for names, union types, and the parser of addresses. */
const INEXPRESSIBLE = ['unknown_field', 'object_or_string', 'is_url'];

const VALUE = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
  fc.string({ unit: fc.constantFrom(...'aA1-_.@/ ') }),
  fc.webUrl(),
  fc.constantFrom('', 'SEC', '//x', 'x'.repeat(9_000), 0, 25, 1.5, 70_000, null, true, false),
);

/** Values that fit the schema or almost fit. */
function valueOf(schema: ValueSchema): fc.Arbitrary<unknown> {
  if (isFields(schema)) return configOf(schema);
  if (schema.type === 'array') return fc.oneof(VALUE, fc.array(VALUE, { maxLength: 3 }));
  if (!isMap(schema)) return VALUE;
  const names = fc.oneof(fc.constantFrom('a', 'A-b', 'block_ip', 'é '), fc.string());
  return fc.dictionary(names, valueOf(schema.additionalProperties), { maxKeys: 3 });
}

function configOf({ properties }: ConfigSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, valueOf(schema)] as const,
  );
  return fc.record(Object.fromEntries([...fields, ['evil', VALUE]]), { requiredKeys: [] });
}

const ajv = new Ajv({ strict: false, ownProperties: true, formats: { int32: true } });

const { components } = readContract();
ajv.addSchema({ $id: 'contract', components });

/** Validates a body like a client that knows the contract. */
const contractOf = (union: string) =>
  ajv.compile({ $ref: `contract#/components/schemas/${union}` });

const CONNECTOR = 'ConnectorInput';
const CHANNEL = 'NotificationChannelInput';

describe.each([
  {
    union: CONNECTOR,
    configs: CONNECTOR_TYPES.all.map(({ name, config }) => [name, config] as const),
    right: { name: 'x', type: 'sandbox', config: {} },
  },
  {
    union: CHANNEL,
    configs: CHANNEL_TYPES.all.map(({ name, config }) => [name, config] as const),
    right: { name: 'x', type: 'webhook', config: { url: 'https://hooks.example.com/?of=soc' } },
  },
])('the schemas of $union', ({ union, configs, right }) => {
  const fits = contractOf(union);

  it.each(configs)('accept the same configurations of %s as the service', (type, schema) => {
    fc.assert(
      fc.property(configOf(schema), (config) => {
        const codes = configProblems(schema, config).map(({ code }) => code);
        if (!fits({ name: 'x', type, config })) expect(codes).not.toEqual([]);
        else expect(codes.filter((code) => !INEXPRESSIBLE.includes(code))).toEqual([]);
      }),
    );
  });

  it('describe each field of a configuration', () => {
    const undescribed = configs.flatMap(([type, { properties }]) =>
      Object.entries(properties)
        .filter(([, { description }]) => !description)
        .map(([field]) => `${type}.${field}`),
    );
    expect(undescribed).toEqual([]);
  });

  it('reject unknown types and unknown fields', () => {
    expect(fits(right)).toBe(true);
    expect(fits({ ...right, enabled: false })).toBe(true);
    for (const wrong of [{ type: 'sandpit' }, { more: 1 }, { enabled: 1 }, { config: [] }]) {
      expect(fits({ ...right, ...wrong })).toBe(false);
    }
  });
});

describe('the schemas of requests by type', () => {
  it.each([
    {
      union: CONNECTOR,
      least: { type: 'sandbox', config: {} },
      good: { priority: 1 },
      bad: { priority: -1 },
    },
    {
      union: CHANNEL,
      least: { type: 'slack', config: { webhook_url: 'https://hooks.slack.com/services/T0/x' } },
      good: { events: ['incident.created'], min_severity: 'high' },
      bad: { events: ['incident.read'] },
    },
    {
      union: CHANNEL,
      least: { type: 'pagerduty', config: { routing_key: 'a'.repeat(32) } },
      good: { min_severity: 'low' },
      bad: { min_severity: 'urgent' },
    },
  ])('validate the other fields for $least.type', ({ union, least, good, bad }) => {
    const fits = contractOf(union);
    expect(fits({ name: 'x', ...least, ...good })).toBe(true);
    expect(fits({ name: 'x', ...least, ...bad })).toBe(false);
  });

  it.each(['HttpConfig', 'HttpAction'])(
    'describe in %s the names that a template may use',
    (name) => {
      const { description } = components.schemas[name] as { readonly description: string };
      for (const root of ['parameters.<name>', 'secrets.<name>', 'action.id']) {
        expect(description).toContain(`{{ ${root} }}`);
      }
    },
  );
});
