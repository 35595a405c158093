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
  share,
  text,
  TRIAGE_PROVIDERS,
} from './setting-parsers.js';

const MINUTE = 60_000;
const perMinute = (fallback: number) => integer(fallback, 0, 1_000_000_000);

/** Settings with their descriptions. `databaseUrl` is the environment variable `DATABASE_URL`. */
const SETTINGS = {
  port: ['Port to listen on. 0: any free port.', integer(3000, 0, 65_535)],
  host: ['Address to listen on. Use 0.0.0.0 in a container.', text('127.0.0.1')],
  dataDir: [
    'Folder of the embedded database, its keys, and the credentials of the first start.',
    text('.data'),
  ],
  logLevel: [
    'Minimum level of log lines.',
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  ],
  shutdownGraceMs: [
    'Time for requests and jobs to finish after SIGTERM, in milliseconds.',
    integer(15_000, 0, 10 * MINUTE),
  ],
  shutdownDelayMs: [
    'Time to keep serving requests after SIGTERM while readiness already fails, in milliseconds, so that a load balancer notices.',
    integer(0, 0, MINUTE),
  ],
  bodyLimitBytes: [
    'Maximum size of a request body in bytes.',
    integer(1_048_576, 1024, 104_857_600),
  ],
  databaseUrl: [
    'PostgreSQL 14 or newer, such as postgres://user:password@host:5432/name?sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem. sslmode has the meaning of libpq. Unset: the embedded database in DATA_DIR.',
    text(undefined, /^postgres(ql)?:\/\//, 'a postgres:// address'),
  ],
  migrationDatabaseUrl: [
    'The same database with the role that owns its tables, for migrations. The role of DATABASE_URL then needs the privileges of docs/service-role.sql. Unset: the role of DATABASE_URL owns the tables.',
    text(undefined, /^postgres(ql)?:\/\//, 'a postgres:// address'),
  ],
  embeddedDatabase: [
    'Allows the embedded database. The container image sets false, because it loses data outside a volume.',
    flag(true),
  ],
  databasePoolSize: ['Number of connections that requests share.', integer(16, 2, 500)],
  secretsKey: [
    'Keys that encrypt stored secrets and sign the audit trail: base64 of 32 bytes each, comma-separated. The first key encrypts, all decrypt; put a new key in front. Required with DATABASE_URL. Unset: the embedded database creates a key in DATA_DIR/secrets.key.',
    secretKeys,
  ],
  auditAnchorFile: [
    'File with the head of the audit trail, outside the database, which detects a trail that was reset. Unset: DATA_DIR/audit-anchor.json.',
    text(undefined),
  ],
  trustProxy: [
    'Proxies whose X-Forwarded-* headers are trusted, as comma-separated CIDRs.',
    networks,
  ],
  metricsToken: [
    'Bearer token for /metrics and /health/detailed. Unset: /metrics is open.',
    text(undefined, /^[\x21-\x7e]{16,}$/, 'at least 16 visible characters'),
  ],
  bootstrapAdminApiKey: [
    'API key with the role admin, created by the first start: its_, 8 letters or digits, _ and 43 letters, digits, - or _. Unset: with the embedded database a key is generated and stored in DATA_DIR/bootstrap-credentials.json; with an external database none is created. No effect once the key exists.',
    text(
      undefined,
      /^its_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/,
      'its_, 8 letters or digits, _ and 43 letters, digits, - or _, such as: echo its_$(openssl rand -hex 4)_$(openssl rand -base64 32 | tr +/ -_ | tr -d =)',
    ),
  ],
  bootstrapAdminPassword: [
    'Password of the user admin, created by the first start: 12 to 256 characters, and not a common password. Unset: as for BOOTSTRAP_ADMIN_API_KEY. No effect once the user exists.',
    text(undefined, /^.{12,256}$/su, '12 to 256 characters'),
  ],
  rateLimitRead: ['Reads per minute and principal. 0: no limit.', perMinute(100)],
  rateLimitWrite: ['Writes per minute and principal. 0: no limit.', perMinute(20)],
  rateLimitPersonRead: [
    'Reads per minute of a person with a session, instead of RATE_LIMIT_READ. 0: no limit.',
    perMinute(600),
  ],
  rateLimitPersonWrite: [
    'Writes per minute of a person with a session, instead of RATE_LIMIT_WRITE. 0: no limit.',
    perMinute(120),
  ],
  rateLimitTriage: ['Triage requests per minute and principal. 0: no limit.', perMinute(10)],
  rateLimitWebhook: [
    'Webhook events per minute and source, counting each event of a body. 0: no limit. A body is accepted whole while the limit is not reached.',
    perMinute(6_000),
  ],
  webhookSyncLimit: [
    'Number of concurrent webhook requests whose incidents are created before the response. Further events are stored, answered with 202, and processed by a worker. 0: no limit.',
    integer(64, 0, 100_000),
  ],
  redisUrl: [
    'Redis that counts rate limits for all replicas, such as redis://host:6379. Unset: each replica counts separately.',
    text(undefined, /^rediss?:\/\//, 'a redis:// or rediss:// address'),
  ],
  publicUrl: [
    'Public address of this service for links in notifications and for the served contract, such as https://triage.example.com. Unset: no links, and the contract names 127.0.0.1.',
    text(
      undefined,
      /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
      'an http or https address without a query',
    ),
  ],
  allowedPrivateTargets: [
    'Private networks that connectors and notifications may reach, as comma-separated CIDRs. Cloud metadata addresses are always refused.',
    networks,
  ],
  approvalLevels: [
    'Approval levels of action types, instead of their defaults, as JSON: {"isolate_host": "manager", "block_ip": "none"}. Levels: none, analyst, senior, manager.',
    approvalLevels,
  ],
  approvalRaiseOnCritical: [
    'Raises the approval levels on critical incidents: analyst to senior, senior to manager. Lowering the severity of a critical incident then also requires a senior.',
    flag(false),
  ],
  protectedTargets: [
    'Targets whose actions require a manager, as JSON with * as wildcard: {"hosts": ["dc-*"], "users": ["admin*"], "senders": [], "domains": ["example.com"], "ips": ["10.0.*"]}. A domain also protects its subdomains, its senders and URLs with such a host. A short host or user name also matches its qualified form. ips may be CIDRs. Look-ups are included. A target with * or ? counts as protected if any protected target has its type.',
    protectedTargets,
  ],
  approvalFourEyes: [
    'Requires another person to approve: nobody can approve an own request, also not with another own key, and rolling back an own action requires the approval of another person.',
    flag(false),
  ],
  approvalTtlMinutes: [
    'Time until an unapproved action is rejected, in minutes. 0: no limit.',
    integer(1_440, 0, 525_600),
  ],
  actionRepeatMinutes: [
    'Time after an action during which the same action on the same target is refused, in minutes, unless the request has `repeat`. 0: never refused.',
    integer(60, 0, 525_600),
  ],
  playbookRunsPerHour: [
    'Maximum automatic runs per hour of one playbook. Further runs wait. 0: no limit.',
    integer(200, 0, 1_000_000),
  ],
  actionWaitMs: [
    'Maximum wait of a request for its action, in milliseconds. A slower action continues and the response is 202.',
    integer(10_000, 0, 10 * MINUTE),
  ],
  actionLeaseMs: [
    'Time after its last heartbeat when a replica counts as dead and another one settles its actions, in milliseconds.',
    integer(60_000, 500, 60 * MINUTE),
  ],
  actionDeadlineMs: [
    'Time that a vendor has to finish an accepted action before its outcome counts as unknown, in milliseconds.',
    integer(15 * MINUTE, 500, 24 * 60 * MINUTE),
  ],
  reopenOnUpdate: [
    'Reopens a resolved incident if a later event adds information. When off, the incident stays resolved and its timeline records the event.',
    flag(true),
  ],
  triageProvider: [
    'Source of verdicts: anthropic (a language model), rules (the built-in scorer, without network access) or none. Unset: anthropic if ANTHROPIC_API_KEY is set, otherwise rules with the embedded database and none with an external one.',
    oneOf(TRIAGE_PROVIDERS),
  ],
  anthropicApiKey: [
    'API key of the model provider. It is sent only to ANTHROPIC_BASE_URL.',
    text(undefined, /^[\x21-\x7e]{1,512}$/, 'up to 512 visible characters'),
  ],
  anthropicBaseUrl: [
    'Address of the Messages API: of the provider, or of your proxy. It may be in a private network without being in ALLOWED_PRIVATE_TARGETS. http is allowed only in private networks.',
    modelAddress('https://api.anthropic.com'),
  ],
  anthropicModel: [
    'Name of the model. Each run records the model that answered.',
    text(
      'claude-sonnet-5-5',
      /^[\w.:@/-]{1,200}$/,
      'a name of up to 200 letters, digits and . : @ / _ -',
    ),
  ],
  triageTimeoutMs: [
    'Maximum time of one triage run with all its questions and retries, in milliseconds.',
    integer(45_000, 100, 10 * MINUTE),
  ],
  aiTokensPerHour: [
    'Tokens per hour of all replicas together, input and output. Above it triage waits. 0: no limit. The default covers some hundred incidents per hour, so a flood costs no more than a busy hour.',
    integer(2_000_000, 0, 1_000_000_000_000),
  ],
  otelExporterOtlpEndpoint: [
    'OpenTelemetry collector for traces, such as http://collector.internal:4318. The service appends /v1/traces. The SDK of OpenTelemetry reads further variables, such as OTEL_EXPORTER_OTLP_HEADERS and OTEL_SERVICE_NAME. Unset: no traces.',
    text(
      undefined,
      /^https?:\/\/[^\s/?#@]+(\/[^\s?#@]*)?$/,
      'an http or https address without a user or query',
    ),
  ],
  otelTracesSamplerArg: [
    'Share of traces that are sent, 0 to 1. A request whose traceparent asks not to be sent is not sent.',
    share(1),
  ],
} as const satisfies Readonly<Record<string, readonly [string, Parser<unknown>]>>;

/** Headings of `.env.example`, each before a setting. */
const HEADINGS: Readonly<Record<string, string>> = {
  port: 'Service',
  databaseUrl: 'Database',
  secretsKey: 'Secrets',
  trustProxy: 'Access',
  rateLimitRead: 'Limits',
  publicUrl: 'Outbound',
  approvalLevels: 'Actions',
  reopenOnUpdate: 'Triage',
  otelExporterOtlpEndpoint: 'Traces',
};

type ValueOf<Declared> = Declared extends readonly [string, Parser<infer Value>] ? Value : never;
type Values = {
  readonly [Name in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[Name]>;
};

/** All settings, read once at the start. No other code reads the environment. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- loadSettings sets every value
export class Settings {}
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging, @typescript-eslint/no-empty-object-type -- loadSettings sets every value
export interface Settings extends Values {}

export const declaredSettings = Object.entries<readonly [string, Parser<unknown>]>(SETTINGS).map(
  ([property, [description, parser]]) => ({
    heading: HEADINGS[property],
    property,
    variable: property.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
    description,
    parser,
  }),
);
