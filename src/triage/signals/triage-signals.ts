import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter, Gauge, Histogram } from 'prom-client';
import { Clock } from '../../platform/clock.js';
import { type ComponentHealth, HealthComponents } from '../../platform/health-components.js';
import { beginAtZero } from '../../platform/metrics/metrics.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { shownStart } from '../../platform/text.js';
import type { ModelUnavailableError, UnavailableReason } from '../model/model.errors.js';
import { TriageModel } from '../model/triage-model.port.js';
import type { TokenUse } from '../model/token-use.js';
import { TriageRunsRepository } from '../records/triage-runs.repository.js';
import { TokenBudget } from '../runs/run-obstacles.js';
import { type Heard, llmHealth } from './llm-health.js';
import { OutageLog } from './outage-log.js';

const LONGEST_MESSAGE = 500;

/** These say something about the incident that was asked about; the provider answers. */
const ABOUT_THE_CASE: ReadonlySet<UnavailableReason> = new Set(['refused', 'truncated']);

/** Shows the model in health, metrics and log: as this replica has seen it last. What waits is counted for the site. */
@Injectable()
export class TriageSignals implements OnModuleInit, OnApplicationBootstrap {
  private readonly log = new Logger('Triage');
  private readonly outages = new OutageLog(this.log);
  private heard: Heard = { silent: false };

  constructor(
    private readonly model: TriageModel,
    private readonly runs: TriageRunsRepository,
    private readonly budget: TokenBudget,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
    private readonly clock: Clock,
    @InjectMetric('triage_duration_seconds') private readonly durations: Histogram<'status'>,
    @InjectMetric('triage_runs') private readonly open: Gauge<'status'>,
    @InjectMetric('llm_tokens_total') private readonly tokens: Counter<'direction'>,
  ) {}

  onModuleInit(): void {
    beginAtZero(this.durations, { status: ['completed', 'failed'] });
    beginAtZero(this.tokens, { direction: ['input', 'output'] });
    this.components.register('llm', () => this.health());
    this.gauges.register(this.open, async () => {
      const counts = Object.entries(await this.runs.countOpen());
      return counts.map(([status, count]) => [{ status }, count] as const);
    });
  }

  onApplicationBootstrap(): void {
    const { provider, configuredModel: model } = this.model;
    this.log.debug({ provider, model }, WHO_TRIAGES[provider]);
  }

  answered(): void {
    this.outages.answered();
    this.heard = { ...this.heard, silent: false };
  }

  unavailable({ reason, message }: ModelUnavailableError): void {
    const last = { reason, message: shownStart(message, LONGEST_MESSAGE), at: this.clock.now() };
    if (ABOUT_THE_CASE.has(reason)) {
      this.answered();
      this.heard = { silent: false, last };
      return;
    }
    this.outages.silent(reason, last.message, last.at);
    this.heard = { silent: true, last };
  }

  used({ input, output }: TokenUse): void {
    if (input > 0) this.tokens.inc({ direction: 'input' }, input);
    if (output > 0) this.tokens.inc({ direction: 'output' }, output);
  }

  ended(status: 'completed' | 'failed', ms: number): void {
    this.durations.observe({ status }, ms / 1_000);
  }

  private async health(): Promise<ComponentHealth> {
    const { provider, configuredModel } = this.model;
    // Without the database it is not known what waits; the component that is down says why.
    const waiting = await this.runs.countOpen().catch(() => undefined);
    const shortage = await this.budget.shortage().catch(() => undefined);
    return llmHealth({
      provider,
      model: configuredModel,
      heard: this.heard,
      waiting: waiting?.queued,
      shortage: shortage?.message,
      now: this.clock.now(),
    });
  }
}

const WHO_TRIAGES = {
  anthropic: 'A language model triages.',
  rules: 'The rules of this service triage: no provider of verdicts is asked.',
  none: 'Only people triage: no provider of verdicts is configured.',
} as const;
