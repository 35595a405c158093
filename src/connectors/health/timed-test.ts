import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { TestResult } from '../connector.port.js';

/** Runs a test and says how long it took. What fails outside is a result, not an error. */
export async function timedTest(
  test: () => Promise<Omit<TestResult, 'latencyMs'>>,
): Promise<TestResult> {
  const start = performance.now();
  const result = await test().catch((error: unknown) => {
    if (error instanceof UnreachableError || error instanceof OutcomeUnknownError) {
      return { success: false, message: error.message };
    }
    throw error;
  });
  return { ...result, latencyMs: Math.round(performance.now() - start) };
}
