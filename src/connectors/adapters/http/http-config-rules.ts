import type { FieldError } from '../../../common/errors/app-error.js';
import { type HttpAction, type HttpConfig, isReservedHeader, takesForm } from './http-config.js';
import { parseTemplate, type Reference, referencesIn, TemplateError } from './template.js';

/** What of an `http` configuration could not work, found when it is saved and not when an incident needs it. */
export function httpConfigProblems(config: HttpConfig, path: string): FieldError[] {
  const known = new Set(Object.keys(config.secrets ?? {}));
  const templates = new Templates(known);
  return [
    ...Object.entries(config.headers ?? {}).flatMap(([name, value]) =>
      headerProblems(name, value, `${path}.headers.${name}`, templates),
    ),
    ...Object.entries(config.actions).flatMap(([type, action]) =>
      actionProblems(action, takesForm(config), `${path}.actions.${type}`, templates),
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
  if (!/^[\t\x20-\x7e]*$/.test(value)) {
    return [problem(field, 'header', 'has characters that a header cannot carry')];
  }
  return templates.problems(value, field);
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

/** What a URL parser would change is not what was meant. */
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
  if (typeof body !== 'string') return jsonProblems(body, place, templates);
  try {
    return jsonProblems(JSON.parse(body), place, templates);
  } catch {
    const json = problem(place, 'json', 'must be JSON; templates stand within its strings');
    return [...templates.problems(body, place), json];
  }
}

function jsonProblems(value: unknown, field: string, templates: Templates): FieldError[] {
  if (typeof value === 'string') return templates.problems(value, field);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    ...(key.includes('{{') ? [problem(field, 'template', 'has a template in a name')] : []),
    ...jsonProblems(item, `${field}.${key}`, templates),
  ]);
}

class Templates {
  constructor(private readonly secrets: ReadonlySet<string>) {}

  problems(text: string, field: string): FieldError[] {
    try {
      return referencesIn(parseTemplate(text))
        .filter((reference) => reference.root === 'secrets' && !this.secrets.has(reference.name))
        .map((reference) => problem(field, 'template', unknownSecret(reference)));
    } catch (error) {
      if (error instanceof TemplateError) return [problem(field, 'template', error.message)];
      throw error;
    }
  }
}

function unknownSecret({ name, position }: Reference): string {
  return `names secrets.${name}, which is not set, at character ${position}`;
}

function problem(path: string, code: string, text: string): FieldError {
  const field = path.slice(0, 200);
  return { field, code, message: `${field} ${text}.` };
}
