import { type Span as OtelSpan, type SpanContext, SpanStatusCode } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { Attributes, Span } from './tracing.js';

/** Wraps a span of OpenTelemetry, and offers only what our code may do with it. */
export class TelemetrySpan implements Span {
  isOver = false;

  constructor(private readonly span: OtelSpan) {}

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  note(attributes: Attributes): void {
    this.span.setAttributes(attributes);
  }

  end(failure?: string): void {
    if (this.isOver) return;
    this.isOver = true;
    if (failure !== undefined) {
      this.span.setAttributes({ 'error.type': failure });
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

/** What a header of W3C names; undefined where it is none, or not well formed. */
export function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const context = traceparent === undefined ? undefined : parseTraceParent(traceparent);
  return context ? { ...context, isRemote: true } : undefined;
}
