import type { Settings } from '../config/settings.js';
import { traceWith, type TracingLog } from './tracing.js';

/**
 * Sends traces to the collector in the settings, if there is one. Returns a function that sends the remaining spans,
 * within a short time, and ends tracing. OpenTelemetry is loaded on demand, only with a collector.
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
