import { type Config, type ConfigSchema, isMap, isObject } from './config-schema.js';

/** A configuration in two halves: what everyone may read, and what nobody may. */
export interface ConfigParts {
  readonly open: Config;
  readonly secrets: Config;
}

export function splitConfig(schema: ConfigSchema, config: Config): ConfigParts {
  const entries = Object.entries(config);
  const secret = ([name]: [string, unknown]): boolean => isSecret(schema, name);
  return {
    open: Object.fromEntries(entries.filter((entry) => !secret(entry))),
    secrets: Object.fromEntries(entries.filter(secret)),
  };
}

/**
 * The configuration after a partial change: what it leaves out stays. Secret maps change entry by entry, because nobody
 * can read back the entries that shall stay; null takes one away.
 */
export function changeConfig(schema: ConfigSchema, before: Config, change: Config): Config {
  const changed = Object.entries(change).map(([name, value]) => {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const earlier = before[name];
    const merges = property?.writeOnly && isMap(property) && isObject(value) && isObject(earlier);
    return [name, merges ? withoutNulls({ ...earlier, ...value }) : value];
  });
  return { ...before, ...(Object.fromEntries(changed) as Config) };
}

/** Which secrets are set, as dotted paths such as `secrets.token`; their values are in none of them. */
export function secretNames(schema: ConfigSchema, secrets: Config): string[] {
  return Object.entries(secrets)
    .flatMap(([name, value]) =>
      isMap(schema.properties[name]!)
        ? Object.keys(value as object).map((key) => `${name}.${key}`)
        : [name],
    )
    .sort();
}

/** Every secret text, for taking it out of what goes elsewhere. */
export function secretTexts(secrets: Config): string[] {
  return Object.values(secrets).flatMap((value) =>
    isObject(value) ? secretTexts(value) : typeof value === 'string' ? [value] : [],
  );
}

function isSecret(schema: ConfigSchema, name: string): boolean {
  return schema.properties[name]?.writeOnly === true;
}

function withoutNulls(map: Record<string, unknown>): Config {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null));
}
