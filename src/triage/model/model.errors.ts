import type { TokenUse } from './token-use.js';

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

/** What a provider may ask for before it is asked again; a longer time is taken for a mistake. */
export const LONGEST_RETRY_AFTER_MS = 60 * 60_000;

/** There is no usable verdict. */
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

/** A tool cannot answer a question, and the model and the readers of the run are told in these words why. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}
