import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { Outcome } from './channel.port.js';

/**
 * What it means that a receiver did not answer. An address that must not be called is no exception: a name may lead elsewhere in
 * a minute, and somebody may mend ALLOWED_PRIVATE_TARGETS. Other errors are not known, and thrown again.
 */
export function failureOf(error: unknown): Outcome {
  if (error instanceof UnreachableError || error instanceof OutcomeUnknownError) {
    return { kind: 'failed', why: error.message };
  }
  throw error;
}
