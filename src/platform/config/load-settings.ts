import { isLoopback } from '../addresses/network.js';
import type { Parser } from './setting-parsers.js';
import { declaredSettings, Settings } from './settings.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as unset, so that `NAME=` in an env file has no effect. */
export function loadSettings(environment: Environment = process.env): Settings {
  const settings = new Settings();
  for (const { property, variable, parser } of declaredSettings) {
    const given = environment[variable] ?? '';
    const value = given === '' ? parser.fallback : readValue(variable, given.trim(), parser);
    Object.assign(settings, { [property]: value });
  }
  refuseContradictions(settings);
  return Object.freeze(settings);
}

/** Returns the configured provider. Default: `anthropic` with an API key, else `rules` in a trial, else `none`. */
export function chosenProvider({ triageProvider, anthropicApiKey, databaseUrl }: Settings) {
  if (triageProvider) return triageProvider;
  if (anthropicApiKey !== undefined) return 'anthropic';
  return databaseUrl === undefined ? 'rules' : 'none';
}

function refuseContradictions(settings: Settings): void {
  const { anthropicApiKey, databaseUrl, embeddedDatabase, migrationDatabaseUrl } = settings;
  if (migrationDatabaseUrl !== undefined && databaseUrl === undefined) {
    throw new Error(
      'MIGRATION_DATABASE_URL requires DATABASE_URL, which names the role of the service.',
    );
  }
  if (chosenProvider(settings) === 'anthropic' && anthropicApiKey === undefined) {
    throw new Error('TRIAGE_PROVIDER=anthropic requires ANTHROPIC_API_KEY.');
  }
  if (databaseUrl === undefined && !embeddedDatabase) {
    throw new Error(
      'EMBEDDED_DATABASE=false requires DATABASE_URL. In a container, alternatively set EMBEDDED_DATABASE=true and mount a volume at DATA_DIR.',
    );
  }
}

/** If the value is invalid, the error omits the value, which may be a secret. */
export function readValue<T>(name: string, value: string, parser: Parser<T>): T {
  try {
    return parser.read(value);
  } catch (error) {
    throw new Error(`${name} ${(error as Error).message}.`, { cause: error });
  }
}

export function exposureWarning({
  host,
  trustProxy,
}: Pick<Settings, 'host' | 'trustProxy'>): string | undefined {
  if (trustProxy.length > 0 || host === 'localhost' || isLoopback(host)) return undefined;
  return `HOST is ${host} and TRUST_PROXY is not set, so X-Forwarded-* headers are ignored. Behind a proxy, all callers share one address and its limits, and session cookies are not marked Secure. Set TRUST_PROXY to the addresses of the proxy.`;
}
