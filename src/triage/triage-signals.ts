import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter, Histogram } from 'prom-client';
import { Clock } from '../platform/clock.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { beginAtZero } from '../platform/metrics/metrics.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import { shownStart } from '../platform/text.js';
import {
  type ModelUnavailableError,
  type ProviderName,
  type TokenUse,
  TriageModel,
  type UnavailableReason,
} from './model/triage-model.port.js';
import { TriageRunsRepository } from './records/triage-runs.repository.js';
import { TokenBudget } from './runs/token-budget.js';

/** State of the provider, as this replica has seen it. */
export interface Heard {
  /** Whether the last request got no answer. */
  readonly silent: boolean;
  readonly last?: {
    readonly reason: UnavailableReason;
    readonly message: string;
    readonly at: Date;
  };
}

export interface LlmState {
  readonly provider: ProviderName;
  readonly model: string | undefined;
  readonly heard: Heard;
  /** Number of waiting runs, if it is known. */
  readonly waiting: number | undefined;
  /** Message while the tokens of the hour are used up. */
  readonly shortage: string | undefined;
  readonly now: Date;
}

/** Without waiting runs there are no requests: after this time, a failure no longer shows the state of the provider. */
const OLD_NEWS_MS = 15 * 60_000;

/** Returns the health component of the provider. */
export function llmHealth(state: LlmState): ComponentHealth {
  const { provider, model, heard, waiting } = state;
  const { last } = heard;
  const told = {
    provider,
    model,
    runs_waiting: waiting,
    ...(last && { last_failure: { reason: last.reason, at: last.at.toISOString() } }),
  };
  if (provider === 'none') {
    const message = 'No AI provider is configured: only people triage.';
    return { status: 'disabled', message, ...told };
  }
  const trouble = troubleIn(state);
  if (trouble !== undefined) return { status: 'degraded', message: trouble, ...told };
  const message = 'The last request failed. There was no request since.';
  return { status: 'healthy', ...(heard.silent && { message }), ...told };
}

function troubleIn({ heard: { silent, last }, waiting, shortage, now }: LlmState) {
  if (shortage !== undefined) return shortage;
  if (!silent || !last) return undefined;
  const isNews = waiting !== 0 || now.getTime() - last.at.getTime() < OLD_NEWS_MS;
  return isNews ? `The provider gives no verdicts: ${last.message}` : undefined;
}

/** Limits the lines about a provider that answers every other request. */
const QUIET_MS = 60_000;

/** Logs the beginning and the end of an outage of the provider. */
export class OutageLog {
  private isTold = false;
  private toldAt = -Infinity;

  constructor(private readonly log: Pick<Logger, 'warn' | 'log'>) {}

  silent(reason: UnavailableReason, message: string, now: Date): void {
    if (this.isTold || now.getTime() - this.toldAt < QUIET_MS) return;
    this.isTold = true;
    this.toldAt = now.getTime();
    this.log.warn({ reason }, `The provider gives no verdicts: ${message}`);
  }

  answered(): void {
    if (this.isTold) this.log.log('The provider of verdicts answers again.');
    this.isTold = false;
  }
}

const LONGEST_MESSAGE = 500;

/** Reasons of the incident: the provider answers. */
const ABOUT_THE_CASE: ReadonlySet<UnavailableReason> = new Set(['refused', 'truncated']);

/** Shows the model in health, metrics and log, as this replica has seen it last. Waiting runs are those of all replicas. */
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
    // Without the database the number is unknown. The component of the database says why.
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
