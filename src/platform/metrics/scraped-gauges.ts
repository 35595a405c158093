import { Injectable, Logger } from '@nestjs/common';
import { type Counter, type Gauge, register } from 'prom-client';
import { within } from '../concurrency/within.js';

/** Maximum time of a scrape, even if the database hangs. */
const PATIENCE_MS = 1_000;
/** Scrapes within this time share one read. */
const FRESH_MS = 1_000;

type LabelledValues = readonly (readonly [
  labels: Readonly<Record<string, string>>,
  value: number,
])[];
type Values = number | LabelledValues | undefined;
type Collecting = (Gauge | Counter) & { collect?: () => void | Promise<void> };

/** Read at each scrape. A gauge that cannot be read in time is absent, because an old value would mislead. */
@Injectable()
export class ScrapedGauges {
  private readonly logger = new Logger(ScrapedGauges.name);

  /** Must be called in `onModuleInit`. `name` is the name of a gauge in METRICS. */
  register(name: string, read: () => Values | Promise<Values>): void {
    const gauge = register.getSingleMetric(name) as Gauge;
    this.beforeScrapes(gauge, async () => show(gauge, await this.inTime(read)));
  }

  /** Registers a counter whose label values are in the database. `begin` creates the series of the current values. */
  registerSeries(counter: Counter, begin: () => Promise<void>): void {
    this.beforeScrapes(counter, () => this.inTime(begin));
  }

  private beforeScrapes(metric: Collecting, work: () => Promise<void>): void {
    let freshUntil = 0;
    let done: Promise<void>;
    metric.collect = (): Promise<void> => {
      const now = performance.now();
      if (freshUntil > now) return done;
      freshUntil = now + FRESH_MS;
      return (done = work());
    };
  }

  private async inTime<T>(read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await within(PATIENCE_MS, Promise.resolve().then(read), () => {
        throw new Error('The read took too long.');
      });
    } catch (error) {
      this.logger.debug({ err: error }, 'A metric could not be read for a scrape.');
      return undefined;
    }
  }
}

function show(gauge: Gauge & { readonly labelNames?: readonly string[] }, values: Values): void {
  // Without labels, `reset` would show 0. With labels, `remove` would need the values of the labels.
  if (gauge.labelNames?.length) gauge.reset();
  else gauge.remove();
  if (typeof values === 'number') gauge.set(values);
  else for (const [labels, value] of values ?? []) gauge.set(labels, value);
}
