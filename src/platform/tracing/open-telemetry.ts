import { ROOT_CONTEXT, SpanKind, type Tracer as OtelTracer, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TracesSampler } from '../config/tracing-settings.js';
import { version } from '../config/version.js';
import { newId } from '../ids.js';
import { spanContextOf, TelemetrySpan } from './telemetry-span.js';
import type { TracingLog } from './start-tracing.js';
import { TellingExporter } from './telling-exporter.js';
import type { Span, Tracer, Work } from './tracing.js';

export interface TracingOptions {
  readonly endpoint: string;
  readonly otelExporterOtlpHeaders: Readonly<Record<string, string>>;
  readonly otelExporterOtlpTimeout: number;
  readonly otelServiceName: string;
  readonly otelTracesSampler: TracesSampler;
  readonly otelTracesSamplerArg: number;
}

/** Spans that wait for the collector: more are dropped. Some megabytes at most. */
const MOST_WAITING = 2_048;
const BATCH = 512;
const PAUSE_MS = 1_000;
/** A stopping service waits no longer than this for the collector. */
const LAST_EXPORT_MS = 2_000;
/** Of a statement, the longest of all texts. */
const LONGEST_TEXT = 4_096;

const KINDS: Readonly<Record<Work['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/** Spans through the SDK of OpenTelemetry. Nothing global of it is set: who wants a span asks ours. */
export class OpenTelemetry implements Tracer {
  private readonly spans = new AsyncLocalStorage<Span | undefined>();
  private readonly provider: TracerProvider;
  private readonly tracer: OtelTracer;

  constructor(options: TracingOptions, log: TracingLog) {
    const collector = new OTLPTraceExporter({
      url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces`,
      headers: { ...options.otelExporterOtlpHeaders },
      timeoutMillis: options.otelExporterOtlpTimeout,
    });
    const waiting = new BatchSpanProcessor({
      exporter: new TellingExporter(collector, log),
      maxQueueSize: MOST_WAITING,
      maxExportBatchSize: BATCH,
      scheduledDelayMillis: PAUSE_MS,
      exportTimeoutMillis: options.otelExporterOtlpTimeout,
    });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': options.otelServiceName,
        'service.version': version,
        // Tells replicas apart.
        'service.instance.id': newId(),
      }),
      sampler: samplerOf(options),
      spanLimits: { attributeValueLengthLimit: LONGEST_TEXT },
      spanProcessors: [waiting],
    });
    this.tracer = this.provider.getTracer('incident-triage-service', version);
  }

  get present(): Span | undefined {
    return this.spans.getStore();
  }

  begin({ name, kind, attributes, traceparent, links = [] }: Work, parent?: Span): Span {
    const above = spanContextOf(parent?.traceparent ?? traceparent);
    const span = this.tracer.startSpan(
      name,
      {
        kind: KINDS[kind],
        attributes,
        links: links.flatMap((link) => spanContextOf(link) ?? []).map((context) => ({ context })),
      },
      above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT,
    );
    return new TelemetrySpan(span);
  }

  inSpan<T>(span: Span | undefined, run: () => T): T {
    return this.spans.run(span, run);
  }

  async stop(): Promise<void> {
    // The last failure has been told; nobody is to wait for it.
    const sent = this.provider.shutdown().catch(() => undefined);
    await Promise.race([sent, sleep(LAST_EXPORT_MS, undefined, { ref: false })]);
  }
}

function samplerOf(options: TracingOptions): Sampler {
  const { otelTracesSampler: name, otelTracesSamplerArg: share } = options;
  const root = rootSampler(name, share);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(name: TracesSampler, share: number): Sampler {
  if (name.endsWith('always_off')) return new AlwaysOffSampler();
  return name.endsWith('traceidratio')
    ? new TraceIdRatioBasedSampler(share)
    : new AlwaysOnSampler();
}
