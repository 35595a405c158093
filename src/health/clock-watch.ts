import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { clockAheadMs } from '../platform/clock.js';
import { BackgroundLoop } from '../platform/concurrency/background-loop.js';
import { followDatabaseTime } from '../platform/database/database-time.js';
import { isDatabaseUnavailable } from '../platform/database/sqlstate.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';

const EVERY_MS = 10_000;
/** What was measured before this says nothing of now. */
const KNOWN_FOR_MS = 60_000;
/** Clocks that are kept (NTP) agree to some hundredths of a second. */
const TOLD_FROM_MS = 1_000;
/** From here on what the service does not write itself suffers: certificates, tokens of vendors, times in the log. */
const DEGRADED_FROM_MS = 30_000;

/** Follows the clock of the database, and tells when the clock of this machine is wrong. */
@Injectable()
export class ClockWatch implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Clock');
  private readonly loop = new BackgroundLoop(
    { task: 'Following the clock of the database', log: this.logger, pauseMs: EVERY_MS },
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

  /** In words, when the clock of this machine is so wrong that somebody should set it. */
  complaint(): string | undefined {
    const aheadMs = clockAheadMs(KNOWN_FOR_MS) ?? 0;
    return Math.abs(aheadMs) < DEGRADED_FROM_MS ? undefined : inWords(aheadMs);
  }

  async look(): Promise<void> {
    try {
      await followDatabaseTime(this.dataSource);
    } catch (error) {
      // Health and whoever needs the database more than this tell of it.
      if (isDatabaseUnavailable(error)) return;
      throw error;
    }
    const aheadMs = clockAheadMs() ?? 0;
    const isWrong = Math.abs(aheadMs) >= TOLD_FROM_MS;
    if (isWrong && !this.isTold) this.logger.warn(inWords(aheadMs));
    if (!isWrong && this.isTold) {
      this.logger.log('The clock of this machine agrees with that of the database again.');
    }
    this.isTold = isWrong;
  }
}

function inWords(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this machine is ${seconds} s ${way} that of the database. Times are taken from the database; set the clock.`;
}
