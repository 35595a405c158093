import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter, Histogram } from 'prom-client';
import { Clock } from '../../platform/clock.js';
import { type ComponentHealth, HealthComponents } from '../../platform/health-components.js';
import { shownStart } from '../../platform/text.js';
import type { ModelUnavailableError, UnavailableReason } from '../model/model.errors.js';
import { type TokenUse, TriageModel } from '../model/triage-model.port.js';

interface NoAnswer {
  readonly reason: UnavailableReason;
  readonly message: string;
  readonly at: Date;
}

const LONGEST_MESSAGE = 500;

/** These say something about the incident that was asked about; the provider answers. */
const ABOUT_THE_CASE: ReadonlySet<UnavailableReason> = new Set(['refused', 'truncated']);

/** Shows the model in health and metrics: as this replica has seen it last. */
@Injectable()
export class TriageSignals implements OnModuleInit {
  private last?: NoAnswer;
  private answersNow = true;

  constructor(
    private readonly model: TriageModel,
    private readonly components: HealthComponents,
    private readonly clock: Clock,
    @InjectMetric('triage_duration_seconds') private readonly durations: Histogram,
    @InjectMetric('llm_tokens_total') private readonly tokens: Counter,
  ) {}

  onModuleInit(): void {
    this.components.register('llm', async () => this.health());
  }

  answered(): void {
    this.answersNow = true;
  }

  unavailable({ reason, message }: ModelUnavailableError): void {
    this.last = { reason, message: shownStart(message, LONGEST_MESSAGE), at: this.clock.now() };
    this.answersNow = ABOUT_THE_CASE.has(reason);
  }

  used({ input, output }: TokenUse): void {
    if (input > 0) this.tokens.inc({ direction: 'input' }, input);
    if (output > 0) this.tokens.inc({ direction: 'output' }, output);
  }

  ended(status: 'completed' | 'failed', ms: number): void {
    this.durations.observe({ status }, ms / 1_000);
  }

  private health(): ComponentHealth {
    const { provider, configuredModel: model } = this.model;
    if (provider === 'none') {
      const message = 'No AI provider is configured: only people triage.';
      return { status: 'disabled', provider, message };
    }
    const told = { provider, model, ...(this.last && { last_failure: shown(this.last) }) };
    if (this.answersNow || !this.last) return { status: 'healthy', ...told };
    return {
      status: 'degraded',
      message: `The last attempt failed: ${this.last.message}`,
      ...told,
    };
  }
}

function shown({ reason, at }: NoAnswer) {
  return { reason, at: at.toISOString() };
}
