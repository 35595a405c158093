import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Span,
  type Tracer,
  traceWith,
  type Work,
} from '../../../src/platform/tracing/tracing.js';

export interface RecordedSpan extends Work {
  noted: Attributes;
  failure?: string;
}

/** Replaces the collector in tests of the spans alone. */
export class RecordedSpans implements Tracer {
  readonly all: RecordedSpan[] = [];
  private readonly spans = new AsyncLocalStorage<Span | undefined>();

  static begin(): RecordedSpans {
    const spans = new RecordedSpans();
    traceWith(spans);
    return spans;
  }

  get present(): Span | undefined {
    return this.spans.getStore();
  }

  begin(work: Work): Span {
    const recorded: RecordedSpan = { ...work, noted: {} };
    this.all.push(recorded);
    let isOver = false;
    const id = String(this.all.length).padStart(16, '0');
    return {
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${id}-01`,
      get isOver() {
        return isOver;
      },
      rename: () => undefined,
      note: (attributes) => (recorded.noted = { ...recorded.noted, ...attributes }),
      end: (failure) => {
        isOver = true;
        recorded.failure = failure;
      },
    };
  }

  inSpan<T>(span: Span | undefined, run: () => T): T {
    return this.spans.run(span, run);
  }

  end(): void {
    traceWith(undefined);
  }
}
