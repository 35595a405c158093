import type { Settings } from '../config/settings.js';
import { traceWith } from './tracing.js';

export interface TracingLog {
  info(line: string): void;
  warn(line: string): void;
}

/**
 * Sends traces to the collector of the settings, if they name one. Answers what ends it: what is left is sent then, as far as
 * that goes within a short time. Loaded only here: without a collector nothing of OpenTelemetry is read from the disk.
 */
export async function startTracing(
  settings: Settings,
  log: TracingLog,
): Promise<() => Promise<void>> {
  const { otelExporterOtlpEndpoint: endpoint } = settings;
  if (endpoint === undefined) return async () => undefined;
  const { OpenTelemetry } = await import('./open-telemetry.js');
  const openTelemetry = new OpenTelemetry({ ...settings, endpoint }, log);
  traceWith(openTelemetry);
  return async () => {
    traceWith(undefined);
    await openTelemetry.stop();
  };
}
