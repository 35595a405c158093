import { readFileSync } from 'node:fs';
import { ACTION_TYPES } from '../../src/action-catalogue/action-types.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly discriminator?: { readonly propertyName: string };
}

interface Type {
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly required: boolean }[];
  readonly default_approval_level?: string;
}

/** A valid value for each parameter of the action types. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ message_id: '<4f2a1c@mail.example.net>', recipient: 'alice@corp.example' },
  ...{ reason: 'Phishing.', sender: 'mallory@evil.example', host_id: 'laptop-7' },
  ...{ scan_type: 'quick', user: 'bob', ip: '203.0.113.4', duration_minutes: 60 },
  ...{ domain: 'evil.example', url: 'https://evil.example/login?next=/' },
  ...{ hash: 'd41d8cd98f00b204e9800998ecf8427e', title: 'Look at this', priority: 'high' },
  ...{ description: 'It is odd.', subject: 'Your account', message: 'Please call us.' },
  channel: '#soc',
};

describe('the catalogue of actions', () => {
  const app = useStarted(() => startTestApp());
  const analyst = useStarted(() => as(app, 'analyst'));
  let types: ReadonlyMap<string, Type>;

  beforeAll(async () => {
    const body = { name: 'sandbox', type: 'sandbox', config: {} };
    await (await as(app, 'admin')).post('/api/connectors', body);
    const { data } = (await analyst.get('/api/actions/types')).body;
    types = new Map((data as Type[]).map((type) => [type.name, type]));
  });

  const execute = (action: string, parameters: object) =>
    analyst.post('/api/actions/execute', { action, parameters });
  const valuesOf = (parameters: Type['parameters']) =>
    Object.fromEntries(parameters.map(({ name }) => [name, VALUES[name]]));

  it('lists every type with category, inverse and parameters', () => {
    expect([...types.keys()].sort()).toEqual([...ACTION_TYPES].sort());
    expect(types.get('quarantine_email')).toEqual({
      name: 'quarantine_email',
      description: expect.any(String),
      category: 'email',
      supports_rollback: true,
      rolled_back_by: 'release_email',
      parameters: [
        { name: 'message_id', type: 'string', required: true },
        { name: 'recipient', type: 'string', required: false },
        { name: 'reason', type: 'string', required: false },
      ],
      available: true,
    });
    const level = (name: string) => types.get(name)!.default_approval_level;
    expect([level('isolate_host'), level('block_ip'), level('lookup_ip')]).toEqual([
      'senior',
      'analyst',
      undefined,
    ]);
  });

  it.each(ACTION_TYPES)(
    'accepts only the required parameters or all parameters of %s, and rejects missing, unknown and mistyped parameters',
    async (name) => {
      const { parameters, default_approval_level: level } = types.get(name)!;
      for (const some of [parameters.filter(({ required }) => required), parameters]) {
        const { status, body } = await execute(name, valuesOf(some));
        expect([status, body.data.status, body.data.approval_level]).toEqual(
          level ? [202, 'pending_approval', level] : [200, 'completed', undefined],
        );
      }
      const whole = valuesOf(parameters);
      const wrong = parameters.flatMap(({ name: field, required }): [string, object][] => {
        const { [field]: value, ...rest } = whole;
        const values = [typeof value === 'number' ? '60' : 7, null, []];
        return [
          ...values.map((one): [string, object] => [field, { ...rest, [field]: one }]),
          ...(required ? [[field, rest] as [string, object]] : []),
        ];
      });
      for (const [field, given] of [...wrong, ['other', { ...whole, other: 1 }] as const]) {
        const { status, body } = await execute(name, given);
        expect([status, body.error?.code]).toEqual([422, 'validation_error']);
        expect(body.error.details.errors).toMatchObject([{ field: `parameters.${field}` }]);
      }
    },
  );

  it('has a unique discriminator value in each part of a union', () => {
    const { schemas } = (
      JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as {
        components: { schemas: Record<string, Schema> };
      }
    ).components;
    const named = ({ $ref = '' }: Schema) => schemas[$ref.split('/').at(-1)!];
    for (const { discriminator, oneOf = [] } of Object.values(schemas)) {
      if (!discriminator) continue;
      const words = oneOf.flatMap((one) => {
        const field = named(one)!.properties![discriminator.propertyName]!;
        return (named(field.allOf?.[0] ?? field) ?? field).enum ?? ['any'];
      });
      expect([words.length, new Set(words).size]).toEqual([oneOf.length, oneOf.length]);
    }
  });
});
