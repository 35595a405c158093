import { setTimeout as sleep } from 'node:timers/promises';
import type { Departure, Gate } from '../../platform/net/gate.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import type { OutboundAnswer, OutboundRequest } from '../../platform/net/outbound-request.js';
import type { TestResult } from '../connector.port.js';
import { Attempts } from './attempts.js';
import { isTemporary, retryAfter } from './retry-rules.js';

export type VendorRequest = Omit<OutboundRequest, 'signal' | 'beforeLeaving'>;

export interface CallOptions {
  /** Sent twice, the request takes effect once. */
  readonly idempotent: boolean;
  /** Of a request that it answers with 429 the vendor does nothing, so that it may be sent again, idempotent or not. */
  readonly limitIsRefusal?: boolean;
}

/** For one attempt. All attempts and waits together stay well below the lease of an action. */
const TIMEOUT_MS = 10_000;

/** The calls of one connector: each has a timeout, all share a circuit breaker, and what is safe to repeat is repeated. */
export class VendorCalls {
  private readonly attempts: Attempts;

  constructor(
    private readonly http: OutboundHttp,
    wait: (ms: number) => Promise<unknown> = sleep,
  ) {
    this.attempts = new Attempts(wait);
  }

  /** For a request with an effect, and for a look-up: each attempt passes the gate anew. */
  async gated(gate: Gate, request: VendorRequest, options: CallOptions): Promise<OutboundAnswer> {
    const start = performance.now();
    /** When one attempt sent something, the outcome stays unknown, also when a later attempt sends nothing. */
    let unknown: OutcomeUnknownError | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const last = attempt === ATTEMPTS || performance.now() - start > NO_RETRY_AFTER_MS;
      let pauseMs = backoff(attempt, Math.random());
      try {
        const answer = await this.attempt(gate, request);
        if (last || !mayAnswerBeRepeated(answer.status, options)) return answer;
        const asked = retryAfter(answer.header('retry-after'), new Date());
        if (asked === 'too long') return answer;
        pauseMs = Math.max(pauseMs, asked ?? 0);
      } catch (error) {
        if (error instanceof OutcomeUnknownError) unknown = error;
        if (last || !mayRepeat(error, options.idempotent)) {
          throw error instanceof UnreachableError ? (unknown ?? error) : error;
        }
      }
      await this.wait(pauseMs);
    }
  }

  /** For a status poll and a test, which have no effect: the kill switch does not stop them. */
  ungated(request: VendorRequest): Promise<OutboundAnswer> {
    return this.http.request({ timeoutMs: TIMEOUT_MS, ...request });
  }
}

function mayAnswerBeRepeated(
  status: number,
  { idempotent, limitIsRefusal = false }: CallOptions,
): boolean {
  return isTemporary(status) && (idempotent || (limitIsRefusal && status === 429));
}

async function sleepFor(ms: number): Promise<void> {
  await sleep(ms);
}

/** Runs a connector's test and measures how long it takes. That the vendor cannot be reached is a result and not an error. */
export async function measureTest(
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
