import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { DATABASE_OBSTACLES, SERVICE_OBSTACLES } from '../../src/health/obstacles.js';
import {
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
} from '../../scripts/contract/document.js';

interface Body {
  readonly schema?: { readonly $ref?: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
}

interface Answer {
  readonly $ref?: string;
  readonly content?: Record<string, Body>;
}

interface Described {
  readonly name: string;
  readonly description?: string;
  readonly in?: string;
}

interface Parts {
  readonly tags: readonly string[];
  readonly parameters?: readonly Described[];
}

interface Components {
  readonly schemas: Readonly<Record<string, { properties: Readonly<Record<string, Described>> }>>;
  readonly securitySchemes: Readonly<Record<string, Described>>;
}

interface Titled {
  readonly summary: string;
}

const isInPath = (parameter: Described): boolean => parameter.in === 'path';

/** Health says with a body of its own that it is bad: monitors read it as it is. */
const HEALTH_ERRORS =
  /^get(Health|DetailedHealth|Readiness)(UnderApi)? (Health|DetailedHealth|Unreadiness)OrError$/;

type Shown = Readonly<Record<string, unknown>>;

const RESULT_FIELDS = ['result', 'executed_at', 'executed_by'];

/** What an example says that contradicts itself. */
function impossibilities(shown: Shown): string[] {
  const waits = shown['status'] === 'pending_approval';
  const unfinished = waits || shown['status'] === 'pending';
  const both = (...fields: string[]) => fields.every((field) => field in shown);
  const isBefore = (one: string, other: string) =>
    both(one, other) && String(shown[one]) < String(shown[other]);
  const hasEnded = ['completed', 'failed', 'cancelled'].includes(String(shown['status']));
  const { components } = shown as { components?: Record<string, { status: string }> };
  const impaired = Object.values(components ?? {}).some(({ status }) => /^(un|degr)/.test(status));
  return [
    ...(shown['success'] === true && 'code' in shown ? ['succeeded with a code of failure'] : []),
    ...(unfinished && RESULT_FIELDS.some((field) => field in shown) ? ['waits and has ended'] : []),
    ...(waits && both('approved_by') ? ['waits and is approved'] : []),
    ...(shown['status'] === 'completed' && both('expires_at') ? ['ended and waits'] : []),
    ...(both('approved_by', 'rejected_by') ? ['is approved and rejected'] : []),
    ...(shown['valid'] === true &&
    ['first_invalid_id', 'head_rewound', 'missing'].some((field) => both(field))
      ? ['is valid with faults']
      : []),
    ...(shown['active'] === true && ['deactivated_at', 'discarded'].some((field) => both(field))
      ? ['is active and was deactivated after it']
      : []),
    ...(isBefore('completed_at', 'started_at') ? ['ended before it started'] : []),
    ...(isBefore('updated_at', 'created_at') ? ['changed before it was there'] : []),
    ...(shown['version'] === 1 && isBefore('created_at', 'updated_at')
      ? ['changed and is of the first version']
      : []),
    ...(both('run_id') && hasEnded !== both('completed_at') ? ['ended at no time'] : []),
    ...(impaired && shown['status'] === 'healthy' ? ['is healthy with parts impaired'] : []),
  ];
}

/** Enums of different things whose values are the same today: a field to sort by may be added to one of them. */
const SAME_VALUES_BY_CHANCE = [
  'ApiKeySort,ConnectorSort,NotificationChannelSort,PlaybookSort',
  'AuditSort,TimelineSort',
  'DeadJobSort,NotificationDeliverySort,PlaybookRunSort,TriageRunSort,WebhookEventSort',
];

/** Pages are for people: an example of one tells a program nothing. */
const HTML = 'text/html';

const examplesOf = ({ example, examples = {} }: Body): unknown[] => [
  example,
  ...Object.values(examples).map(({ value }) => value),
];

const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as OpenApiDocument;
const operations = operationsOf(document);
const nameOf = ({ method, path }: PlacedOperation): string => `${method} ${path}`;

describe('the contract', () => {
  it('is the same in JSON and in YAML, and of a version that every generator reads', () => {
    expect(parse(readFileSync('openapi/openapi.yaml', 'utf8'))).toEqual(document);
    expect(document).toHaveProperty('openapi', '3.0.3');
  });

  it('names one absolute server without a path, because Postman and Bruno prepend it to each path', () => {
    const { servers } = document as { readonly servers?: readonly { readonly url: string }[] };
    expect(servers!.map(({ url }) => url)).toEqual(['http://127.0.0.1:3000']);
    expect(Object.keys(document.paths).filter((path) => !path.startsWith('/'))).toEqual([]);
  });

  it('says that a list of sort fields names no field twice', () => {
    const lists = operations.flatMap((placed) =>
      (placed.operation.parameters ?? []).flatMap(({ name, schema }) =>
        name === 'sort' && schema?.type === 'array' ? [[nameOf(placed), schema] as const] : [],
      ),
    );
    expect(lists.length).toBeGreaterThan(5);
    expect(lists.filter(([, schema]) => schema['uniqueItems'] !== true)).toEqual([]);
  });

  it('gives every operation an id of its own, in the style of generated clients', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][a-zA-Z0-9]+$/.test(id))).toEqual([]);
  });

  it.each(['summary', 'tags', 'security'])('gives every operation its %s', (field) => {
    const without = operations.filter(({ operation }) => {
      const value: unknown = (operation as unknown as Record<string, unknown>)[field];
      const needsItems = field === 'tags';
      return !value || (needsItems && (value as unknown[]).length === 0);
    });
    expect(without.map(nameOf)).toEqual([]);
  });

  it('has summaries that are titles: what else there is to say is in the description', () => {
    const summaries = operations.map(({ operation }) => (operation as unknown as Titled).summary);
    expect(summaries.filter((summary) => !/^[A-Z][^.\n]{1,70}$/.test(summary))).toEqual([]);
  });

  it('describes every group of operations, and what each address names', () => {
    const { tags } = document as unknown as { tags: Described[] };
    const parts = operations.map(({ operation }) => operation as unknown as Parts);
    const used = new Set(parts.flatMap((part) => part.tags));
    expect(tags.map(({ name }) => name).sort()).toEqual([...used].sort());
    const inPath = parts.flatMap(({ parameters = [] }) => parameters).filter(isInPath);
    expect([...tags, ...inPath].filter(({ description }) => !description)).toEqual([]);
  });

  it('has an example in every body', () => {
    const without = operations.flatMap((placed) => {
      const bodies: [string, Answer][] = Object.entries(placed.operation.responses);
      if (placed.operation.requestBody) bodies.push(['request', placed.operation.requestBody]);
      return bodies
        .filter(([, { content = {} }]) =>
          Object.entries(content).some(
            ([type, media]) => type !== HTML && !('example' in media || 'examples' in media),
          ),
        )
        .map(([place]) => `${nameOf(placed)} ${place}`);
    });
    expect(without).toEqual([]);
  });

  it('has what validators of generators refuse nowhere: an example twice, an empty address', () => {
    const twice = operations.filter(({ operation }) =>
      Object.values(operation.responses as Record<string, Answer>).some(({ content = {} }) =>
        Object.values(content).some((media) => 'example' in media && 'examples' in media),
      ),
    );
    expect(twice.map(nameOf)).toEqual([]);
    const { info } = document as unknown as { info: { contact: Record<string, string> } };
    expect(Object.values(info.contact)).not.toContain('');
  });

  it('fills in no header that a first try in Swagger UI would have to leave out', () => {
    const filled = operations.flatMap(({ operation }) =>
      (operation.parameters ?? [])
        .filter(({ name }) => ['Prefer', 'If-Match', 'Idempotency-Key'].includes(name))
        .filter((parameter) => 'example' in parameter || 'example' in (parameter.schema ?? {}))
        .map(({ name }) => `${operation.operationId} ${name}`),
    );
    expect(filled).toEqual([]);
  });

  it('answers every error in the one shared shape', () => {
    const others = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([, { content }]) => content?.['application/json']?.schema?.$ref ?? '')
        .map((ref) => `${operation.operationId} ${ref.replace('#/components/schemas/', '')}`)
        .filter((named) => !named.endsWith(' ErrorEnvelope') && !HEALTH_ERRORS.test(named)),
    );
    expect(others).toEqual([]);
  });

  it('describes every address parameter', () => {
    const undescribed = operations.flatMap(({ path, operation }) =>
      [...path.matchAll(/{(\w+)}/g)]
        .map(([, name]) => name)
        .filter(
          (name) =>
            !operation.parameters?.some(
              (parameter) => parameter.in === 'path' && parameter.name === name && parameter.schema,
            ),
        )
        .map((name) => `${path} ${name}`),
    );
    expect(undescribed).toEqual([]);
  });

  it('shows in its examples what can have happened', () => {
    const found: string[] = [];
    const walk = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return;
      found.push(...impossibilities(value as Shown).map((what) => `${place} ${what}`));
      for (const [key, child] of Object.entries(value)) walk(child, `${place}/${key}`);
    };
    for (const { path, method, operation } of operations) {
      const answers: [string, Answer][] = Object.entries(operation.responses);
      for (const [status, { content = {} }] of answers) {
        const place = `${method} ${path} ${status}`;
        for (const example of Object.values(content).flatMap(examplesOf)) {
          walk(example, place);
          const text = JSON.stringify(example) ?? '';
          if (status === '201' && /"last_(login|used)_at"/.test(text))
            found.push(`${place} was used`);
          // A run of a playbook that waits has steps that have ended.
          if (status === '202' && /"result"/.test(text) && !/"steps"/.test(text)) {
            found.push(`${place} has a result`);
          }
          if (status === '503' && /^{"status":"healthy"/.test(text))
            found.push(`${place} is healthy`);
        }
      }
    }
    expect(found).toEqual([]);
  });

  it('lists the words that programs tell apart, and that are no enums', () => {
    const schemas = (document.components as unknown as Components).schemas;
    const { checks } = schemas['Unreadiness']!.properties;
    const { reason } = schemas['ErrorDetails']!.properties;
    const listed = (part: Described | undefined, words: readonly string[]) =>
      words.filter((word) => !part?.description?.includes(`\`${word}\``));
    const obstacles = { ...DATABASE_OBSTACLES, ...SERVICE_OBSTACLES };
    expect(listed(checks, Object.keys(obstacles))).toEqual([]);
    const reasons = ['incident_resolved', 'playbook_disabled'];
    expect(listed(reason, reasons)).toEqual([]);
  });

  it('says how to authenticate: with keys that are no JWT, and with a cookie that tells where it is from', () => {
    const { securitySchemes } = document.components as unknown as Components;
    expect(JSON.stringify(securitySchemes)).not.toContain('JWT');
    expect(securitySchemes['session']?.description).toMatch(/Sec-Fetch-Site.*Origin/s);
  });

  it('has one enum for one set of values', () => {
    const { schemas } = document.components as unknown as {
      schemas: Readonly<Record<string, { enum?: readonly string[] }>>;
    };
    const several = Object.entries(schemas).filter(([, schema]) => (schema.enum?.length ?? 0) > 1);
    const byValues = Map.groupBy(several, ([, schema]) => schema.enum!.toSorted().join());
    const twins = [...byValues.values()].filter((group) => group.length > 1);
    const names = twins.map((group) => group.map(([name]) => name).join());
    expect(names).toEqual(SAME_VALUES_BY_CHANCE);
  });

  it('names its enums of several values, and has null only where it is as good as nothing', () => {
    const found: string[] = [];
    const bodies =
      /^components\/schemas\/(\w+Update|GivenVerdict|WebhookSourceInput|\w+ChannelInput)\/properties\/\w+$/;
    const walk = (value: unknown, place: string[]): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, child] of Object.entries(value)) {
        const named = place.length === 3 && place[1] === 'schemas';
        const inExample = place.some((part) => part === 'example' || part === 'examples');
        if (inExample) return;
        if (key === 'enum' && Array.isArray(child) && child.length > 1 && !named)
          found.push([...place, key].join('/'));
        if (/^(x-)?nullable$/.test(key) && !bodies.test(place.join('/')))
          found.push([...place, key].join('/'));
        walk(child, [...place, key]);
      }
    };
    walk(document, []);
    expect(found).toEqual([]);
  });
});
