import { type FieldError, ValidationError } from '../../platform/errors/app-error.js';
import { isPrivateHost } from '../../platform/addresses/target-rules.js';
import type { Targets } from '../../platform/net/targets.js';
import {
  type Config,
  type ConfigSchema,
  entryOf,
  isMap,
  isObject,
  secretNames,
  splitConfig,
} from './config-schema.js';

/** Fields that determine where secrets are sent: an address, or a host with port and TLS mode. */
export type Destination =
  | { readonly address: string }
  | { readonly host: string; readonly port: string; readonly secure: string };

/** Description of the configuration of a type. */
export interface ConfigDefinition {
  readonly schema: ConfigSchema;
  /** Destinations of secrets. If one changes, the secrets must be given again. */
  readonly destinations: readonly Destination[];
  /** Rules that the schema cannot express. `config` is valid by the schema. */
  problems(config: Config, path: string): FieldError[];
}

/** Types of connectors or channels. */
export class TypesByName<Type extends { readonly name: string }> {
  constructor(readonly all: readonly Type[]) {}

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

/** Scheme, host and port of each destination. */
export function originsOf({ schema, destinations }: ConfigDefinition, config: Config): string[] {
  return destinations.map((destination) => {
    const value = (name: string): unknown => valueOf(schema, config, name);
    if ('address' in destination) return new URL(String(value(destination.address))).origin;
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
  { schema, destinations }: ConfigDefinition,
  config: Config,
  path: string,
): FieldError[] {
  if (secretNames(schema, splitConfig(schema, config).secrets).length === 0) return [];
  return destinations.flatMap((destination) => {
    if (!('address' in destination)) return [];
    const { protocol, hostname } = new URL(String(valueOf(schema, config, destination.address)));
    if (protocol !== 'http:' || isPrivateHost(hostname)) return [];
    const field = `${path}.${destination.address}`;
    const message = `${field} must be an https address, because secrets are sent to it. http is allowed only in private networks.`;
    return [{ field, code: 'https_required', message }];
  });
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
