import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import { type FieldError, MOST_ERRORS, ValidationError } from '../platform/errors/app-error.js';
import { shownName, shownStart } from '../platform/text.js';
import {
  type ConfigSchema,
  type StringSchema,
  type Config,
  ignoresCase,
  isMap,
  isObject,
  entryOf,
  secretNames,
  splitConfig,
} from './target-config.js';
import { isPrivateHost } from '../platform/addresses/target-rules.js';
import type { Targets } from '../platform/net/targets.js';

/** `ownProperties`: a field may be named `constructor`. `verbose`: messages quote the schema of the error. */
const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  ownProperties: true,
  allowUnionTypes: true,
  keywords: ['x-ignore-case'],
  formats: {
    uri: (text: string) => addressRule(text, 'uri') === undefined,
    'uri-with-query': (text: string) => addressRule(text, 'uri-with-query') === undefined,
  },
});

type AddressFormat = NonNullable<StringSchema['format']>;

type Rule = readonly [code: string, text: string];

/** Keywords that messages quote. */
interface Keywords {
  readonly type: unknown;
  readonly enum: readonly string[];
  readonly pattern: string;
  readonly format: AddressFormat;
  readonly minimum: number;
  readonly maximum: number;
  readonly minLength?: number;
  readonly maxLength: number;
  readonly minItems?: number;
  readonly maxItems: number;
  readonly minProperties?: number;
  readonly maxProperties: number;
}

/**
 * Validates a configuration against the schema of its type. Returns one error per invalid field, with its dotted path.
 * Messages never quote the configuration, because values may be secrets.
 */
export function configProblems(schema: ConfigSchema, config: unknown, path: string): FieldError[] {
  // Ajv caches each compiled schema. There is one per type.
  const validate = ajv.compile(schema);
  validate(config);
  const errors = validate.errors ?? [];
  const found = new Map<string, FieldError>();
  // A value of the wrong type or length is not reported a second time as an unknown value.
  const wrongOtherwise = new Set(
    errors.filter(({ keyword }) => keyword !== 'enum').map(({ instancePath }) => instancePath),
  );
  for (const error of errors) {
    if (error.keyword === 'enum' && wrongOtherwise.has(error.instancePath)) continue;
    // Describes an invalid name. The following error of the keyword `propertyNames` reports it.
    if (error.propertyName !== undefined) continue;
    const pointer = pointerOf(error);
    const isToldAlready = [...found.keys()].some((told) => `${pointer}/`.startsWith(`${told}/`));
    if (!isToldAlready) found.set(pointer, fieldError(path, pointer, ruleOf(error)));
    if (found.size === MOST_ERRORS) break;
  }
  return [...found.values()];
}

/** JSON pointer of the invalid field. For a missing or unknown name, ajv points to the object around it. */
function pointerOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty, propertyName } = params as Record<string, string>;
  const name = missingProperty ?? additionalProperty ?? propertyName;
  return name === undefined ? instancePath : `${instancePath}/${escapeJsonPointer(name)}`;
}

function fieldError(path: string, pointer: string, [code, text]: Rule): FieldError {
  // A name in the request may be as long as the body.
  const names = pointer.split('/').slice(1).map(unescapeJsonPointer).map(shownName);
  const field = shownStart([path, ...names].join('.'), 200);
  return { field, code, message: `${field} ${text}.` };
}

function escapeJsonPointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapeJsonPointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function ruleOf({ keyword, parentSchema, data }: ErrorObject): Rule {
  const schema = parentSchema as Keywords;
  switch (keyword) {
    case 'required':
      return ['required', 'is required'];
    case 'additionalProperties':
      return ['unknown_field', 'is not a known field'];
    case 'propertyNames':
      return ['unknown_field', 'is not a known name'];
    case 'minProperties':
    case 'maxProperties':
      return ['size', `must have ${schema.minProperties ?? 0} to ${schema.maxProperties} entries`];
    case 'minItems':
    case 'maxItems':
      return ['size', `must have ${schema.minItems ?? 0} to ${schema.maxItems} entries`];
    case 'uniqueItems':
      return ['unique', 'must not contain duplicates'];
    case 'minLength':
    case 'maxLength':
      return ['length', `must have ${schema.minLength ?? 0} to ${schema.maxLength} characters`];
    case 'enum':
      return ['is_in', `must be one of ${schema.enum.join(', ')}`];
    case 'pattern':
      return ['matches', `must match ${schema.pattern}`];
    case 'format':
      return ['is_url', addressRule(String(data), schema.format)!];
    default:
      return typeRule(schema);
  }
}

function typeRule(schema: Keywords): Rule {
  switch (schema.type) {
    case 'string':
      return ['is_string', 'must be a string'];
    case 'integer':
      return ['is_int', `must be a whole number from ${schema.minimum} to ${schema.maximum}`];
    case 'boolean':
      return ['is_boolean', 'must be true or false'];
    case 'array':
      return ['is_array', 'must be a list'];
    case 'object':
      return ['is_json_object', 'must be an object'];
    default:
      return ['object_or_string', 'must be an object or a string'];
  }
}

