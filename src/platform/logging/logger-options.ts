import pino from 'pino';
import type { Params } from 'nestjs-pino';
import type { Settings } from '../config/settings.js';
import { presentSpan } from '../tracing/tracing.js';
import { terminalLines } from './terminal-lines.js';

/** Names under which a secret may turn up in something that is logged, at the top or one level down. */
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
  // The values of a statement that failed, which TypeORM keeps in its error: hashes and encrypted secrets are among them.
  'parameters',
];

const redactPaths = SECRET_FIELDS.flatMap((field) => {
  const below = field.startsWith('[') ? field : `.${field}`;
  return [field, `*${below}`, `req.headers${below}`, `headers${below}`];
});

/** Lines for a person on a terminal, and JSON for whatever else reads the output. */
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
    // What is logged in the middle of a request or a job is found by its trace.
    ...(settings.otelExporterOtlpEndpoint !== undefined && {
      mixin: () => ({ trace_id: presentSpan()?.traceId }),
    }),
  };
  return pino(options, destination);
}

/**
 * nestjs-pino carries the logs of Nest and of our own classes. Its per-request middleware is left out: one line per
 * request is written by a hook (see request-log.ts), at a third of the cost and without headers or bodies.
 */
export function loggerParams(logger: pino.Logger): Params {
  return { pinoHttp: { logger }, forRoutes: [] };
}
