import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter, Gauge } from 'prom-client';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import type { EndedStatus, OpenStatus } from './playbook-run.js';
import { PlaybookRunsRepository } from './records/playbook-runs.repository.js';

const OPEN: readonly OpenStatus[] = ['running', 'waiting_approval'];

/** Shows runs in the metrics. Only whoever may write playbooks can make up a name. */
@Injectable()
export class RunSignals implements OnModuleInit {
  constructor(
    private readonly runs: PlaybookRunsRepository,
    private readonly gauges: ScrapedGauges,
    @InjectMetric('playbook_runs_total')
    private readonly total: Counter<'playbook' | 'status'>,
    @InjectMetric('playbook_runs') private readonly open: Gauge,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.open, () =>
      Promise.all(
        OPEN.map(async (status) => [{ status }, await this.runs.countOpen(status)] as const),
      ),
    );
  }

  ended(playbook: string, status: EndedStatus): void {
    this.total.inc({ playbook, status });
  }
}
