import { AppError, ValidationError } from '../platform/errors/app-error.js';
import { LONGEST_RETRY_AFTER_MS, type ModelUnavailableError } from './model/triage-model.port.js';
import type { RunError, TriageRun } from './triage-run.js';

export class TriageInProgressError extends AppError {
  constructor({ id, status }: Pick<TriageRun, 'id' | 'status'>) {
    super('triage_in_progress', `A triage run of the incident is ${status}.`, {
      details: { triage_id: id, status },
    });
  }
}

/** A caller waits for a verdict, and there is none. */
export class AiUnavailableError extends AppError {
  constructor(
    { reason, message }: RunError,
    extras: Partial<ModelUnavailableError['extras']> = {},
  ) {
    const { retryAfterMs = Number.NaN, cause } = extras;
    const bounded = Math.min(LONGEST_RETRY_AFTER_MS, retryAfterMs);
    const seconds = Math.max(1, Math.ceil(bounded / 1_000));
    super('ai_unavailable', message, {
      details: { reason },
      cause,
      ...(seconds && { headers: { 'retry-after': String(seconds) } }),
    });
  }
}

export function unknownPlaybook(): ValidationError {
  return ValidationError.of('playbook', 'unknown_playbook', 'playbook names no enabled playbook.');
}
