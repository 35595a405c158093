import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { within } from '../concurrency/within.js';
import { poolOf } from '../database/data-source.js';

/** A scrape is answered within this time, whatever the database does. */
const PATIENCE_MS = 1_000;
/** Scrapers that come together, and whoever asks more often than that, share one look. */
const FRESH_MS = 1_000;

type Read = () => number | Promise<number>;
type Collecting = Gauge & { collect?: () => void | Promise<void> };

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
    const collecting = gauge as Collecting;
    let fresh: { readonly until: number; readonly done: Promise<void> } | undefined;
    const collect = (): Promise<void> => {
      const now = performance.now();
      if (!fresh || fresh.until <= now) {
        fresh = { until: now + FRESH_MS, done: this.update(gauge, read) };
      }
      return fresh.done;
    };
    collecting.collect = collect;
    this.unregister.push(() => {
      if (collecting.collect === collect) delete collecting.collect;
    });
  }

  onModuleDestroy(): void {
    for (const one of this.unregister.splice(0)) one();
  }

  private async update(gauge: Gauge, read: Read): Promise<void> {
    try {
      gauge.set(await within(PATIENCE_MS, Promise.resolve(read()), tooLate));
    } catch (error) {
      gauge.remove();
      this.logger.debug({ err: error }, 'A gauge could not be read for a scrape');
    }
  }
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
