import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type OpenApiDocument, operationsOf } from '../../scripts/contract/document.js';
import { signatureHeaders } from '../../src/notifications/channels/webhook/webhook.channel.js';
import { EVENT_SCHEMAS } from '../../src/notifications/messages/event-schemas.js';
import { PRESETS } from '../../src/webhooks/mapping/presets.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

interface Received {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

/** As it is on the wire: fetch would unpack what is compressed. */
function get(url: string, headers: Record<string, string> = {}): Promise<Received> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          headers: response.headers,
          bytes: Buffer.concat(chunks),
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

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

const committed = (name: string): string => readFileSync(`openapi/${name}`, 'utf8');
const minified = JSON.stringify(JSON.parse(committed('openapi.json')));

describe('the served contract', () => {
  const app = useStarted(() => startTestApp());

  it.each([
    ['openapi.json', 'application/json; charset=utf-8', minified],
    ['openapi.yaml', 'application/yaml; charset=utf-8', committed('openapi.yaml')],
  ])('%s is what the committed file says, open to anyone', async (name, type, text) => {
    const answer = await get(`${app.url}/${name}?whatever=1`);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, type]);
    expect(answer.bytes.toString()).toBe(text);
  });

  it('names the address at which the service is found', async () => {
    const settings = { PUBLIC_URL: 'https://triage.example.com/' };
    const other = await startTestApp({ settings });
    try {
      for (const name of ['openapi.json', 'openapi-3.1.json']) {
        const { servers } = JSON.parse((await get(`${other.url}/${name}`)).bytes.toString());
        expect(servers).toMatchObject([{ url: 'https://triage.example.com' }]);
      }
      const yaml = (await get(`${other.url}/openapi.yaml`)).bytes.toString();
      expect(yaml).toContain('url: https://triage.example.com\n');
      expect(yaml).not.toContain('127.0.0.1:3000');
    } finally {
      await other.close();
    }
  });

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('comes compressed with %s to those who take that', async (encoding, unpack) => {
    const answer = await get(`${app.url}/openapi.json`, { 'accept-encoding': encoding });
    expect(answer.headers).toMatchObject({
      'content-encoding': encoding,
      vary: 'accept-encoding',
    });
    expect(unpack(answer.bytes).toString()).toBe(minified);
    expect(answer.bytes.length).toBeLessThan(minified.length / 4);
  });

  it('is not sent again to those who have it', async () => {
    const first = await get(`${app.url}/openapi.json`);
    const tag = String(first.headers['etag']);
    const again = await get(`${app.url}/openapi.json`, { 'if-none-match': `"old", ${tag}` });
    expect([again.status, again.bytes.length, again.headers['etag']]).toEqual([304, 0, tag]);
    const changed = await get(`${app.url}/openapi.json`, { 'if-none-match': 'W/"old"' });
    expect([changed.status, changed.headers['cache-control']]).toEqual([200, 'no-cache']);
  });

  describe('in OpenAPI 3.1', () => {
    let document: Document;

    beforeAll(async () => {
      const answer = await app.request('GET', '/openapi-3.1.json?whatever=1');
      expect([answer.status, answer.headers['content-type']]).toEqual([
        ...[200, 'application/json; charset=utf-8'],
      ]);
      document = JSON.parse(answer.text) as Document;
    });

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
      const wrong = [
        { title: 7 },
        { type: 'no pointer' },
        { items: [['/a']] },
        { lift: { a: {} } },
      ];
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
});
