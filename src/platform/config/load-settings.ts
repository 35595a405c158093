import { declaredSettings } from './setting.js';
import { Settings } from './settings.js';
import { chosenProvider } from './triage-settings.js';
import { isLoopback } from '../addresses/network.js';

/** A setting that cannot be used: the message is the one line that the operator sees. */
export class SettingError extends Error {}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Unset and empty mean the same, so that `NAME=` in an env file is not a value. */
export function loadSettings(environment: Environment = process.env): Settings {
  const settings = new Settings();
  for (const { property, variable, parser } of declaredSettings()) {
    const given = environment[variable]?.trim();
    Object.defineProperty(settings, property, {
      value:
        given === undefined || given === '' ? parser.fallback : read(variable, given, parser.read),
      enumerable: true,
    });
  }
  refuseContradictions(settings);
  return Object.freeze(settings);
}

function refuseContradictions(settings: Settings): void {
  const { anthropicApiKey, container, databaseUrl, embeddedDatabase, migrationDatabaseUrl } =
    settings;
  if (migrationDatabaseUrl !== undefined && databaseUrl === undefined) {
    throw new SettingError(
      'DATABASE_URL is needed with MIGRATION_DATABASE_URL: it names the role that the service runs as.',
    );
  }
  if (chosenProvider(settings) === 'anthropic' && anthropicApiKey === undefined) {
    throw new SettingError('ANTHROPIC_API_KEY is needed with TRIAGE_PROVIDER=anthropic.');
  }
  if (container && databaseUrl === undefined && !embeddedDatabase) {
    throw new SettingError(
      'DATABASE_URL is needed in a container; EMBEDDED_DATABASE=true keeps the data in DATA_DIR instead, which then has to be on a volume.',
    );
  }
}

function read(variable: string, given: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(given);
  } catch (error) {
    // The value itself is left out: it may be a secret.
    throw new SettingError(`${variable} ${error instanceof Error ? error.message : 'is invalid'}.`);
  }
}

/** What an operator should be told who lets others reach the service and names no proxy. */
export function exposureWarning({
  host,
  trustProxy,
}: Pick<Settings, 'host' | 'trustProxy'>): string | undefined {
  if (trustProxy.length > 0 || host === 'localhost' || isLoopback(host)) return undefined;
  return `HOST is ${host} and TRUST_PROXY is not set: X-Forwarded-* headers do not count. Behind a proxy all callers share one address and its limits, and session cookies are not marked Secure; set TRUST_PROXY to the addresses of the proxy.`;
}
