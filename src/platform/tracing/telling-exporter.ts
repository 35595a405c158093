import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { visibleStart } from '../text.js';
import type { TracingLog } from './start-tracing.js';

const LONGEST_REASON = 200;

/** Says once that the collector takes no spans, and once that it takes them again. */
export class TellingExporter implements SpanExporter {
  private isAway = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly log: TracingLog,
  ) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      this.tell(result);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private tell({ code, error }: ExportResult): void {
    const isAway = code !== ExportResultCode.SUCCESS;
    if (isAway === this.isAway) return;
    this.isAway = isAway;
    if (!isAway) return this.log.info('The collector takes traces again.');
    // Of its message alone: the error holds what the collector answered.
    const why = visibleStart(error?.message ?? 'no reason given', LONGEST_REASON);
    this.log.warn(`The collector takes no traces, which are dropped meanwhile: ${why}`);
  }
}
