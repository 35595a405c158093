import { Logger, type Params, PinoLogger } from 'nestjs-pino';
import pino, { type DestinationStream } from 'pino';
import type { Settings } from '../config/settings.js';
import { presentSpan } from '../tracing/tracing.js';

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
  // TypeORM puts the values of a failed statement into the error. The values include hashes and encrypted secrets.
  'parameters',
];

const redactPaths = SECRET_FIELDS.flatMap((field) => {
  const below = field.startsWith('[') ? field : `.${field}`;
  return [field, `*${below}`, `req.headers${below}`, `headers${below}`];
});

/** Writes JSON lines to stdout in blocks, after at most 100 ms. pino flushes the lines when the process exits. */
export const jsonLines = () =>
  pino.destination({ sync: false, minLength: 4_096, periodicFlush: 100 });

export function createRootLogger(settings: Settings, destination?: DestinationStream): pino.Logger {
  const options: pino.LoggerOptions = {
    level: settings.logLevel,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: redactPaths, censor: '[redacted]' },
    ...(settings.otelExporterOtlpEndpoint !== undefined && {
      mixin: () => ({ trace_id: presentSpan()?.traceId }),
    }),
  };
  return pino(options, destination);
}

/** The request middleware is off: a hook writes one line without headers and bodies, at a third of the cost. */
export function loggerParams(logger: pino.Logger): Params {
  return { pinoHttp: { logger }, forRoutes: [] };
}

export async function terminalLines(terminal: NodeJS.WriteStream): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: terminal,
    sync: true,
    colorize: terminal.hasColors(),
    translateTime: 'SYS:HH:MM:ss',
    include: 'level,time,err',
    messageFormat: '{msg}{if route} {method} {route} {status} {code} {ms} ms {caller}{end}',
  });
}

/** Loggers of Nest that write about a hundred lines at each start. */
const FRAMEWORK = /^(InstanceLoader|NestApplication|NestFactory|RouterExplorer|RoutesResolver)$/;

/** Logger of Nest and of our classes. Ordinary lines of Nest get the level debug. */
export class ServiceLogger extends Logger {
  constructor(root: pino.Logger) {
    const params = loggerParams(root);
    super(new PinoLogger(params), params);
  }

  override log(message: unknown, ...rest: unknown[]): void {
    const context = rest.at(-1);
    if (FRAMEWORK.test(String(context))) super.debug(message, ...rest);
    else super.log(message, ...rest);
  }
}
