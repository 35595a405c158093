import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { ModelUnavailableError, UnavailableReason } from '../model/model.errors.js';
import { TriageModel } from '../model/triage-model.port.js';
import { retryPauseMs } from './run-rules.js';
import { TokenBudget } from './token-budget.js';

/** Why no run may be begun. */
export interface Obstacle {
  readonly error: ModelUnavailableError;
  /** When to look again; undefined when that would be in vain until the next start. */
  readonly until: Date | undefined;
  /** Nobody knows when it ends, so that runs wait for it no longer than for a provider that is down. */
  readonly isFault: boolean;
}

/** What other settings, or somebody at the provider, may have changed. Not when the provider itself asked for a pause. */
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
    if (needsOperator) this.fault = { error, until: this.inMs(retryPauseMs(0, error, 0)) };
    // It has answered, although not with a verdict on this incident.
    else if (!mayHelpLater) this.answered();
  }

  answered(): void {
    if (this.fault) this.mended = true;
    this.fault = undefined;
  }

  async now(): Promise<Obstacle | undefined> {
    const { unusable } = this.model;
    if (unusable) return { error: unusable, until: undefined, isFault: true };
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

  wentOn(reasons: readonly UnavailableReason[]): void {
    if (reasons === MENDABLE) this.mended = false;
    if (reasons.includes('token_budget')) this.spent = false;
  }

  private inMs(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }
}
