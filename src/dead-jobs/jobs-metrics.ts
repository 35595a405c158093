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
    @InjectMetric('jobs_dead') private readonly jobsDead: Gauge,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.jobsWaiting, () => this.sumOf('waiting'));
    this.gauges.register(this.jobsDead, () => this.sumOf('dead'));
  }

  private async sumOf(state: 'waiting' | 'dead'): Promise<number> {
    const queues = await this.jobs.waiting();
    return queues.reduce((sum, queue) => sum + queue[state], 0);
  }
}
