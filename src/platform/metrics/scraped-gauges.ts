import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { within } from '../concurrency/within.js';
import { poolOf } from '../database/data-source.js';

/** A scrape is answered within this time, whatever the database does. */
const PATIENCE_MS = 1_000;
/** Scrapers that come together, and whoever asks more often than that, share one look. */
const FRESH_MS = 1_000;

/** A value for each label, where the gauge has one. */
type LabelledValues = readonly (readonly [
  labels: Readonly<Record<string, string>>,
  value: number,
])[];
/** Undefined: there is nothing to tell. */
type Values = number | LabelledValues | undefined;
type Read = () => Values | Promise<Values>;
type Collecting = (Gauge | Counter) & { collect?: () => void | Promise<void> };

/**
 * Gauges that are read when someone scrapes: how many approvals wait, whether the kill switch is on. A gauge that
 * cannot be read in time is absent from that scrape: no value is better than one of another time, and the rest of the
 * metrics is there.
 */
@Injectable()
export class ScrapedGauges implements OnModuleDestroy {
  private readonly logger = new Logger(ScrapedGauges.name);
  private readonly unregister: (() => void)[] = [];

  /** Called in `onModuleInit` by the module that knows the value. */
  register(gauge: Gauge, read: Read): void {
    this.beforeScrapes(gauge, async () => {
      const values = await within(PATIENCE_MS, Promise.resolve().then(read), tooLate).catch(
        (error: unknown) => void this.tellUnread(error),
      );
      show(gauge, values);
    });
  }

  /** For a counter whose labels only the database knows: `begin` makes the series that there are by now. */
  registerSeries(counter: Counter, begin: () => Promise<void>): void {
    this.beforeScrapes(counter, () =>
      within(PATIENCE_MS, begin(), tooLate).catch((error: unknown) => this.tellUnread(error)),
    );
  }

  onModuleDestroy(): void {
    for (const one of this.unregister.splice(0)) one();
  }

  private beforeScrapes(metric: Collecting, work: () => Promise<void>): void {
    let fresh: { readonly until: number; readonly done: Promise<void> } | undefined;
    const collect = (): Promise<void> => {
      const now = performance.now();
      if (!fresh || fresh.until <= now) fresh = { until: now + FRESH_MS, done: work() };
      return fresh.done;
    };
    metric.collect = collect;
    this.unregister.push(() => {
      if (metric.collect === collect) delete metric.collect;
    });
  }

  private tellUnread(error: unknown): void {
    this.logger.debug({ err: error }, 'A metric could not be read for a scrape');
  }
}

/** Without the labels of another time. */
function show(gauge: Gauge, values: Values): void {
  clear(gauge);
  if (typeof values === 'number') gauge.set(values);
  else for (const [labels, value] of values ?? []) gauge.set(labels, value);
}

/** A reset of a gauge without labels would show 0; with labels `remove` would have to name them. */
function clear(gauge: Gauge & { readonly labelNames?: readonly string[] }): void {
  if (gauge.labelNames?.length) gauge.reset();
  else gauge.remove();
}

function tooLate(): never {
  throw new Error('It took too long.');
}

@Injectable()
export class PoolGauge implements OnModuleInit {
  constructor(
    private readonly gauges: ScrapedGauges,
    @InjectMetric('db_pool_connections_active') private readonly active: Gauge,
    private readonly dataSource: DataSource,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.active, () => {
      const { totalCount, idleCount } = poolOf(this.dataSource);
      return totalCount - idleCount;
    });
  }
}
