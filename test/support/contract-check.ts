import { Ajv2019, type ValidateFunction } from 'ajv/dist/2019.js';
import addFormats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorCode, statusOf } from '../../src/platform/errors/error-catalogue.js';
import {
  componentSchemas,
  type ContractDocument,
  type DocumentedPath,
  DocumentedPaths,
  type DocumentedResponse,
  type OpenApiSchema,
  toJsonSchema,
} from './contract-check-document.js';

export interface ObservedAnswer {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: string;
}

interface Page {
  readonly path: RegExp;
  readonly statuses: readonly number[];
  readonly types: RegExp;
}

/** Pages for people are not in the document. Only their status and type are checked. */
const PAGES: readonly Page[] = [
  { path: /^\/login$/, statuses: [200, 303, 401, 422, 429], types: /^(text\/html|)$/ },
  { path: /^\/logout$/, statuses: [303], types: /^(text\/html|)$/ },
  {
    path: /^\/(docs(\/.*)?|favicon\.ico)$/,
    statuses: [200, 302, 303, 304],
    types: /^(text\/(html|css|javascript|plain)|application\/javascript|image\/.*|)$/,
  },
  { path: /^\/openapi\.json$/, statuses: [200], types: /^application\/json$/ },
  { path: /^\/openapi\.yaml$/, statuses: [200], types: /^(application|text)\/(x-)?yaml$/ },
];

/** Headers of every response. */
const HEADERS_OF_ALL = [
  'x-request-id',
  'x-content-type-options',
  'content-security-policy',
  'referrer-policy',
];

/** Statuses of responses that the server sends before it looks for a route. */
const OUTSIDE_ROUTING = [400, 404, 408, 414, 431];
/** Statuses of responses under /api before the address and the method are checked. */
const TOLD_FIRST = [401, 403, 429, 503];
const STATUS_OF_BAD_REQUEST = [400, 408, 414, 431];

const ERROR_ENVELOPE: OpenApiSchema = { $ref: '#/components/schemas/ErrorEnvelope' };

/** Compiled once for each document, because several hundred apps of a run use the same document. */
class Validators {
  private static readonly known = new WeakMap<ContractDocument, Validators>();
  private readonly ajv = new Ajv2019({ allErrors: true, strict: false, verbose: true });
  private readonly compiled = new Map<OpenApiSchema, ValidateFunction>();

  static of(document: ContractDocument): Validators {
    const validators = this.known.get(document) ?? new Validators(document);
    this.known.set(document, validators);
    return validators;
  }

  private constructor(document: ContractDocument) {
    addFormats.default(this.ajv);
    // Times in responses are UTC with milliseconds, so that callers can use them as filters.
    this.ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    this.ajv.addSchema(componentSchemas(document.components.schemas));
  }

  for(schema: OpenApiSchema): ValidateFunction {
    const known = this.compiled.get(schema);
    if (known) return known;
    const validate = this.ajv.compile(toJsonSchema(schema));
    this.compiled.set(schema, validate);
    return validate;
  }
}

/** Compares responses with the contract. `undocumented` matches paths that a test adds itself. */
export class ContractCheck {
  private readonly paths: DocumentedPaths;
  private readonly validators: Validators;

  constructor(
    document: ContractDocument,
    private readonly undocumented?: RegExp,
  ) {
    this.paths = new DocumentedPaths(document);
    this.validators = Validators.of(document);
  }

