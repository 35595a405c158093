import type { KeyObject } from 'node:crypto';
import { type ApprovalLevelsSetting, approvalLevels, protectedTargets } from './policy-settings.js';
import type { ProtectedTargetsSetting } from '../../action-catalogue/protected-targets/protected-targets.js';
import {
  flag,
  integer,
  list,
  oneOf,
  optionalText,
  readSecretKey,
  Setting,
  text,
} from './setting.js';
import { readIpRange } from '../addresses/ip-address.js';
import { modelAddress, modelName, triageProvider, type TriageProvider } from './triage-settings.js';
import { otlpHeaders, share, TRACES_SAMPLERS, type TracesSampler } from './tracing-settings.js';

const SERVICE = 'Service';
const DATABASE = 'Database';
const SECRETS = 'Secrets';
const ACCESS = 'Access';
const LIMITS = 'Limits';
const ACTIONS = 'Actions';
const OUTBOUND = 'Outbound';
const TRIAGE = 'Triage';
const TRACES = 'Traces';

const MINUTE = 60_000;

/** Everything that can be configured, as read once at start. Nothing else reads the environment. */
export class Settings {
  @Setting(SERVICE, 'Port to listen on; 0 takes any free one.', integer(3000, 0, 65_535))
  readonly port: number;

  @Setting(SERVICE, 'Address to listen on. Use 0.0.0.0 in a container.', text('127.0.0.1'))
  readonly host: string;

  @Setting(
    SERVICE,
    'Folder for what the embedded database and the first start leave: the cluster, keys, credentials.',
    text('.data'),
  )
  readonly dataDir: string;

  @Setting(
    SERVICE,
    'Least level that is logged. SIGUSR2 turns lines for debugging on, and off again, without a restart.',
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  )
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

  @Setting(
    SERVICE,
    'How long requests and jobs may take to finish after SIGTERM, in milliseconds.',
    integer(15_000, 0, 10 * MINUTE),
  )
  readonly shutdownGraceMs: number;

  @Setting(
    SERVICE,
    'How long to keep answering after SIGTERM while readiness already fails, in milliseconds: the time a load balancer takes to notice.',
    integer(0, 0, MINUTE),
  )
  readonly shutdownDelayMs: number;

  @Setting(SERVICE, 'Largest request body in bytes.', integer(1_048_576, 1024, 104_857_600))
  readonly bodyLimitBytes: number;

  @Setting(
    SERVICE,
    'Memory for all request bodies that are under way, in bytes; what has no room is answered with 503. Never less than BODY_LIMIT_BYTES; callers without a credential get half of it at most.',
    integer(16_777_216, 65_536, 10_737_418_240),
  )
  readonly bodiesLimitBytes: number;

