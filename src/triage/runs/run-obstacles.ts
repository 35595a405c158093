import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { ModelUnavailableError, type UnavailableReason } from '../model/model.errors.js';
import { TriageModel } from '../model/triage-model.port.js';
import { retryPauseMs } from './run-rules.js';
import { Settings } from '../../platform/config/settings.js';
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

  /** What to tell who wants a run now. Undefined while there is budget. */
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

/** Why no run may be begun. */
export interface Obstacle {
  readonly error: ModelUnavailableError;
  /** When to look again. */
  readonly until: Date;
  /** Nobody knows when it ends, so that runs wait for it no longer than for a provider that is down. */
  readonly isFault: boolean;
}

/** What other settings, or somebody at the provider, may have changed. */
const MENDABLE: readonly UnavailableReason[] = [
  'not_configured',
  'authentication',
  'unreachable',
  'timeout',
  'provider_error',
  'invalid_answer',
  'token_budget',
];

const OF_BUDGET: readonly UnavailableReason[] = ['token_budget'];

/** For these the provider itself may have asked for a pause, of up to an hour. */
const OF_PAUSE: readonly UnavailableReason[] = ['rate_limited', 'overloaded'];

/**
 * Keeps the runs that wait from asking one after the other what one of them has learnt: that the key is wrong, that there is
 * no provider, that the tokens of the hour are used up. As this replica has seen it.
 */
@Injectable()
export class RunObstacles {
  private fault: { readonly error: ModelUnavailableError; readonly until: Date } | undefined;
  private spent = false;
  /** A start may come with other settings. */
  private mended = true;
  /** The provider has asked for a pause, or did so before the start, and has answered nobody since. */
  private paused = true;
  private answersAgain = false;

  constructor(
    private readonly model: TriageModel,
    private readonly budget: TokenBudget,
    private readonly clock: Clock,
  ) {}

  /** The fault may be over or not: until an answer tells, one run at a time asks. */
  get isTrying(): boolean {
    return this.fault !== undefined;
  }

  /** The provider gave no verdict. */
  met(error: ModelUnavailableError): void {
    const { mayHelpLater, needsOperator } = error.extras;
    if (OF_PAUSE.includes(error.reason)) this.paused = true;
    if (needsOperator) this.fault = { error, until: this.inMs(retryPauseMs(0, error, 0)) };
    // It has answered, although not with a verdict on this incident.
    else if (!mayHelpLater) this.answered();
  }

  answered(): void {
    if (this.fault) this.mended = true;
    if (this.paused) this.answersAgain = true;
    this.fault = undefined;
    this.paused = false;
  }

  async now(): Promise<Obstacle | undefined> {
    const { fault } = this;
    if (fault && fault.until > this.clock.now()) return { ...fault, isFault: true };
    const shortage = await this.budget.shortage();
    this.spent = shortage !== undefined;
    if (!shortage) return undefined;
    const until = this.inMs(shortage.extras.retryAfterMs ?? 0);
    return { error: shortage, until, isFault: false };
  }

  /** The reasons for which runs still wait, and need not any more: until it is told that they have gone on. */
  async over(): Promise<readonly UnavailableReason[]> {
    if (this.model.unusable) return [];
    if (this.mended) return MENDABLE;
    return this.spent && !(await this.budget.shortage()) ? OF_BUDGET : [];
  }

  /** The reasons for which runs still rest, although the provider has answered somebody: until it is told that they have gone on. */
  get rested(): readonly UnavailableReason[] {
    return this.answersAgain ? OF_PAUSE : [];
  }

  wentOn(reasons: readonly UnavailableReason[]): void {
    if (reasons === MENDABLE) this.mended = false;
    if (reasons === OF_PAUSE) this.answersAgain = false;
    if (reasons.includes('token_budget')) this.spent = false;
  }

  private inMs(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }
}
