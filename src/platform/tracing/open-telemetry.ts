import {
  ROOT_CONTEXT,
  SpanKind,
  trace,
  type Span as OtelSpan,
  type SpanContext,
  SpanStatusCode,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { version } from '../config/process.js';
import { newId } from '../ids.js';
import { type Span, traceWith, type Work } from './tracing.js';
import { parseTraceParent, type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { visibleStart } from '../text.js';

const NAME = 'incident-triage-service';
const PAUSE_MS = 1_000;
const LAST_EXPORT_MS = 2_000;
/** Maximum length of an attribute of a span. SQL statements are the longest attributes. */
const LONGEST_TEXT = 4_096;

export function startTracing(
  endpoint: string,
  log: Pick<Logger, 'info' | 'warn'>,
): () => Promise<void> {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': NAME,
      'service.version': version,
      'service.instance.id': newId(),
    }).merge(
      detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
    ),
    spanLimits: { attributeValueLengthLimit: LONGEST_TEXT },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: logOutages(new OTLPTraceExporter({ url }), log),
        scheduledDelayMillis: PAUSE_MS,
      }),
    ],
  });
  const tracer = provider.getTracer(NAME, version);
  traceWith(({ name, kind, attributes, traceparent, links = [] }, parent) => {
    const above = spanContextOf(parent?.traceparent ?? traceparent);
    const options = {
      kind: SpanKind[kind.toUpperCase() as Uppercase<Work['kind']>],
      attributes,
      links: links.flatMap((link) => spanContextOf(link) ?? []).map((context) => ({ context })),
    };
    const context = above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT;
    return spanOf(tracer.startSpan(name, options, context));
  });
  return async () => {
    traceWith(undefined);
    // Failures are already logged, and shutdown must not wait for them.
    const sent = provider.shutdown().catch(() => undefined);
    await Promise.race([sent, sleep(LAST_EXPORT_MS, undefined, { ref: false })]);
  };
}

function spanOf(span: OtelSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  let isOver = false;
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    get isOver() {
      return isOver;
    },
    rename: (name) => void span.updateName(name),
    note: (attributes) => void span.setAttributes(attributes),
    end(failure) {
      if (isOver) return;
      isOver = true;
      if (failure !== undefined) {
        span.setAttribute('error.type', failure);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const context = traceparent === undefined ? undefined : parseTraceParent(traceparent);
  return context ? { ...context, isRemote: true } : undefined;
}

const LONGEST_REASON = 200;

/** Logs once that the collector rejects spans, and once that it accepts them again. */
function logOutages(exporter: SpanExporter, log: Pick<Logger, 'info' | 'warn'>): SpanExporter {
  let isAway = false;
  const tell = ({ code, error }: ExportResult): void => {
    if (isAway === (code !== ExportResultCode.SUCCESS)) return;
    isAway = !isAway;
    if (!isAway) return log.info('The collector accepts traces again.');
    // Logs only the message, because the error contains the response of the collector.
    const why = visibleStart(error?.message ?? 'no reason given', LONGEST_REASON);
    log.warn(`The collector does not accept traces, so they are dropped: ${why}`);
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        tell(result);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