  @Setting(
    DATABASE,
    'PostgreSQL 14 or newer, such as postgres://user:password@host:5432/name?sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem; sslmode means what it means to libpq. Unset: the embedded database under DATA_DIR.',
    optionalText('', { pattern: /^postgres(ql)?:\/\//, hint: 'a postgres:// address' }),
  )
  readonly databaseUrl: string | undefined;

  @Setting(
    DATABASE,
    'The same database as the role that owns its tables: migrations run as this one, and the role of DATABASE_URL, which should own nothing, is granted what the service needs. Unset: the role of DATABASE_URL does both.',
    optionalText('', { pattern: /^postgres(ql)?:\/\//, hint: 'a postgres:// address' }),
  )
  readonly migrationDatabaseUrl: string | undefined;

  @Setting(
    DATABASE,
    'Lets the container image, which otherwise refuses to start without DATABASE_URL, use the embedded database.',
    flag(false),
  )
  readonly embeddedDatabase: boolean;

  @Setting(
    DATABASE,
    'Set by the container image: what is not on a volume is lost with a container, so the embedded database has to be asked for.',
    flag(false),
  )
  readonly container: boolean;

  @Setting(DATABASE, 'Connections that requests share.', integer(16, 2, 500))
  readonly databasePoolSize: number;

  @Setting(
    DATABASE,
    'How long one statement may take before it is given up, in milliseconds.',
    integer(10_000, 100, 10 * MINUTE),
  )
  readonly databaseStatementTimeoutMs: number;

  @Setting(
    DATABASE,
    'How long a request waits for a free connection, in milliseconds.',
    integer(3_000, 50, MINUTE),
  )
  readonly databaseConnectTimeoutMs: number;

  @Setting(
    DATABASE,
    'How long the start waits for an external database that does not answer yet, in milliseconds.',
    integer(30_000, 0, 10 * MINUTE),
  )
  readonly databaseWaitMs: number;

  @Setting(
    SECRETS,
    'Keys that encrypt stored secrets and vouch for the audit trail: 32 bytes in base64 each, comma separated. The first encrypts, all decrypt, so a new one goes in front. Needed with DATABASE_URL; unset, the embedded database gets one in DATA_DIR/secrets.key.',
    list(readSecretKey),
  )
  readonly secretsKey: readonly KeyObject[];

  @Setting(
    SECRETS,
    'Keeps the end of the audit trail outside its database, to notice when the trail was put back. Unset: DATA_DIR/audit-anchor.json.',
    optionalText(),
  )
  readonly auditAnchorFile: string | undefined;

  @Setting(
    ACCESS,
    'Proxies (CIDRs, comma separated) whose X-Forwarded-* headers count.',
    list(readCidr),
  )
  readonly trustProxy: readonly string[];

  @Setting(
    ACCESS,
    'Bearer token for /metrics and /health/detailed. Unset: /metrics is open.',
    optionalText('', { pattern: /^[\x21-\x7e]{16,}$/, hint: 'at least 16 visible characters' }),
  )
  readonly metricsToken: string | undefined;

  @Setting(
    ACCESS,
    'API key of the admin role that the first start makes. Unset: with the embedded database one is made up and kept in DATA_DIR/bootstrap-credentials.json, with an external one none is made. Once there is such a key it changes nothing.',
    optionalText('', {
      pattern: /^its_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/,
      hint: 'its_, 8 letters or digits, _ and 43 letters, digits, - or _, such as: echo its_$(openssl rand -hex 4)_$(openssl rand -base64 32 | tr +/ -_ | tr -d =)',
    }),
  )
  readonly bootstrapAdminApiKey: string | undefined;

  @Setting(
    ACCESS,
    'Password of the user admin that the first start makes, 12 to 256 characters and none of the common ones. Unset: as for BOOTSTRAP_ADMIN_API_KEY. Once there is such a user it changes nothing.',
    optionalText('', { pattern: /^.{12,256}$/su, hint: '12 to 256 characters' }),
  )
  readonly bootstrapAdminPassword: string | undefined;

  @Setting(
    LIMITS,
    'Reads per minute and principal; 0 for no limit.',
    integer(100, 0, 1_000_000_000),
  )
  readonly rateLimitRead: number;

  @Setting(
    LIMITS,
    'Writes per minute and principal; 0 for no limit.',
    integer(20, 0, 1_000_000_000),
  )
  readonly rateLimitWrite: number;

  @Setting(
    LIMITS,
    'Triage requests per minute and principal; 0 for no limit.',
    integer(10, 0, 1_000_000_000),
  )
  readonly rateLimitTriage: number;

  @Setting(
    LIMITS,
    'Webhook events per minute and source, each event of a body counted; 0 for no limit. A body is accepted whole while the limit is not reached.',
    integer(6_000, 0, 1_000_000_000),
  )
  readonly rateLimitWebhook: number;

  @Setting(
    LIMITS,
    'Webhook receipts under way at once whose incident is made before the answer; of more than these the event is stored, answered with 202, and its incident made by a worker. 0: of all.',
    integer(64, 0, 100_000),
  )
  readonly webhookSyncLimit: number;

  @Setting(
    LIMITS,
    'Redis that counts rate limits for all replicas, such as redis://host:6379. Unset: each replica counts for itself.',
    optionalText('', { pattern: /^rediss?:\/\//, hint: 'a redis:// or rediss:// address' }),
  )
  readonly redisUrl: string | undefined;

  @Setting(
    OUTBOUND,
    'Address under which people reach this service, such as https://triage.example.com: notifications link to it. Unset: they have no links.',
    optionalText('', {
      pattern: /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
      hint: 'an http or https address without a query',
    }),
  )
  readonly publicUrl: string | undefined;

  @Setting(
    OUTBOUND,
    'Private networks (CIDRs, comma separated) that connectors and notifications may reach. Cloud metadata addresses are refused all the same.',
    list(readCidr),
  )
  readonly allowedPrivateTargets: readonly string[];

  @Setting(
    ACTIONS,
    'Which approval action types need here, instead of their default, as JSON: {"isolate_host": "manager", "block_ip": "none"}. Levels: none, analyst, senior, manager.',
    approvalLevels,
  )
  readonly approvalLevels: ApprovalLevelsSetting;

  @Setting(
    ACTIONS,
    'On critical incidents what needs an analyst needs a senior, and what needs a senior a manager. Lowering the severity of one needs a senior, too.',
    flag(false),
  )
  readonly approvalRaiseOnCritical: boolean;

  @Setting(
    ACTIONS,
    'Targets whose actions need a manager, as JSON with * for anything: {"hosts": ["dc-*"], "users": ["admin*"], "senders": [], "domains": ["example.com"], "ips": ["10.0.*"]}. A domain protects what is below it, a sender is protected by its domain too, a URL by its host; a short host or user name is also that of a longer one; ips may be CIDR. Look-ups count, and a target with * or ? may be any of its kind.',
    protectedTargets,
  )
  readonly protectedTargets: ProtectedTargetsSetting;

  @Setting(
    ACTIONS,
    'Nobody approves what they requested themselves, also with another key of theirs; who requested an action rolls it back only with the approval of another.',
    flag(false),
  )
  readonly approvalFourEyes: boolean;

  @Setting(
    ACTIONS,
    'How long an action waits for approval before it is rejected, in minutes; 0 for no limit.',
    integer(1_440, 0, 525_600),
  )
  readonly approvalTtlMinutes: number;

  @Setting(
    ACTIONS,
    'How long the same action on the same target is refused after it was done, in minutes, unless the request says `repeat`; 0 lets it be repeated at any time.',
    integer(60, 0, 525_600),
  )
  readonly actionRepeatMinutes: number;

  @Setting(
    ACTIONS,
    'How many runs of one playbook may begin by themselves within an hour; further ones wait for their turn. 0 for no limit.',
    integer(200, 0, 1_000_000),
  )
  readonly playbookRunsPerHour: number;

  @Setting(
    ACTIONS,
    'How long a request waits for its action to end; a slower one goes on and the answer is 202, in milliseconds.',
    integer(10_000, 0, 10 * MINUTE),
  )
  readonly actionWaitMs: number;

  @Setting(
    ACTIONS,
    'How long after its last sign of life a replica is taken for dead and its actions are settled by another, in milliseconds.',
    integer(60_000, 500, 60 * MINUTE),
  )
  readonly actionLeaseMs: number;

  @Setting(
    ACTIONS,
    'How long a vendor may take for what it accepted before the outcome counts as unknown, in milliseconds.',
    integer(15 * MINUTE, 500, 24 * 60 * MINUTE),
  )
  readonly actionDeadlineMs: number;

  @Setting(
    TRIAGE,
    'Reopens a resolved incident when a later event about it says more. When off, the incident stays resolved and its timeline says so.',
    flag(true),
  )
  readonly reopenOnUpdate: boolean;

  @Setting(
    TRIAGE,
    'Who gives verdicts: anthropic (a language model), rules (the scorer that is built in and asks nobody) or none. Unset: anthropic when ANTHROPIC_API_KEY is set, otherwise rules with the embedded database and none with another.',
    triageProvider,
  )
  readonly triageProvider: TriageProvider | undefined;

  @Setting(
    TRIAGE,
    'Key of the model provider. It goes to ANTHROPIC_BASE_URL and nowhere else.',
    optionalText('', { pattern: /^[\x21-\x7e]{1,512}$/, hint: 'up to 512 visible characters' }),
  )
  readonly anthropicApiKey: string | undefined;

  @Setting(
    TRIAGE,
    'Where the Messages API is: of the provider itself, or of a proxy of yours. It may be in a private network without being in ALLOWED_PRIVATE_TARGETS; http is for private networks alone.',
    modelAddress('https://api.anthropic.com'),
  )
  readonly anthropicBaseUrl: string;

  @Setting(
    TRIAGE,
    'The model, as the provider names it. Each run records which one answered.',
    modelName('claude-sonnet-5-5'),
  )
  readonly anthropicModel: string;

  @Setting(
    TRIAGE,
    'How long one triage may take with all its questions and retries, in milliseconds.',
    integer(45_000, 100, 10 * MINUTE),
  )
  readonly triageTimeoutMs: number;

  @Setting(
    TRIAGE,
    'Tokens that all replicas together may use within an hour, of questions and answers; over it triage waits. 0: no limit. The default is some hundred incidents an hour, so that a flood of them costs what a busy hour costs and no more.',
    integer(2_000_000, 0, 1_000_000_000_000),
  )
  readonly aiTokensPerHour: number;

  @Setting(
    TRACES,
    'Collector of OpenTelemetry that traces are sent to, such as http://collector.internal:4318, to which /v1/traces is added. Unset: no traces are made.',
    optionalText('', {
      pattern: /^https?:\/\/[^\s/?#@]+(\/[^\s?#@]*)?$/,
      hint: 'an http or https address without a user or query',
    }),
  )
  readonly otelExporterOtlpEndpoint: string | undefined;

  @Setting(
    TRACES,
    'Headers for the collector, such as its key: name=value, comma separated, the values percent-encoded.',
    otlpHeaders,
  )
  readonly otelExporterOtlpHeaders: Readonly<Record<string, string>>;

  @Setting(
    TRACES,
    'How the collector is spoken to: OTLP in protobuf over HTTP, which every collector takes.',
    oneOf(['http/protobuf'], 'http/protobuf'),
  )
  readonly otelExporterOtlpProtocol: 'http/protobuf';

  @Setting(
    TRACES,
    'How long the collector may take for one batch with all retries, in milliseconds.',
    integer(10_000, 100, MINUTE),
  )
  readonly otelExporterOtlpTimeout: number;

  @Setting(TRACES, 'Name of this service in traces.', text('incident-triage-service'))
  readonly otelServiceName: string;

  @Setting(
    TRACES,
    `Which traces are sent: ${TRACES_SAMPLERS.join(', ')}. Those with parentbased do as the traceparent of a request says, if it has one.`,
    oneOf(TRACES_SAMPLERS, 'parentbased_always_on'),
  )
  readonly otelTracesSampler: TracesSampler;

  @Setting(TRACES, 'Share of the traces that a sampler by traceidratio sends, 0 to 1.', share(1))
  readonly otelTracesSamplerArg: number;
}

function readCidr(part: string): string {
  if (readIpRange(part)) return part;
  throw new Error(`must be a list of addresses or CIDRs, and '${part}' is none`);
}
