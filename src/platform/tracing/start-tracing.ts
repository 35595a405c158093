import type { Settings } from '../config/settings.js';
import { traceWith, type TracingLog } from './tracing.js';

/** Returns a function that sends the remaining spans and ends tracing. Loads OpenTelemetry only for a collector. */
export async function startTracing(
  settings: Settings,
  log: TracingLog,
): Promise<() => Promise<void>> {
  const { otelExporterOtlpEndpoint: endpoint, otelTracesSamplerArg } = settings;
  if (endpoint === undefined) return async () => undefined;
  const { OpenTelemetry } = await import('./open-telemetry.js');
  const openTelemetry = new OpenTelemetry(endpoint, otelTracesSamplerArg, log);
  traceWith(openTelemetry);
  return async () => {
    traceWith(undefined);
    await openTelemetry.stop();
  };
}
