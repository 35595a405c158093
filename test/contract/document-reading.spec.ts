import { readFileSync } from 'node:fs';
import { Ajv2019 } from 'ajv/dist/2019.js';
import addFormats from 'ajv-formats';
import { ERROR_CATALOGUE } from '../../src/platform/errors/error-catalogue.js';
import {
  componentSchemas,
  type OpenApiSchema,
  toJsonSchema,
} from '../support/contract-check-schema.js';
import { type OpenApiDocument, operationsOf } from '../../scripts/contract/document.js';

interface Described {
  readonly name?: string;
  readonly description?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

interface Body {
  readonly schema?: OpenApiSchema;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
}

interface Answer {
  readonly description: string;
  readonly content?: Readonly<Record<string, Body>>;
  readonly links?: Readonly<Record<string, { readonly operationId: string }>>;
}

interface Read extends Described {
  readonly operationId: string;
  readonly parameters?: readonly Described[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Body>> };
  readonly responses: Readonly<Record<string, Answer>>;
}

interface Whole {
  readonly info: { readonly description: string };
  readonly components: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

const text = readFileSync('openapi/openapi.json', 'utf8');
const document = JSON.parse(text) as OpenApiDocument;
const { info, components } = document as unknown as Whole;
const operations = operationsOf(document).map(({ operation }) => operation as unknown as Read);
const byId = new Map(operations.map((operation) => [operation.operationId, operation]));

/** What the description says before the sentence about the role, which all have. */
const ownWords = ({ description = '' }: Described) => description.split('From role')[0]!.trim();

describe('the document, for those who read it', () => {
  it('leads to the guide, whose chapters it does not repeat', () => {
    expect(info.description.length).toBeLessThan(1_500);
    const { externalDocs } = document as unknown as { externalDocs: { url: string } };
    expect(externalDocs.url).toBe('/docs/guides/api');
    expect(info.description).toContain(externalDocs.url);
  });

  it('says in its guide what to do about each error', () => {
    const guide = readFileSync('docs/api.md', 'utf8');
    const rows = new Map(
      [...guide.matchAll(/^\| *(\d+) *\| `(\w+)` *\| (.+) \|$/gm)].map(
        ([, status, code]) => [code, Number(status)] as const,
      ),
    );
    const all = Object.entries(ERROR_CATALOGUE).map(
      ([code, { status }]) => [code, status] as const,
    );
    expect(rows).toEqual(new Map(all));
  });

  it('says of every operation more than its title', () => {
    expect(operations.filter((one) => !ownWords(one)).map((one) => one.operationId)).toEqual([]);
  });

  it('describes every schema, every field and every parameter', () => {
    const schemas = Object.entries(components['schemas']!);
    const isTold = (part: Described): boolean => {
      const target = part.$ref?.split('/').at(-1);
      return Boolean(part.description ?? (target && components['schemas']![target]?.description));
    };
    const fields = schemas.flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).map(([field, part]) => [`${name}.${field}`, part] as const),
    );
    const parameters = operations.flatMap(({ operationId, parameters: all = [] }) =>
      all.map((part) => [`${operationId} ${part.name}`, part] as const),
    );
    const silent = [...schemas, ...fields, ...parameters].filter(([, part]) => !isTold(part));
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('explains in its description each state, level and name that an operation refuses', () => {
    const unexplained = operations.flatMap(({ operationId, description = '', responses }) =>
      ['403', '409']
        .flatMap((status) => responses[status]?.description.split('\n\n') ?? [])
        .filter(
          (words) =>
            !/^`forbidden`|is still (?:under way|running)\.$|kill switch/.test(words) ||
            /The name is/.test(words),
        )
        .map((words) => /^`(\w+)`/.exec(words)![1]!)
        .filter((code) => !description.includes(`\`${code}\``))
        .map((code) => `${operationId} ${code}`),
    );
    expect(unexplained).toEqual([]);
  });

  it('leads by links from an incident to its action, the approval and the rollback', () => {
    const way = ['createIncident', 'getIncident', 'executeIncidentAction', 'approveAction'];
    const next = [...way.slice(1), 'rollBackAction'];
    const leads = way.map((id) =>
      Object.values(byId.get(id)!.responses).flatMap(({ links = {} }) => Object.keys(links)),
    );
    expect(next.filter((id, at) => !leads[at]!.includes(id))).toEqual([]);
  });

  it('writes once what many operations share', () => {
    const answers = Object.values(document.paths).flatMap((item) =>
      Object.values(item).flatMap(({ responses }) => Object.values(responses)),
    );
    const headers = answers.flatMap((answer) => {
      const own = (answer as { headers?: Record<string, Described> }).headers ?? {};
      return Object.values(own).map(({ $ref }) => $ref ?? 'inline');
    });
    expect(headers.filter((ref) => ref === 'inline').length).toBeLessThan(15);
    expect(JSON.stringify(document).length).toBeLessThan(620_000);
  });
});

describe('the examples of the document', () => {
  const ajv = new Ajv2019({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(componentSchemas(components['schemas'] as Record<string, OpenApiSchema>));

  it('are what their schemas say', () => {
    const wrong = operations.flatMap(({ operationId, requestBody, responses }) => {
      const places = Object.entries({ request: requestBody, ...responses }) as [string, Answer][];
      return places.flatMap(([place, owner]) =>
        Object.values(owner?.content ?? {}).flatMap(({ schema = {}, examples = {} }) => {
          const isRight = ajv.compile(toJsonSchema(schema));
          return Object.entries(examples)
            .filter(([, { value }]) => !isRight(value))
            .map(([name]) => `${operationId} ${place} ${name} ${ajv.errorsText(isRight.errors)}`);
        }),
      );
    });
    expect(wrong).toEqual([]);
  });

  it('are named by case', () => {
    const names = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content = {} }) =>
        Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples)),
      ),
    );
    expect(names.filter((name) => !/^[a-z][a-z_]*$/.test(name))).toEqual([]);
  });
});
