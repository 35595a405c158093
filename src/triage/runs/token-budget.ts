import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { ModelUnavailableError } from '../model/model.errors.js';
import { RunClaimsRepository } from '../records/run-claims.repository.js';

/**
 * AI_TOKENS_PER_HOUR, counted over the runs of all replicas. What is under way is not counted yet: the budget can be
 * exceeded by the runs that are under way when it is used up, and by no more.
 */
@Injectable()
export class TokenBudget {
  constructor(
    private readonly claims: RunClaimsRepository,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** What to tell who wants a run now; undefined while there is budget. */
  async shortage(): Promise<ModelUnavailableError | undefined> {
    const { aiTokensPerHour: budget } = this.settings;
    const freeAt = budget > 0 ? await this.claims.budgetFreeAt(budget) : undefined;
    if (!freeAt) return undefined;
    const message = `The ${budget} tokens that AI_TOKENS_PER_HOUR allows are used up.`;
    const retryAfterMs = Math.max(0, freeAt.getTime() - this.clock.now().getTime());
    return new ModelUnavailableError('token_budget', message, { mayHelpLater: true, retryAfterMs });
  }
}
