import { AppError, type FieldError } from '../errors/app-error.js';
import { shownName } from '../text.js';

/** Percent-encoding that stands for no text: the router lets it pass as it is, and a filter would find nothing. */
export function requireReadableQuery(url: string): void {
  const start = url.indexOf('?');
  if (start < 0 || !url.includes('%', start)) return;
  try {
    decodeURIComponent(url.slice(start));
  } catch (error) {
    throw new AppError('bad_request', 'The query is malformed.', { cause: error });
  }
}

type Query = Record<string, unknown>;

/** Renames `status[]`, as axios and PHP write a repeated key, to `status` where the handler takes a list of that name. */
export function foldBrackets(query: Query, isList: (name: string) => boolean): void {
  for (const written of Object.keys(query)) {
    const name = written.slice(0, -2);
    if (!written.endsWith('[]') || !isList(name)) continue;
    const values = [query[name] ?? [], query[written]].flat();
    query[name] = values.length === 1 ? values[0] : values;
    delete query[written];
  }
}

/** A parameter that is given twice means one of two things unless it is a list, and NUL no database stores. */
export function queryProblems(
  query: Readonly<Record<string, unknown>>,
  isList: (name: string) => boolean,
): FieldError[] {
  return Object.entries(query).flatMap(([name, value]) => {
    const field = shownName(name);
    if (Array.isArray(value) && !isList(name)) {
      return { field, code: 'duplicate_key', message: `${field} is given more than once.` };
    }
    if (`${name}${String(value)}`.includes('\0')) {
      return { field, code: 'nul_character', message: `${field} contains a NUL character.` };
    }
    return [];
  });
}
