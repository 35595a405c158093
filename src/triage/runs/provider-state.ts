import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter, Histogram } from 'prom-client';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { type ComponentHealth, HealthComponents } from '../../platform/health-components.js';
import { beginAtZero } from '../../platform/metrics/metrics.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { ModelUnavailableError, type TokenUse, TriageModel } from '../model/triage-model.port.js';
import { TriageRunsRepository } from '../triage-runs.repository.js';
import type { RunError, TriageRun } from '../triage-run.js';

const NO_VERDICTS = 'The provider gives no verdicts';

/** Reports the provider's state and the token budget. Attempts in progress do not count yet, so they can exceed it. */
@Injectable()
export class ProviderState implements OnModuleInit {
  private readonly log = new Logger('Triage');
  private isSilent = false;
  private last?: RunError & { readonly at: Date };

  constructor(
    private readonly model: TriageModel,
    private readonly runs: TriageRunsRepository,
    private readonly settings: Settings,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
    private readonly clock: Clock,
    @InjectMetric('triage_duration_seconds') private readonly durations: Histogram<'status'>,
    @InjectMetric('llm_tokens_total') private readonly tokens: Counter<'direction'>,
  ) {}

  onModuleInit(): void {
    beginAtZero(this.durations, { status: ['completed', 'failed'] });
    beginAtZero(this.tokens, { direction: ['input', 'output'] });
    this.components.register('llm', () => this.health());
    this.gauges.register('triage_runs', async () => {
      const counts = Object.entries(await this.runs.countOpen());
      return counts.map(([status, count]) => [{ status }, count] as const);
    });
  }

  answered(): void {
    if (this.isSilent) this.log.log('The provider of verdicts answers again.');
    this.isSilent = false;
  }

  unavailable(error: ModelUnavailableError): void {
    const { reason, message } = error;
    this.last = { reason, message, at: this.clock.now() };
    if (error.isAboutIncident) return this.answered();
    if (!this.isSilent) this.log.warn({ reason }, `${NO_VERDICTS}: ${message}`);
    this.isSilent = true;
  }

  used({ input, output }: TokenUse): void {
    if (input > 0) this.tokens.inc({ direction: 'input' }, input);
    if (output > 0) this.tokens.inc({ direction: 'output' }, output);
  }

  ended({ status, duration_ms }: TriageRun): void {
    this.durations.observe({ status }, (duration_ms ?? 0) / 1_000);
  }

  async shortage(): Promise<ModelUnavailableError | undefined> {
    const { aiTokensPerHour: budget } = this.settings;
    const isLimited = this.model.asksOutside && budget > 0;
    const freeAt = isLimited ? await this.runs.budgetFreeAt(budget) : undefined;
    if (!freeAt) return undefined;
    const message = `The ${budget} tokens that AI_TOKENS_PER_HOUR allows are used up.`;
    const retryAfterMs = Math.max(0, freeAt.getTime() - this.clock.now().getTime());
    return new ModelUnavailableError('token_budget', message, 'time', { retryAfterMs });
  }

  private async health(): Promise<ComponentHealth> {
    const { provider, configuredModel: model } = this.model;
    // `waiting` is unknown while the database is down. The health component of the database then reports the cause.
    const waiting = await this.runs.countOpen().catch(() => undefined);
    const shortage = await this.shortage().catch(() => undefined);
    const { isSilent, last } = this;
    const details = {
      ...{ provider, model, runs_waiting: waiting?.queued },
      ...(last && { last_failure: { reason: last.reason, at: last.at.toISOString() } }),
    };
    if (provider === 'none') {
      const message = 'No AI provider is configured: only people triage.';
      return { status: 'disabled', message, ...details };
    }
    const outage = isSilent && last ? `${NO_VERDICTS}: ${last.message}` : undefined;
    const message = shortage?.message ?? outage;
    return { status: message ? 'degraded' : 'healthy', ...(message && { message }), ...details };
  }
}
