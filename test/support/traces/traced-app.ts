import { startTracing } from '../../../src/platform/tracing/open-telemetry.js';
import { startTestApp, type TestApp } from '../test-app.js';
import { OtlpCollector } from './otlp-collector.js';

export interface TracedApp {
  readonly app: TestApp;
  readonly collector: OtlpCollector;
  /** Lines of the service's log. */
  readonly lines: Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

/** Starts the service as main.ts does when a collector is configured. */
export async function startTracedApp(
  more: Readonly<Record<string, string>> = {},
): Promise<TracedApp> {
  const collector = await OtlpCollector.start();
  const settings = {
    LOG_LEVEL: 'info',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    ...more,
  };
  const lines: Readonly<Record<string, unknown>>[] = [];
  const quiet = { info: () => undefined, warn: () => undefined };
  const endTracing = startTracing(collector.url, quiet);
  const log = { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) };
  const app = await startTestApp({ settings, log });
  return {
    app,
    collector,
    lines,
    close: async () => {
      await app.close();
      await endTracing();
      await collector.stop();
    },
  };
}
