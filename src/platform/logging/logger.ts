import { Logger, type Params, PinoLogger } from 'nestjs-pino';
import pino, { type DestinationStream } from 'pino';
import type { Settings } from '../config/settings.js';
import { presentSpan } from '../tracing/tracing.js';
import pretty from 'pino-pretty';

/** Field names that may hold a secret in a logged object, at the top level or one level down. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  '["set-cookie"]',
  'password',
  'new_password',
  'current_password',
  'secret',
  'token',
  'key',
  'api_key',
  'apiKey',
  'client_secret',
  'connectionString',
  '["x-webhook-signature"]',
  '["x-webhook-token"]',
  '["x-api-key"]',
  // TypeORM puts the values of a failed statement into its error; they include hashes and encrypted secrets.
  'parameters',
];

const redactPaths = SECRET_FIELDS.flatMap((field) => {
  const below = field.startsWith('[') ? field : `.${field}`;
  return [field, `*${below}`, `req.headers${below}`, `headers${below}`];
});

/** Writes lines for people on a terminal, otherwise JSON. */
export function createRootLogger(
  settings: Settings,
  destination = process.stdout.isTTY ? terminalLines(process.stdout) : undefined,
): pino.Logger {
  const options: pino.LoggerOptions = {
    level: settings.logLevel,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: [...new Set(redactPaths)], censor: '[redacted]' },
    // Adds the trace to lines within a request or job.
    ...(settings.otelExporterOtlpEndpoint !== undefined && {
      mixin: () => ({ trace_id: presentSpan()?.traceId }),
    }),
  };
  return pino(options, destination);
}

/**
 * Options of nestjs-pino, which carries the logs of Nest and of our classes. Its request middleware is off: a hook
 * writes one line per request (see request-log.ts) at a third of the cost, without headers or bodies.
 */
export function loggerParams(logger: pino.Logger): Params {
  return { pinoHttp: { logger }, forRoutes: [] };
}

/** SIGUSR2 switches debug lines on and off without a restart. */
export function changeLevelOnSignal(logger: pino.Logger, configured: string): void {
  process.on('SIGUSR2', () => {
    const level = logger.level === 'debug' ? configured : 'debug';
    logger.level = level;
    logger.warn({ log_level: level }, `SIGUSR2: the log level is now ${level}.`);
  });
}

type Line = Readonly<Record<string, unknown>>;

/** Formats one log line for people: what happened, and the stack of an error. */
export function wordsOf(line: Line): string {
  const { stack } = (line['err'] ?? {}) as { readonly stack?: unknown };
  const words = line['msg'] === 'request' ? requestWords(line) : String(line['msg']);
  return typeof stack === 'string' ? `${words}\n${stack}` : words;
}

function requestWords(line: Line): string {
  const parts = ['method', 'route', 'status', 'code', 'ms', 'caller'].filter(
    (name) => name in line,
  );
  return parts.map((name) => `${String(line[name])}${name === 'ms' ? ' ms' : ''}`).join(' ');
}

/** Log output for a terminal, in colours if it supports them and NO_COLOR is not set. */
export function terminalLines(terminal: NodeJS.WriteStream): DestinationStream {
  return pretty({
    destination: terminal,
    sync: true,
    colorize: terminal.hasColors(),
    translateTime: 'SYS:HH:MM:ss',
    // Other fields are for programs. pino-pretty would also put `caller` before the message.
    hideObject: true,
    ignore: 'caller,context,pid,hostname',
    messageFormat: (line) => wordsOf(line),
  });
}

/** Loggers of Nest that write about a hundred lines at each start. */
const FRAMEWORK = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/** Logs the framework and our classes. Ordinary lines of the framework are at debug. */
export class ServiceLogger extends Logger {
  constructor(root: pino.Logger) {
    const params = loggerParams(root);
    super(new PinoLogger(params), params);
  }

  override log(message: unknown, ...rest: unknown[]): void {
    const context = rest.at(-1);
    if (typeof context === 'string' && FRAMEWORK.has(context)) super.debug(message, ...rest);
    else super.log(message, ...rest);
  }
}
