import {
  actionType,
  type ActionTypeName,
  isActionType,
} from '../../../action-catalogue/action-types.js';
import { type FieldError, MOST_ERRORS } from '../../../platform/errors/app-error.js';
import { FEW, MAX_DEPTH, sizeOf } from '../../../platform/http/strict-json.js';
import { shownName, shownStart } from '../../../platform/text.js';
import { SHORTEST_SECRET } from '../../../targets/target-config.js';
import {
  type HttpAction,
  type HttpConfig,
  isHeaderText,
  isReservedHeader,
  takesForm,
} from './http-config.js';
import { holdsShortCredential } from './http-request.js';
import { parseTemplate, type Reference, referencesIn, TemplateError } from './template.js';

const TOO_SHORT = `holds a secret by its name, and must have at least ${SHORTEST_SECRET} characters`;
const NO_HEADER_TEXT = 'has characters that a header cannot carry';

/** Finds faults of an `http` configuration when it is saved, not when an incident needs it. */
export function httpConfigProblems(config: HttpConfig, path: string): FieldError[] {
  const secrets = new Set(Object.keys(config.secrets ?? {}));
  const types = Object.keys(config.actions).filter(isActionType);
  // All requests have all headers. Parameters that an action does not have are empty in them.
  const shared = new Templates(secrets, types);
  return [
    ...Object.entries(config.headers ?? {}).flatMap(([name, value]) =>
      headerProblems(name, value, `${path}.headers.${name}`, shared),
    ),
    ...headerSecretProblems(config, `${path}.secrets`),
    ...types.flatMap((type) =>
      actionProblems(
        config.actions[type]!,
        takesForm(config),
        `${path}.actions.${type}`,
        new Templates(secrets, [type]),
      ),
    ),
  ];
}

function headerProblems(
  name: string,
  value: string,
  field: string,
  templates: Templates,
): FieldError[] {
  if (isReservedHeader(name)) return [problem(field, 'reserved', 'is set by the service')];
  if (!isHeaderText(value)) return [problem(field, 'header', NO_HEADER_TEXT)];
  if (holdsShortCredential(name, value)) return [problem(field, 'length', TOO_SHORT)];
  return templates.problems(value, field);
}

/** Secrets in headers that a header cannot carry, for example with a pasted line end. */
function headerSecretProblems(
  { headers = {}, secrets = {} }: HttpConfig,
  path: string,
): FieldError[] {
  const named = new Set(Object.values(headers).flatMap(secretsNamedIn));
  return Object.entries(secrets)
    .filter(([name, value]) => named.has(name) && !isHeaderText(value))
    .map(([name]) => problem(`${path}.${name}`, 'header', NO_HEADER_TEXT));
}

/** Empty for an invalid template, which headerProblems reports. */
function secretsNamedIn(text: string): string[] {
  try {
    return referencesIn(parseTemplate(text))
      .filter(({ root }) => root === 'secrets')
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function actionProblems(
  action: HttpAction,
  form: boolean,
  field: string,
  templates: Templates,
): FieldError[] {
  const path = `${field}.path`;
  return [
    ...templates.problems(action.path, path),
    ...pathProblems(action.path, path),
    ...(action.body === undefined ? [] : bodyProblems(action.body, form, field, templates)),
  ];
}

/** Rejects a path that a URL parser would change, such as `/a/../b`. */
function pathProblems(text: string, field: string): FieldError[] {
  const plain = text.replace(/\{\{.*?\}\}/gs, 'x');
  const { pathname, search, hash } = new URL(`https://vendor.invalid${plain}`);
  return `${pathname}${search}` === plain && hash === ''
    ? []
    : [problem(field, 'path', 'must be a plain path, its special characters percent-encoded')];
}

function bodyProblems(
  body: Record<string, unknown> | string,
  form: boolean,
  field: string,
  templates: Templates,
): FieldError[] {
  const place = `${field}.body`;
  if (form && typeof body === 'string') return templates.problems(body, place);
  if (form) return [problem(place, 'form', 'must be text when the content-type is a form')];
  return typeof body === 'string'
    ? jsonTextProblems(body, place, templates)
    : jsonProblems(body, place, templates);
}

/** JSON in a text. The limits of request bodies apply again, because they counted the text as one value. */
function jsonTextProblems(text: string, field: string, templates: Templates): FieldError[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const json = problem(field, 'json', 'must be JSON; templates must be within its strings');
    return [...templates.problems(text, field), json];
  }
  const size = sizeOf(value, FEW);
  if (size === 'too_many_values') return [problem(field, size, 'has too many keys or values')];
  if (size === 'too_deep')
    return [problem(field, size, `is nested deeper than ${MAX_DEPTH} levels`)];
  return jsonProblems(value, field, templates);
}

function jsonProblems(
  value: unknown,
  field: string,
  templates: Templates,
  found: FieldError[] = [],
): FieldError[] {
  if (found.length >= MOST_ERRORS) return found;
  if (typeof value === 'string') found.push(...templates.problems(value, field));
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, item] of Object.entries(value)) {
    if (key.includes('{{')) found.push(problem(field, 'template', 'has a template in a name'));
    jsonProblems(item, `${field}.${shownName(key)}`, templates, found);
  }
  return found;
}

/** Checks the names in templates: a secret must be set, and a parameter must belong to the action types. */
class Templates {
  private readonly declared: readonly string[];

  constructor(
    private readonly secrets: ReadonlySet<string>,
    private readonly types: readonly ActionTypeName[],
  ) {
    this.declared = types.flatMap((type) => actionType(type).parameters.map(({ name }) => name));
  }

  problems(text: string, field: string): FieldError[] {
    try {
      const unknown = referencesIn(parseTemplate(text)).filter((one) => !this.knows(one));
      return unknown.slice(0, MOST_ERRORS).map((reference) => {
        const { expression, position } = reference;
        const found = `names ${expression} at character ${position}, ${this.missing(reference)}`;
        return problem(field, 'template', found);
      });
    } catch (error) {
      if (error instanceof TemplateError) return [problem(field, 'template', error.message)];
      throw error;
    }
  }

  private knows({ root, name }: Reference): boolean {
    if (root === 'secrets') return this.secrets.has(name);
    return root === 'action' || this.declared.includes(name);
  }

  private missing({ root }: Reference): string {
    if (root === 'secrets') return 'which is not set';
    return this.types.length === 1
      ? `but ${this.types[0]} has only ${this.declared.join(', ')}`
      : 'which none of the actions has';
  }
}

function problem(path: string, code: string, text: string): FieldError {
  const field = shownStart(path, 200);
  return { field, code, message: `${field} ${text}.` };
}
