import {
  OutcomeUnknownError,
  TargetRefusedError,
  UnreachableError,
} from '../../platform/net/net.errors.js';
import type { Outcome } from './channel.port.js';

/** What it means that a receiver did not answer. Other errors are not known, and thrown again. */
export function failureOf(error: unknown): Outcome {
  if (error instanceof TargetRefusedError) return { kind: 'refused', why: error.message };
  if (error instanceof UnreachableError || error instanceof OutcomeUnknownError) {
    return { kind: 'failed', why: error.message };
  }
  throw error;
}
