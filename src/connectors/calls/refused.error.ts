import type { Outcome, TestResult } from '../connector.port.js';
import { measureTest } from './vendor-calls.js';

/** The vendor said no, or a value does not fit into a request: nothing happened. */
export class RefusedError extends Error {
  constructor(
    message: string,
    /** What the vendor answered, when it was asked. */
    readonly status?: number,
    /** The vendor's own word for it, for programs. */
    readonly code?: string,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** What comes of the requests of one action, when a refusal of any of them ends it and an earlier one had no effect. */
export async function unlessRefused(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedError) return { kind: 'refused', message: error.message };
    throw error;
  }
}

/** A connector's test: `work` says in a sentence what it found, or throws. */
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
