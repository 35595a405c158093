import { Injectable, Logger } from '@nestjs/common';
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
  private readonly log = new Logger('Triage');
  private spent = false;

  constructor(
    private readonly claims: RunClaimsRepository,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** What to tell who wants a run now; undefined while there is budget. */
  async shortage(): Promise<ModelUnavailableError | undefined> {
    const { aiTokensPerHour: budget } = this.settings;
    const freeAt = budget > 0 ? await this.claims.budgetFreeAt(budget) : undefined;
    const message = `The ${budget} tokens that AI_TOKENS_PER_HOUR allows are used up.`;
    this.tell(freeAt && `${message} Triage waits until ${freeAt.toISOString()}.`);
    if (!freeAt) return undefined;
    const retryAfterMs = Math.max(0, freeAt.getTime() - this.clock.now().getTime());
    return new ModelUnavailableError('token_budget', message, { mayHelpLater: true, retryAfterMs });
  }

  /** Once when the tokens are used up, and once when that is over. */
  private tell(shortage: string | undefined): void {
    const was = this.spent;
    this.spent = shortage !== undefined;
    if (shortage !== undefined && !was) this.log.warn(shortage);
    if (shortage === undefined && was) this.log.log('There are tokens for triage again.');
  }
}
