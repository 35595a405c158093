import type { FieldError } from '../../platform/errors/app-error.js';
import { shownName, shownStart } from '../../platform/text.js';
import { type Config, type ConfigSchema, ignoresCase, isMap, isObject } from './config-schema.js';

/**
 * The names in maps that ignore case which come a second time in another spelling. JSON takes them for two names, and which
 * of the two would be sent, nobody could tell.
 */
export function twinNameProblems(
  { properties }: ConfigSchema,
  config: Config,
  path: string,
): FieldError[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const map = Object.hasOwn(config, name) ? config[name] : undefined;
    if (!isMap(property) || !ignoresCase(property) || !isObject(map)) return [];
    const seen = new Set<string>();
    return Object.keys(map).flatMap((key) => {
      const isTwin = seen.has(key.toLowerCase());
      seen.add(key.toLowerCase());
      const field = shownStart(`${path}.${name}.${shownName(key)}`, 200);
      const message = `${field} is there twice: upper and lower case are the same in it.`;
      return isTwin ? [{ field, code: 'unique', message }] : [];
    });
  });
}
