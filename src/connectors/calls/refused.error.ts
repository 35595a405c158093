import type { Outcome, TestResult } from '../connector.port.js';
import { measureTest } from './vendor-calls.js';

/** The vendor rejected the request, or a value does not fit into it. Nothing happened. */
export class RefusedError extends Error {
  constructor(
    message: string,
    /** Status of the answer, if there was one. */
    readonly status?: number,
    /** Error code of the vendor. */
    readonly code?: string,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** Outcome of an action that ends at the first refusal, if earlier requests had no effect. */
export async function unlessRefused(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedError) return { kind: 'refused', message: error.message };
    throw error;
  }
}

/** Runs the test of a connector. `work` returns a sentence about the result, or throws. */
export function testResult(work: () => Promise<string>): Promise<TestResult> {
  return measureTest(async () => {
    try {
      return { success: true, message: await work() };
    } catch (error) {
      if (error instanceof RefusedError) return { success: false, message: error.message };
      throw error;
    }
  });
}
