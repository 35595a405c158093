import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { poolOf } from '../database/data-source.js';
import { Metrics } from './metrics.js';
import { ScrapedGauges } from './scraped-gauges.js';

@Injectable()
export class PoolMetrics implements OnModuleInit {
  constructor(
    private readonly gauges: ScrapedGauges,
    private readonly metrics: Metrics,
    private readonly dataSource: DataSource,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.metrics.poolActive, () => {
      const { totalCount, idleCount } = poolOf(this.dataSource);
      return totalCount - idleCount;
    });
  }
}
