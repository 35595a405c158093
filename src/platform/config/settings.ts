import { isLoopback } from '../addresses/network.js';
import {
  approvalLevels,
  flag,
  integer,
  modelAddress,
  networks,
  oneOf,
  type Parser,
  protectedTargets,
  secretKeys,
  text,
  TRIAGE_PROVIDERS,
} from './setting-parsers.js';

const MINUTE = 60_000;
const perMinute = (fallback: number) => integer(fallback, 0, 1_000_000_000);

/** Names of the settings: `databaseUrl` is the variable `DATABASE_URL`. `.env.example` describes every setting. */
const SETTINGS = {
  port: integer(3000, 0, 65_535),
  host: text('127.0.0.1'),
  dataDir: text('.data'),
  logLevel: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  shutdownGraceMs: integer(15_000, 0, 10 * MINUTE),
  shutdownDelayMs: integer(0, 0, MINUTE),
  bodyLimitBytes: integer(1_048_576, 1024, 104_857_600),
  databaseUrl: text(undefined, /^postgres(ql)?:\/\//, 'a postgres:// address'),
  migrationDatabaseUrl: text(undefined, /^postgres(ql)?:\/\//, 'a postgres:// address'),
  embeddedDatabase: flag(true),
  databasePoolSize: integer(16, 2, 500),
  secretsKey: secretKeys,
  auditAnchorFile: text(undefined),
  trustProxy: networks,
  metricsToken: text(undefined, /^[\x21-\x7e]{16,}$/, 'at least 16 visible characters'),
  bootstrapAdminApiKey: text(
    undefined,
    /^its_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/,
    'its_, 8 letters or digits, _ and 43 letters, digits, - or _, such as: echo its_$(openssl rand -hex 4)_$(openssl rand -base64 32 | tr +/ -_ | tr -d =)',
  ),
  bootstrapAdminPassword: text(undefined, /^.{12,256}$/su, '12 to 256 characters'),
  rateLimitRead: perMinute(100),
  rateLimitWrite: perMinute(20),
  rateLimitPersonRead: perMinute(600),
  rateLimitPersonWrite: perMinute(120),
  rateLimitTriage: perMinute(10),
  rateLimitWebhook: perMinute(6_000),
  webhookSyncLimit: integer(64, 0, 100_000),
  redisUrl: text(undefined, /^rediss?:\/\//, 'a redis:// or rediss:// address'),
  publicUrl: text(
    undefined,
    /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
    'an http or https address without a query',
  ),
  allowedPrivateTargets: networks,
  approvalLevels: approvalLevels,
  approvalRaiseOnCritical: flag(false),
  protectedTargets: protectedTargets,
  approvalFourEyes: flag(false),
  approvalTtlMinutes: integer(1_440, 0, 525_600),
  actionRepeatMinutes: integer(60, 0, 525_600),
  playbookRunsPerHour: integer(200, 0, 1_000_000),
  actionWaitMs: integer(10_000, 0, 10 * MINUTE),
  actionLeaseMs: integer(60_000, 500, 60 * MINUTE),
  actionDeadlineMs: integer(15 * MINUTE, 500, 24 * 60 * MINUTE),
  reopenOnUpdate: flag(true),
  triageProvider: oneOf(TRIAGE_PROVIDERS),
  anthropicApiKey: text(undefined, /^[\x21-\x7e]{1,512}$/, 'up to 512 visible characters'),
  anthropicBaseUrl: modelAddress('https://api.anthropic.com'),
  anthropicModel: text(
    'claude-sonnet-5-5',
    /^[\w.:@/-]{1,200}$/,
    'a name of up to 200 letters, digits and . : @ / _ -',
  ),
  triageTimeoutMs: integer(45_000, 100, 10 * MINUTE),
  aiTokensPerHour: integer(2_000_000, 0, 1_000_000_000_000),
  otelExporterOtlpEndpoint: text(
    undefined,
    /^https?:\/\/[^\s/?#@]+(\/[^\s?#@]*)?$/,
    'an http or https address without a user or query',
  ),
} as const satisfies Readonly<Record<string, Parser<unknown>>>;

type ValueOf<Declared> = Declared extends Parser<infer Value> ? Value : never;
type Values = {
  readonly [Name in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[Name]>;
};

/** All settings, read once at the start. No other code reads the environment. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- loadSettings sets every value
export class Settings {}
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging, @typescript-eslint/no-empty-object-type -- loadSettings sets every value
export interface Settings extends Values {}

export const declaredSettings = Object.entries<Parser<unknown>>(SETTINGS).map(
  ([property, parser]) => ({
    property,
    variable: property.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
    parser,
  }),
);

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
