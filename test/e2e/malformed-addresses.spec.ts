import { readFileSync } from 'node:fs';
import {
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
} from '../../scripts/contract/document.js';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const UNKNOWN = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

const MALFORMED = [
  'x',
  '1.5',
  '-1',
  '0',
  '99999999999999999999',
  'null',
  '__proto__',
  "'",
  '%00',
  '%20',
  '..%2F..',
  '%E2%80%AE',
  '%F0%9F%98%80',
  UNKNOWN.slice(0, -1),
  `${UNKNOWN}%0A`,
  'a'.repeat(2_000),
];

interface Body {
  readonly example?: object;
  readonly examples?: Readonly<Record<string, { readonly value: object }>>;
}

const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as OpenApiDocument;
const addressed = operationsOf(document).filter(({ path }) => path.includes('{'));

function bodyOf({ operation }: PlacedOperation): object | undefined {
  const content = operation.requestBody?.content as Record<string, Body> | undefined;
  const { example, examples = {} } = content?.['application/json'] ?? {};
  return example ?? Object.values(examples)[0]?.value;
}

describe('A malformed id or name in an address', () => {
  let app: TestApp;
  let admin: ApiClient;
  let incident: string;

  beforeAll(async () => {
    app = await startTestApp();
    admin = await as(app, 'admin');
    const body = { incident_type: 'phishing', source: 'test' };
    incident = (await admin.request('POST', '/api/incidents', { body })).body.data.id;
  });
  afterAll(() => app.close());

  /** What comes before the last id is there, or nobody would ever look at the last one. */
  function addressOf({ path, operation }: PlacedOperation, last: string): string {
    const names = [...path.matchAll(/{(\w+)}/g)].map(([, name]) => name!);
    const known = (name: string) =>
      path.startsWith('/api/incidents/')
        ? incident
        : operation.parameters?.find((parameter) => parameter.name === name)?.schema?.['example'];
    return names.reduce((text, name, at) => {
      const value = at === names.length - 1 ? last : String(known(name));
      return text.replace(`{${name}}`, value);
    }, path);
  }

  it.each(addressed.map((placed) => [`${placed.method} ${placed.path}`, placed] as const))(
    'is answered like an unknown one by %s',
    async (_, placed) => {
      const body = bodyOf(placed);
      const ask = async (last: string): Promise<[string, number]> => {
        const answer = await admin.request(
          placed.method,
          addressOf(placed, last),
          body && { body },
        );
        return [last, answer.status];
      };
      for (const last of [UNKNOWN, ...MALFORMED]) expect(await ask(last)).toEqual([last, 404]);
    },
  );
});
