import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter, Gauge } from 'prom-client';
import { HealthComponents } from '../../platform/health-components.js';
import { beginAtZero } from '../../platform/metrics/metrics.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import type { SettledStep } from './next-move.js';
import { outcomeOf, type PlaybookRunSummary, RUN_OUTCOMES } from './playbook-run.js';
import { RunListRepository } from './listing/run-list.repository.js';
import { failuresInWords, isPartial, type RunEnd } from './records/run-words.js';

const CAUSES = ['expression', 'action'] as const;

/** As the metric shows them: what is due and unclaimed, or waits for its turn, is neither running nor waiting for people. */
const OPEN = ['due', 'rate_limited', 'running', 'waiting_approval'] as const;

/** Shows runs in metrics and log. What waits is counted for the site. */
@Injectable()
export class RunSignals implements OnModuleInit {
  private readonly log = new Logger('Playbooks');

  constructor(
    private readonly runs: RunListRepository,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
    @InjectMetric('playbook_runs_total')
    private readonly total: Counter<'automatic' | 'outcome'>,
    @InjectMetric('playbook_steps_failed_total')
    private readonly failedSteps: Counter<'automatic' | 'cause'>,
    @InjectMetric('playbook_runs') private readonly open: Gauge<'status'>,
    @InjectMetric('playbook_runs_oldest_due_seconds') private readonly oldestDue: Gauge,
  ) {}

  onModuleInit(): void {
    beginAtZero(this.total, { automatic: ['true', 'false'], outcome: RUN_OUTCOMES });
    beginAtZero(this.failedSteps, { automatic: ['true', 'false'], cause: CAUSES });
    this.gauges.register(this.open, async () => {
      const counts = await this.runs.openCounts();
      return OPEN.map((status) => [{ status }, counts[status]] as const);
    });
    this.gauges.register(this.oldestDue, async () => {
      return (await this.runs.openCounts()).oldestDueSeconds;
    });
    // Runs have a queue of their own, which the number of jobs does not tell of.
    this.components.addDetails('jobs', async () => {
      return { playbook_runs_due: (await this.runs.openCounts()).due };
    });
  }

  stepFailed(run: PlaybookRunSummary, { actionId }: SettledStep): void {
    const cause = actionId === undefined ? 'expression' : 'action';
    this.failedSteps.inc({ automatic: String(run.automatic), cause });
  }

  ended(run: PlaybookRunSummary, end: RunEnd): void {
    const outcome = outcomeOf(end)!;
    this.total.inc({ automatic: String(run.automatic), outcome });
    // Nobody is there who would be answered.
    if (run.automatic && (outcome === 'failed' || outcome === 'partial')) this.warn(run, end);
  }

  private warn(run: PlaybookRunSummary, end: RunEnd): void {
    const about = { playbook_run: run.id, playbook: run.playbookName, incident: run.incidentId };
    const how = isPartial(end) ? `completed, but ${failuresInWords(run, end)}` : 'failed';
    this.log.warn(about, `An automatic playbook run ${how}.`);
  }
}
