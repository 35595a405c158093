import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import {
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
} from '../../scripts/contract/document.js';
import { OBSTACLES } from '../../src/health/health.dto.js';
import { ERROR_CATALOGUE } from '../../src/platform/errors/error-catalogue.js';

/* Rules that openapi/redocly.yaml cannot express. */

interface Described {
  readonly name?: string;
  readonly description?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

interface Body {
  readonly content?: Readonly<Record<string, object>>;
}

/** The health operations report a bad state in the body, because monitors read the body. */
const HEALTH_ERRORS =
  /^get(Health|DetailedHealth|Readiness)(UnderApi)? (Health|DetailedHealth|Unreadiness)OrError$/;

const ENVELOPE = /(Envelope|List|Catalogue)$/;

const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as OpenApiDocument;
const { schemas } = document.components as { schemas: Readonly<Record<string, Described>> };
const operations = operationsOf(document);
const nameOf = ({ method, path }: PlacedOperation): string => `${method} ${path}`;

describe('the OpenAPI document', () => {
  it('is the same in JSON and in YAML and has version 3.0.3, which every generator reads', () => {
    expect(parse(readFileSync('openapi/openapi.yaml', 'utf8'))).toEqual(document);
    expect(document).toHaveProperty('openapi', '3.0.3');
  });

  it('names one absolute server without a path, because Postman and Bruno prepend it to each path', () => {
    const { servers } = document as { readonly servers?: readonly { readonly url: string }[] };
    expect(servers!.map(({ url }) => url)).toEqual(['http://127.0.0.1:3000']);
  });

  it('gives every operation a tag, and describes no unused tag', () => {
    const tagsOf = ({ operation }: PlacedOperation) => (operation as { tags?: string[] }).tags;
    expect(operations.filter((one) => !tagsOf(one)?.length).map(nameOf)).toEqual([]);
    const { tags } = document as unknown as { readonly tags: readonly { readonly name: string }[] };
    const used = new Set(operations.flatMap((one) => tagsOf(one)!));
    expect(tags.map(({ name }) => name).sort()).toEqual([...used].sort());
  });

  it('has an example in every body except HTML', () => {
    const without = operations.flatMap((placed) => {
      const { requestBody = {}, responses } = placed.operation;
      return Object.entries({ ...responses, request: requestBody } as Record<string, Body>)
        .filter(([, { content = {} }]) =>
          Object.entries(content).some(
            ([type, media]) => type !== 'text/html' && !('example' in media || 'examples' in media),
          ),
        )
        .map(([place]) => `${nameOf(placed)} ${place}`);
    });
    expect(without).toEqual([]);
  });

  it('gives optional headers no example, because Swagger UI would send the example', () => {
    const filled = operations.flatMap(({ operation }) =>
      (operation.parameters ?? [])
        .filter(({ name }) => ['Prefer', 'If-Match', 'Idempotency-Key'].includes(name))
        .filter((parameter) => 'example' in parameter || 'example' in (parameter.schema ?? {}))
        .map(({ name }) => `${operation.operationId} ${name}`),
    );
    expect(filled).toEqual([]);
  });

  it('uses one schema for every error', () => {
    const others = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([, { content }]) => content?.['application/json']?.schema?.$ref ?? '')
        .map((ref) => `${operation.operationId} ${ref.replace('#/components/schemas/', '')}`)
        .filter((named) => !named.endsWith(' ErrorEnvelope') && !HEALTH_ERRORS.test(named)),
    );
    expect(others).toEqual([]);
  });

  it('describes every parameter, and every schema and field except envelopes', () => {
    const isDescribed = ({ $ref, description }: Described): boolean =>
      Boolean(description ?? schemas[$ref?.split('/').at(-1) ?? '']?.description);
    const described = Object.entries(schemas).filter(([name]) => !ENVELOPE.test(name));
    const fields = described.flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).map(([field, part]) => [`${name}.${field}`, part] as const),
    );
    const parameters = operations.flatMap(({ operation: { operationId, parameters: all = [] } }) =>
      all.map((part) => [`${operationId} ${part.name}`, part as Described] as const),
    );
    const all = [...described, ...fields, ...parameters];
    expect(all.filter(([, part]) => !isDescribed(part)).map(([name]) => name)).toEqual([]);
  });

  it('lists all values of text fields that programs compare', () => {
    const missing = (part: Described | undefined, words: readonly string[]) =>
      words.filter((word) => !part?.description?.includes(`\`${word}\``));
    const obstacles = Object.values(OBSTACLES).flatMap((words) => Object.keys(words));
    expect(missing(schemas['Unreadiness']!.properties!['checks'], obstacles)).toEqual([]);
    const reasons = ['incident_resolved', 'playbook_disabled'];
    expect(missing(schemas['ErrorDetails']!.properties!['reason'], reasons)).toEqual([]);
  });
});

describe('docs/api.md', () => {
  it('has a row for each error code, with its status', () => {
    const guide = readFileSync('docs/api.md', 'utf8');
    const rows = [...guide.matchAll(/^\| *(\d+) *\| `(\w+)` *\| (.+) \|$/gm)].map(
      ([, status, code]) => [code!, Number(status)] as const,
    );
    const all = Object.entries(ERROR_CATALOGUE).map(([code, [status]]) => [code, status] as const);
    expect(new Map<string, number>(rows)).toEqual(new Map(all));
  });
});
