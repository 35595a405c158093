import {
  type Attributes,
  type Span,
  traceWith,
  type Work,
} from '../../../src/platform/tracing/tracing.js';

export interface RecordedSpan extends Work {
  noted: Attributes;
  failure?: string;
}

/** Records spans without a collector. */
export class RecordedSpans {
  readonly all: RecordedSpan[] = [];

  static begin(): RecordedSpans {
    const spans = new RecordedSpans();
    traceWith((work) => spans.begin(work));
    return spans;
  }

  private begin(work: Work): Span {
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

  end(): void {
    traceWith(undefined);
  }
}
