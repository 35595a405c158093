import type { TokenUse } from './triage-model.port.js';

export const UNAVAILABLE_REASONS = [
  'not_configured',
  'authentication',
  'unreachable',
  'timeout',
  'rate_limited',
  'overloaded',
  'provider_error',
  'refused',
  'truncated',
  'invalid_answer',
  'token_budget',
] as const;

/** Why there is no verdict, as `details.reason` of the answer and as the run says it. */
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

/** The provider gave no usable verdict. */
export class ModelUnavailableError extends Error {
  constructor(
    readonly reason: UnavailableReason,
    message: string,
    readonly extras: {
      /** Whether the same question may be answered later, so that a job tries again. */
      readonly mayHelpLater: boolean;
      /** Somebody has to mend a setting or an account first: asking again at once is in vain, and so is any other question. */
      readonly needsOperator?: boolean;
      readonly retryAfterMs?: number;
      /** What was used all the same. */
      readonly tokens?: TokenUse;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: extras.cause });
    this.name = new.target.name;
  }
}
