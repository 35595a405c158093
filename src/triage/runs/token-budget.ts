import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { ModelUnavailableError } from '../model/triage-model.port.js';
import { TriageRunsRepository } from '../records/triage-runs.repository.js';

/**
 * AI_TOKENS_PER_HOUR, counted over the runs of all replicas. Attempts under way are not counted yet, so they can exceed the
 * budget.
 */
@Injectable()
export class TokenBudget {
  private readonly log = new Logger('Triage');
  private isSpent = false;

  constructor(
    private readonly runs: TriageRunsRepository,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** Undefined while there is budget. */
  async shortage(): Promise<ModelUnavailableError | undefined> {
    const { aiTokensPerHour: budget } = this.settings;
    const freeAt = budget > 0 ? await this.runs.budgetFreeAt(budget) : undefined;
    const message = `The ${budget} tokens that AI_TOKENS_PER_HOUR allows are used up.`;
    this.report(freeAt && `${message} Triage waits until ${freeAt.toISOString()}.`);
    if (!freeAt) return undefined;
    const retryAfterMs = Math.max(0, freeAt.getTime() - this.clock.now().getTime());
    return new ModelUnavailableError('token_budget', message, { mayHelpLater: true, retryAfterMs });
  }

  /** Logs the beginning and the end of a shortage. */
  private report(shortage: string | undefined): void {
    if (shortage !== undefined && !this.isSpent) this.log.warn(shortage);
    if (shortage === undefined && this.isSpent) this.log.log('There are tokens for triage again.');
    this.isSpent = shortage !== undefined;
  }
}
