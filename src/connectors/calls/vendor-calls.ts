import { setTimeout as sleep } from 'node:timers/promises';
import type { Gate } from '../../platform/net/gate.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import type { OutboundAnswer, OutboundRequest } from '../../platform/net/outbound-request.js';
import type { TestResult } from '../connector.port.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { ATTEMPTS, backoff, isTemporary, mayRepeat, retryAfter } from './retry-rules.js';

export type VendorRequest = Omit<OutboundRequest, 'signal' | 'beforeLeaving'>;

export interface CallOptions {
  /** Sent twice, the request takes effect once. */
  readonly idempotent: boolean;
}

/** For one attempt. All attempts and waits together stay well below the lease of an action. */
const TIMEOUT_MS = 10_000;
const NO_RETRY_AFTER_MS = 20_000;

/** The calls of one connector: each has a timeout, all share a circuit breaker, and what is safe to repeat is repeated. */
export class VendorCalls {
  private readonly breaker = new CircuitBreaker();

  constructor(
    private readonly http: OutboundHttp,
    private readonly wait: (ms: number, signal?: AbortSignal) => Promise<void> = sleepFor,
  ) {}

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
        if (last || !options.idempotent || !isTemporary(answer.status)) return answer;
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

  private async attempt(gate: Gate, request: VendorRequest): Promise<OutboundAnswer> {
    this.breaker.enter();
    try {
      const answer = await gate.send((departure) =>
        this.http.request({
          timeoutMs: TIMEOUT_MS,
          ...request,
          signal: departure.signal,
          beforeLeaving: () => departure.leave(),
        }),
      );
      if (answer.status >= 500) this.breaker.failed();
      else this.breaker.succeeded();
      return answer;
    } catch (error) {
      if (error instanceof UnreachableError || error instanceof OutcomeUnknownError) {
        this.breaker.failed();
      } else {
        this.breaker.notTried();
      }
      throw error;
    }
  }
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
