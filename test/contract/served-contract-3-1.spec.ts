import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { type OpenApiDocument, operationsOf } from '../../scripts/contract/document.js';
import { signatureHeaders } from '../../src/notifications/channels/webhook/webhook.channel.js';
import { EVENT_SCHEMAS } from '../../src/notifications/messages/event-schemas.js';
import { PRESETS } from '../../src/webhooks/mapping/presets.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

type Parts = Readonly<Record<string, unknown>>;

interface Shown extends Parts {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: Readonly<
    Record<string, { readonly value?: unknown; readonly $ref?: string }>
  >;
}

interface Document extends OpenApiDocument {
  readonly openapi: string;
  readonly components: OpenApiDocument['components'] & {
    readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
}

interface Webhook {
  readonly post: { readonly parameters: readonly { readonly name: string }[] };
}

const ROOT = 'https://example.com/openapi.json';
/** What our schemas say beside JSON Schema: for readers, and for generators. */
const WORDS = ['discriminator', 'externalDocs'];

/** Schemas that refer to where the validator has the components. */
const placed = (schemas: object): object =>
  JSON.parse(
    JSON.stringify(schemas).replaceAll('"#/components/schemas/', `"${ROOT}#/$defs/`),
  ) as object;

/** Everything in a part of the document that has a schema, with where it is. */
function* shownIn(part: unknown, place = ''): Generator<[string, Shown]> {
  if (typeof part !== 'object' || part === null) return;
  if ('schema' in part) yield [place, part as Shown];
  for (const [key, child] of Object.entries(part)) {
    if (!['schema', 'schemas', 'example', 'examples'].includes(key)) {
      yield* shownIn(child, `${place}/${key}`);
    }
  }
}

describe('the contract in OpenAPI 3.1', () => {
  let app: TestApp;
  let document: Document;
  let etag: string;

  beforeAll(async () => {
    app = await startTestApp();
    const answer = await app.request('GET', '/openapi-3.1.json?whatever=1');
    expect([answer.status, answer.headers['content-type']]).toEqual([
      ...[200, 'application/json; charset=utf-8'],
    ]);
    etag = answer.headers['etag'] as string;
    document = JSON.parse(answer.text) as Document;
  });
  afterAll(() => app.close());

  it('says its version, and has every operation of the committed document', () => {
    const committed = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as Document;
    const ids = (of: OpenApiDocument) =>
      operationsOf(of).map(({ operation }) => operation.operationId);
    expect(document.openapi).toBe('3.1.1');
    expect(ids(document)).toEqual(ids(committed));
    expect(Object.keys(document.components.schemas)).toEqual(
      Object.keys(committed.components.schemas),
    );
  });

  it('is not sent again to somebody who has it', async () => {
    const answer = await app.request('GET', '/openapi-3.1.json', {
      headers: { 'if-none-match': etag },
    });
    expect([answer.status, answer.text]).toEqual([304, '']);
  });

  it('has schemas of JSON Schema 2020-12, which its examples keep to', () => {
    const ajv = new Ajv2020({
      strict: true,
      strictTypes: false,
      strictRequired: false,
      allErrors: true,
    });
    addFormats.default(ajv);
    const text = JSON.stringify(document);
    const extensions = new Set([...text.matchAll(/"(x-[a-z-]+)":/g)].map(([, name]) => name!));
    for (const word of [...WORDS, ...extensions]) ajv.addKeyword(word);
    for (const format of ['ip', 'password', 'int32', 'int64', 'double', 'binary']) {
      ajv.addFormat(format, true);
    }
    ajv.addSchema({ $id: ROOT, $defs: placed(document.components.schemas) });
    const values = document.components as unknown as Readonly<Record<'examples', Parts>>;
    const wrong: string[] = [];
    let checked = 0;
    for (const [place, { schema, example, examples = {} }] of shownIn([
      document.paths,
      document.components,
    ])) {
      const isValid = ajv.compile(placed(schema ?? {}));
      const shown = Object.values(examples).map(({ value, $ref }) =>
        $ref ? (values.examples[$ref.split('/').at(-1)!] as { value: unknown }).value : value,
      );
      for (const value of [...(example === undefined ? [] : [example]), ...shown]) {
        checked++;
        if (!isValid(value)) wrong.push(`${place}: ${ajv.errorsText(isValid.errors)}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(200);
  });

  it('types each part of the mapping of a webhook source', () => {
    const ajv = new Ajv2020();
    const isMapping = ajv.compile(document.components.schemas['EventMapping']!);
    expect(PRESETS.filter(({ mapping }) => !isMapping(mapping))).toEqual([]);
    const wrong = [{ title: 7 }, { type: 'no pointer' }, { items: [['/a']] }, { lift: { a: {} } }];
    expect(wrong.filter((mapping) => isMapping(mapping))).toEqual([]);
  });

  it('has a webhook for every event that channels are sent, with what its receivers verify', () => {
    const { webhooks } = document as unknown as { webhooks: Readonly<Record<string, Webhook>> };
    expect(Object.keys(webhooks).sort()).toEqual(Object.keys(EVENT_SCHEMAS).sort());
    for (const { post } of Object.values(webhooks)) {
      expect(post.parameters.map(({ name }) => name)).toEqual(
        Object.keys(signatureHeaders('', { id: '', at: new Date(), secrets: [] })),
      );
    }
  });
});