  /** Returns the violations of a response as texts. */
  problems(answer: ObservedAnswer): string[] {
    const path = answer.url.replace(/[?#].*$/s, '');
    const missing = HEADERS_OF_ALL.filter((name) => answer.headers[name] === undefined);
    return [
      ...missing.map((name) => `has no ${name} header`),
      ...this.problemsOfPath(answer, path),
      ...this.problemsOfError(answer),
    ];
  }

  private problemsOfPath(answer: ObservedAnswer, path: string): string[] {
    if (this.undocumented?.test(path)) return [];
    const documented = this.paths.find(path);
    if (documented) return this.problemsOfOperation(answer, documented);
    const page = PAGES.find((one) => one.path.test(path));
    if (page && answer.status < 500) return problemsOfPage(answer, page);
    if (OUTSIDE_ROUTING.includes(answer.status) || answer.status === 405) return [];
    if (isToldFirst(answer.status, path)) return [];
    return [`answers ${answer.status} at an address that the document does not have`];
  }

  private problemsOfOperation(answer: ObservedAnswer, documented: DocumentedPath): string[] {
    const method = answer.method.toLowerCase();
    const operation = documented.operations[method === 'head' ? 'get' : method];
    const page = PAGES.find((one) => one.path.test(documented.template));
    if (!operation) {
      if (page && method === 'get') return problemsOfPage(answer, page);
      if (isToldFirst(answer.status, documented.template)) return [];
      if (answer.status !== 405) return [`answers ${answer.status} to an undocumented method`];
      return answer.headers['allow'] === undefined ? ['answers 405 without Allow'] : [];
    }
    const response = operation.responses[answer.status];
    if (!response) {
      const known = Object.keys(operation.responses).join(', ');
      return [
        `answers ${answer.status}, which ${documented.template} does not document (${known})`,
      ];
    }
    return [...this.problemsOfHeaders(answer, response), ...this.problemsOfBody(answer, response)];
  }

  private problemsOfHeaders({ headers }: ObservedAnswer, response: DocumentedResponse): string[] {
    return Object.entries(response.headers ?? {}).flatMap(([name, { required, schema }]) => {
      const value = headers[name.toLowerCase()];
      if (value === undefined) return required ? [`has no ${name} header`] : [];
      const typed = schema.type === 'integer' ? Number(value) : value;
      return this.problemsOfValue(schema, typed, `header ${name}`);
    });
  }

  private problemsOfBody(answer: ObservedAnswer, response: DocumentedResponse): string[] {
    const type = mediaType(answer);
    const { content } = response;
    if (!content || Object.keys(content).length === 0) {
      return answer.body === '' ? [] : ['has a body where the document has none'];
    }
    const documented = content[withParameters(answer)] ?? content[type];
    if (!documented) {
      return [`is ${type || 'of no type'}; the document has ${Object.keys(content).join(', ')}`];
    }
    if (answer.method === 'HEAD') return [];
    if (!/[/+]json$/.test(type)) return [];
    return this.problemsOfJson(documented.schema, answer.body);
  }

  private problemsOfError(answer: ObservedAnswer): string[] {
    if (answer.status < 400 || answer.method === 'HEAD') return [];
    const type = mediaType(answer);
    const enveloped = /"error"\s*:/.test(answer.body);
    // Where the document permits it, health responds with 503 and its own body, and the login responds with its page.
    if (type === 'text/html' || (!enveloped && answer.status === 503)) return [];
    if (type !== 'application/json') return [`is an error of type ${type || 'none'}`];
    const problems = this.problemsOfJson(ERROR_ENVELOPE, answer.body);
    return problems.length > 0 ? problems : problemsOfEnvelope(answer);
  }

  private problemsOfJson(schema: OpenApiSchema, body: string): string[] {
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      return [`is not JSON: ${body.slice(0, 200)}`];
    }
    return this.problemsOfValue(schema, value, 'body');
  }

  private problemsOfValue(schema: OpenApiSchema, value: unknown, what: string): string[] {
    const validate = this.validators.for(schema);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params, data }) =>
        `${what}${instancePath} ${message} ${JSON.stringify(params)}, is ${short(data)}`,
    );
  }
}

function isToldFirst(status: number, path: string): boolean {
  return /^\/api(\/|$)/.test(path) && TOLD_FIRST.includes(status);
}

function problemsOfPage(answer: ObservedAnswer, page: Page): string[] {
  const type = mediaType(answer);
  if (answer.status === 405 || answer.status === 404 || type === 'application/json') return [];
  return [
    ...(page.statuses.includes(answer.status) ? [] : [`answers ${answer.status}`]),
    ...(page.types.test(type) ? [] : [`is of type ${type}`]),
  ];
}

/** Error in a response. Its code, status and id must agree. */
interface ShownError {
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly details?: { readonly errors?: readonly { field: string; code: string }[] };
}

/** Codes of `details.errors` that docs/api.md lists. */
const FIELD_ERROR_CODES = new Set(
  readFileSync(join(__dirname, '../../docs/api.md'), 'utf8')
    .split('### Field errors')[1]!
    .split(/\n#/)[0]!
    .match(/(?<=^\|[^|]*`)\w+(?=`)/gm),
);

function problemsOfEnvelope(answer: ObservedAnswer): string[] {
  const { error } = JSON.parse(answer.body) as { error: ShownError };
  const status = statusOf(error.code);
  const fits =
    status === answer.status ||
    (error.code === 'bad_request' && STATUS_OF_BAD_REQUEST.includes(answer.status));
  return [
    ...(error.details?.errors ?? [])
      .filter(({ code }) => !FIELD_ERROR_CODES.has(code))
      .map(({ field, code }) => `says ${code} of ${field}, which the document does not list`),
    ...(fits ? [] : [`is ${error.code} with status ${answer.status} instead of ${status}`]),
    ...(error.request_id === answer.headers['x-request-id']
      ? []
      : [
          `names request ${error.request_id} beside X-Request-Id ${String(answer.headers['x-request-id'])}`,
        ]),
  ];
}

/** Returns the media type with its parameters, but without the charset. */
function withParameters({ headers }: ObservedAnswer): string {
  return String(headers['content-type'] ?? '').replace(/; *charset=utf-8/i, '');
}

function mediaType({ headers }: ObservedAnswer): string {
  return String(headers['content-type'] ?? '')
    .split(';')[0]!
    .trim()
    .toLowerCase();
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
