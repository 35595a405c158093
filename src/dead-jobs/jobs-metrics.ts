import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { Jobs } from '../platform/jobs/jobs.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';

/** Stands here because jobs and metrics are on one floor and know nothing of each other. */
@Injectable()
export class JobsMetrics implements OnModuleInit {
  constructor(
    private readonly gauges: ScrapedGauges,
    @InjectMetric('jobs_waiting') private readonly jobsWaiting: Gauge,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.jobsWaiting, async () => {
      const queues = await this.jobs.waiting();
      return queues.reduce((sum, { waiting }) => sum + waiting, 0);
    });
  }
}
