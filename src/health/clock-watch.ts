import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { clockAheadMs } from '../platform/clock.js';
import { BackgroundLoop } from '../platform/concurrency/background-loop.js';
import { followDatabaseTime } from '../platform/database/open-database.js';
import { isDatabaseUnavailable } from '../platform/database/sqlstate.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';

const EVERY_MS = 10_000;
/** Older measurements are ignored. */
const KNOWN_FOR_MS = 60_000;
/** Clocks that are synchronised with NTP agree within some hundredths of a second. */
const TOLD_FROM_MS = 1_000;
/** From here on other parts suffer: certificates, tokens of vendors, times in the log. */
const DEGRADED_FROM_MS = 30_000;

/** Compares the clock of this machine with the clock of the database. */
@Injectable()
export class ClockWatch implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Clock');
  private readonly loop = new BackgroundLoop(
    { task: 'Comparing the clock with the database', log: this.logger, pauseMs: EVERY_MS },
    () => this.look(),
  );
  private isTold = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly gauges: ScrapedGauges,
    @InjectMetric('clock_offset_seconds') private readonly offset: Gauge,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.offset, () => this.offsetSeconds());
    this.loop.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.loop.stop();
  }

  offsetSeconds(): number | undefined {
    const aheadMs = clockAheadMs(KNOWN_FOR_MS);
    return aheadMs === undefined ? undefined : aheadMs / 1000;
  }

  /** Message if the clock of this machine should be corrected. */
  complaint(): string | undefined {
    const aheadMs = clockAheadMs(KNOWN_FOR_MS) ?? 0;
    return Math.abs(aheadMs) < DEGRADED_FROM_MS ? undefined : inWords(aheadMs);
  }

  async look(): Promise<void> {
    try {
      await followDatabaseTime(this.dataSource);
    } catch (error) {
      // Health and other users of the database report the outage.
      if (isDatabaseUnavailable(error)) return;
      throw error;
    }
    const aheadMs = clockAheadMs() ?? 0;
    const isWrong = Math.abs(aheadMs) >= TOLD_FROM_MS;
    if (isWrong && !this.isTold) this.logger.warn(inWords(aheadMs));
    if (!isWrong && this.isTold) {
      this.logger.log('The clock of this machine agrees with the database again.');
    }
    this.isTold = isWrong;
  }
}

function inWords(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this machine is ${seconds} s ${way} the clock of the database. Times are taken from the database. Correct the clock.`;
}
