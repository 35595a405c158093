import type { FieldError } from '../../platform/errors/app-error.js';
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

/** The names of the fields that say where secrets are sent: an address, or a host, its port and whether TLS is used from the start. */
export type Destination =
  | { readonly address: string }
  | { readonly host: string; readonly port: string; readonly secure: string };

/** What a type declares about its configuration. */
export interface ConfigDefinition {
  readonly schema: ConfigSchema;
  /** Where secrets are sent to. When one of these changes, the secrets must be given again. */
  readonly destinations: readonly Destination[];
  /** Rules that the schema cannot express, applied to a configuration that the schema allows. */
  problems(config: Config, path: string): FieldError[];
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
 * The stored secrets that a change does not give again. Somebody who may change an address need not know the secrets, and
 * must not learn them by having them sent to an address of their own.
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

/** A value of the object itself: a secret may be called `constructor`, which every object inherits. */
function ownOf(object: Config, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function secretRequiredError(path: string, name: string): FieldError {
  const field = `${path}.${name}`;
  const message = `${field} must be given again: it would be sent to another scheme, host or port than it was given for.`;
  return { field, code: 'secret_required', message };
}

/** The addresses to which secrets would go through the internet without encryption. */
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
    const message = `${field} must be an https address, because secrets are sent to it; http is for addresses and names of private networks.`;
    return [{ field, code: 'https_required', message }];
  });
}

/** The value of a field, or its default. */
function valueOf({ properties }: ConfigSchema, config: Config, name: string): unknown {
  if (config[name] !== undefined) return config[name];
  const property = properties[name];
  return property && 'default' in property ? property.default : undefined;
}

/**
 * The IP addresses of a configuration that the service refuses to connect to. They can be refused when they are saved. A
 * name cannot: it may lead elsewhere tomorrow, and is judged at each call.
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
