import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import { type FieldError, ValidationError } from '../platform/errors/app-error.js';
import { shownName, shownStart } from '../platform/text.js';
import {
  type Config,
  type ConfigOf,
  type ConfigSchema,
  secretNames,
  type ValueSchema,
  withDefaults,
} from './target-config.js';
import { parsePointer, pointerTo } from '../platform/json-pointer.js';
import { isPrivateHost } from '../platform/addresses/target-rules.js';
import type { Targets } from '../platform/net/targets.js';

/** `ownProperties`: a field may have the name `constructor`. `verbose`: adds the schema, which messages quote. */
const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  ownProperties: true,
  allowUnionTypes: true,
  keywords: ['x-ignore-case'],
  formats: {
    uri: (text: string) => addressFault(text, 'uri') === undefined,
    'uri-with-query': (text: string) => addressFault(text, 'uri-with-query') === undefined,
  },
});

export function problemAt(path: string, code: string, text: string): FieldError {
  const field = shownStart(path, 200);
  return { field, code, message: `${field} ${text}.` };
}

/** Returns one error per invalid field. Messages never quote the configuration, because values may be secrets. */
export function configProblems(schema: ConfigSchema, config: unknown): FieldError[] {
  const validate = ajv.compile(schema);
  validate(config);
  // ajv reports an invalid name twice. This removes the second error, which has the keyword `propertyNames`.
  const errors = validate.errors?.filter(({ propertyName }) => propertyName === undefined) ?? [];
  return Array.from(Map.groupBy(errors, pointerOf), ([pointer, all]) => {
    // For a value of the wrong type or length, ajv also reports an unknown value (`enum`). The other error says more.
    const { keyword, parentSchema, data } = all.find((one) => one.keyword !== 'enum') ?? all[0]!;
    const ofField = parentSchema as ValueSchema;
    const [code, text] = (RULES[keyword.replace(/^(min|max)/, '')] ?? RULES[String(ofField.type)])!;
    const path = ['config', ...parsePointer(pointer)!.map(shownName)].join('.');
    return problemAt(path, code, text(ofField, data));
  });
}

function pointerOf({ instancePath, params }: ErrorObject): string {
  // If a name is missing or unknown, ajv gives the path of the enclosing object, so the name is appended.
  const { missingProperty, additionalProperty, propertyName } = params as Record<string, string>;
  const name = missingProperty ?? additionalProperty ?? propertyName;
  return name === undefined ? instancePath : pointerTo(instancePath, name);
}

type Rule = readonly [code: string, text: (schema: ValueSchema, value: unknown) => string];

const RULES: Readonly<Record<string, Rule>> = {
  required: ['required', () => 'is required'],
  additionalProperties: ['unknown_field', () => 'is not a known field'],
  propertyNames: ['unknown_field', () => 'is not a known name'],
  Properties: ['size', (one) => entries(one.minProperties, one.maxProperties)],
  Items: ['size', (one) => entries(one.minItems, one.maxItems)],
  uniqueItems: ['unique', () => 'must not contain duplicates'],
  Length: ['length', (one) => `must have ${one.minLength ?? 0} to ${one.maxLength} characters`],
  enum: ['is_in', ({ enum: words = [] }) => `must be one of ${words.join(', ')}`],
  pattern: ['matches', ({ pattern }) => `must match ${pattern}`],
  format: ['is_url', ({ format }, value) => addressFault(String(value), format)!],
  string: ['is_string', () => 'must be a string'],
  integer: ['is_int', (one) => `must be a whole number from ${one.minimum} to ${one.maximum}`],
  boolean: ['is_boolean', () => 'must be true or false'],
  array: ['is_array', () => 'must be a list'],
  object: ['is_json_object', () => 'must be an object'],
  'object,string': ['object_or_string', () => 'must be an object or a string'],
};

const entries = (min = 0, max?: number): string => `must have ${min} to ${max} entries`;

