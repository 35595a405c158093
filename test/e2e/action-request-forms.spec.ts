import { Ajv } from 'ajv';
import { readFileSync } from 'node:fs';
import { ACTION_TYPES } from '../../src/action-catalogue/action-types.js';
import type { ApiClient } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/*
 * Why the contract has a body for each type of action, and no plain form `{action, parameters}` beside them: ADR 0034.
 */

const $id = 'contract';
const ajv = new Ajv({ strict: false, formats: { int32: true } });
ajv.addSchema({ $id, ...(JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as object) });
const isActionRequest = ajv.compile({ $ref: `${$id}#/components/schemas/ActionRequest` });

/** What a plain form could say of a body: every object fits as parameters. */
const isPlainForm = ajv.compile({
  type: 'object',
  required: ['action', 'parameters'],
  properties: {
    action: { $ref: `${$id}#/components/schemas/KnownActionType` },
    parameters: { type: 'object' },
  },
  additionalProperties: false,
});

describe('the body that asks for an action', () => {
  let app: TestApp;
  let analyst: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    ({ client: analyst } = await makeKey(app, 'analyst'));
  });
  afterAll(() => app.close());

  const execute = (body: unknown) =>
    analyst.request('POST', '/api/actions/execute', {
      body,
      headers: { 'content-type': 'application/json' },
    });

  it.each(ACTION_TYPES)(
    'for %s fits a plain form that lets the service refuse it',
    async (action) => {
      const body = { action, parameters: { no_such_parameter: true } };
      expect([isPlainForm(body), isActionRequest(body)]).toEqual([true, false]);
      expect((await execute(body)).status).toBe(422);
    },
  );

  it('is refused as openapi-generator for Rust writes a union with a discriminator', async () => {
    const rest = '"parameters":{"host_id":"WS-0142"}';
    const twice = await execute(`{"action":"isolate_host","action":"isolate_host",${rest}}`);
    expect([twice.status, twice.body.error.details.errors[0].code]).toEqual([422, 'duplicate_key']);
    const once = await execute(`{"action":"isolate_host",${rest}}`);
    expect(once.status).toBe(200);
  });

  it('tells its type by a field of one word, so that a union without a discriminator is read', () => {
    const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as {
      components: { schemas: Record<string, Schema> };
    };
    const { schemas } = document.components;
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

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly discriminator?: { readonly propertyName: string };
}
