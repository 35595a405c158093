import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Jobs } from '../platform/jobs/jobs.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';

/** Stands here because jobs and metrics are on one floor and know nothing of each other. */
@Injectable()
export class JobsMetrics implements OnModuleInit {
  constructor(
    private readonly gauges: ScrapedGauges,
    private readonly metrics: Metrics,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.metrics.jobsWaiting, async () => {
      const queues = await this.jobs.waiting();
      return queues.reduce((sum, { waiting }) => sum + waiting, 0);
    });
  }
}