/** Fault of an address, stricter than the JSON Schema format `uri`; `undefined` if it is valid. */
function addressRule(text: string, format: AddressFormat): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute address';
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an https or http address';
  const forbidden = username + password + hash + (format === 'uri' ? search : '');
  if (forbidden === '') return undefined;
  return format === 'uri'
    ? 'must have no user, password, query or fragment'
    : 'must have no user, password or fragment';
}

/** Finds names that differ only in case in case-insensitive maps, because it would be undefined which one is sent. */
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
      const message = `${field} is given twice: its names are case-insensitive.`;
      return isTwin ? [{ field, code: 'unique', message }] : [];
    });
  });
}

/** Fields that determine where secrets are sent: an address, or a host with port and TLS mode. */
export type Destination =
  | { readonly address: string }
  | { readonly host: string; readonly port: string; readonly secure: string };

/** Description of the configuration of a type. */
export interface ConfigDefinition {
  readonly config: ConfigSchema;
  /** Destinations of secrets. If one changes, the secrets must be given again. */
  readonly destinations: readonly Destination[];
  /** Rules that the schema cannot express. `config` is valid by the schema. */
  problems(config: Config, path: string, targets: Targets): FieldError[];
}

/** The types of connectors or channels that the files of a folder export, in the order of the file names. */
export class TypesByName<Type extends { readonly name: string }> {
  readonly all: readonly Type[];

  constructor(folder: string, kind: abstract new (...args: never) => Type) {
    const load = createRequire(__filename);
    this.all = readdirSync(folder)
      .filter((name) => /^[a-z-]+\.[jt]s$/.test(name))
      .sort()
      .flatMap((name): unknown[] => Object.values(load(join(folder, name)) as object))
      .filter((exported): exported is Type => exported instanceof kind);
  }

  find(name: string): Type | undefined {
    return this.all.find((type) => type.name === name);
  }

  get names(): readonly string[] {
    return this.all.map(({ name }) => name);
  }

  /** Throws a ValidationError for an unknown type. */
  named(name: string): Type {
    const type = this.find(name);
    if (type) return type;
    const message = `type must be one of ${this.names.join(', ')}.`;
    throw ValidationError.of('type', 'is_in', message);
  }
}

/** Scheme, host and port of each destination. An address that is a lost secret has none. */
export function originsOf(
  { config: schema, destinations }: ConfigDefinition,
  config: Config,
): string[] {
  return destinations.flatMap((destination) => {
    const value = (name: string): unknown => valueOf(schema, config, name);
    if ('address' in destination) {
      const address = String(value(destination.address));
      return URL.canParse(address) ? [new URL(address).origin] : [];
    }
    const scheme = value(destination.secure) === true ? 'tls' : 'tcp';
    const host = String(value(destination.host)).toLowerCase();
    return `${scheme}://${host}:${String(value(destination.port))}`;
  });
}

/**
 * Stored secrets that a change does not contain. Somebody who can change an address must not learn the secrets by
 * sending them to their own address.
 */
export function secretsNotGivenAgain(
  schema: ConfigSchema,
  before: Config,
  change: Config,
): string[] {
  return secretNames(schema, splitConfig(schema, before).secrets).filter((path) => {
    const [, name = '', key] = /^([^.]*)\.?(.*)$/s.exec(path) ?? [];
    const given = ownOf(change, name);
    const property = schema.properties[name];
    const entry = property && isMap(property) && isObject(given) && key;
    return (entry ? entryOf(property, given, key) : given) === undefined;
  });
}

/** Own property only: a secret may be named `constructor`. */
function ownOf(object: Config, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function secretRequiredError(path: string, name: string): FieldError {
  const field = `${path}.${name}`;
  const message = `${field} must be given again, because the scheme, host or port of its destination changes.`;
  return { field, code: 'secret_required', message };
}

/** Addresses to which secrets would be sent unencrypted over the internet. */
export function plainTextProblems(
  { config: schema, destinations }: ConfigDefinition,
  config: Config,
  path: string,
): FieldError[] {
  if (secretNames(schema, splitConfig(schema, config).secrets).length === 0) return [];
  return destinations.flatMap((destination) => {
    if (!('address' in destination)) return [];
    const address = String(valueOf(schema, config, destination.address));
    return httpsProblems(address, `${path}.${destination.address}`);
  });
}

/** Requires https on the internet, because secrets or reports about incidents are sent to the address. */
export function httpsProblems(address: string, field: string): FieldError[] {
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'http:' || isPrivateHost(hostname)) return [];
  const message = `${field} must be an https address. http is allowed only in private networks.`;
  return [{ field, code: 'https_required', message }];
}

/** Value of a field, or its default. */
function valueOf({ properties }: ConfigSchema, config: Config, name: string): unknown {
  if (config[name] !== undefined) return config[name];
  const property = properties[name];
  return property && 'default' in property ? property.default : undefined;
}

/**
 * Rejects IP addresses that the service must not connect to. Names are checked at each call, because they may resolve
 * differently later.
 */
export function refusedTargetProblems(
  schema: ConfigSchema,
  config: Config,
  path: string,
  targets: Targets,
): FieldError[] {
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    const value = config[name];
    if (property.type !== 'string' || !property.format || typeof value !== 'string') {
      return [];
    }
    const refusal = targets.refusalOfAddress(new URL(value).hostname);
    const field = `${path}.${name}`;
    return refusal ? [{ field, code: 'target_refused', message: `${field}: ${refusal}` }] : [];
  });
}