function addressFault(text: string, format: ValueSchema['format']): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute address';
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an https or http address';
  const [query, forbidden] = format === 'uri' ? [search, 'password, query'] : ['', 'password'];
  if (username + password + query + hash === '') return undefined;
  return `must have no user, ${forbidden} or fragment`;
}

export interface TargetType<Schema extends ConfigSchema = ConfigSchema> {
  readonly name: string;
  readonly description: string;
  readonly config: Schema;
  /** True if the secrets sign messages and are never sent, so that a new address does not require new secrets. */
  readonly signsOnly?: true;
  problems?(config: ConfigOf<Schema>, targets: Targets): FieldError[];
  sentTo?(config: ConfigOf<Schema>): readonly string[];
}

export class TypesByName<Type extends TargetType> {
  readonly all: readonly Type[];

  constructor(folder: string) {
    const load = createRequire(__filename);
    this.all = readdirSync(folder)
      .filter((name) => /^[a-z-]+\.[jt]s$/.test(name))
      .sort()
      .flatMap((name) => Object.values(load(join(folder, name)) as Record<string, Type>))
      .filter((exported) => typeof exported === 'object' && 'config' in exported);
  }

  find(name: string): Type | undefined {
    return this.all.find((type) => type.name === name);
  }

  named(name: string): Type {
    const type = this.find(name);
    if (type) return type;
    const names = this.all.map((one) => one.name).join(', ');
    throw ValidationError.of('type', 'is_in', `type must be one of ${names}.`);
  }
}

/** Returns the origin of each place that receives secrets. Skips an address that is a secret and was lost. */
export function originsOf(schema: ConfigSchema, config: Config): string[] {
  if (schema.properties['host']) {
    const { host, port, secure } = withDefaults(schema, config) as Record<string, string | boolean>;
    return [`${secure ? 'tls' : 'tcp'}://${String(host).toLowerCase()}:${port}`];
  }
  return addressesIn(schema, config).map(([, { origin }]) => origin);
}

function addressesIn({ properties }: ConfigSchema, config: Config) {
  return Object.entries(properties).flatMap(([name, { format, default: value }]) => {
    const address = config[name] ?? value;
    return format && typeof address === 'string' && URL.canParse(address)
      ? [[name, new URL(address)] as const]
      : [];
  });
}

/** Returns the names of the stored secrets that a change omits: changing an address must not reveal secrets. */
export function secretsNotGivenAgain(
  schema: ConfigSchema,
  before: Config,
  change: Config,
): string[] {
  const given = secretNames(schema, change);
  return secretNames(schema, before).filter(
    (path) => !given.includes(path) && !given.includes(path.replace(/\..*/, '')),
  );
}

/** Returns the problems of addresses. Each call resolves names again, because their addresses may change. */
export function addressProblems(
  schema: ConfigSchema,
  config: Config,
  targets: Targets,
): FieldError[] {
  const hasSecrets = secretNames(schema, config).length > 0;
  return addressesIn(schema, config).flatMap(([name, { protocol, hostname }]) => {
    const field = `config.${name}`;
    if (targets.refusesAddress(hostname)) return [refusedTarget(field)];
    if (!hasSecrets || protocol !== 'http:' || isPrivateHost(hostname)) return [];
    const text = 'must be an https address. http is allowed only in private networks';
    return [problemAt(field, 'https_required', text)];
  });
}

export function refusedTarget(field: string): FieldError {
  const text =
    'must be in a public network or in a network that ALLOWED_PRIVATE_TARGETS names. Cloud metadata is always refused';
  return problemAt(field, 'target_refused', text);
}

export function allProblems(kind: TargetType, config: Config, targets: Targets): FieldError[] {
  const ofSchema = configProblems(kind.config, config);
  if (ofSchema.length > 0) return ofSchema;
  return [
    ...addressProblems(kind.config, config, targets),
    ...(kind.problems?.(config, targets) ?? []),
  ];
}
