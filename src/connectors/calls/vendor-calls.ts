import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Departure,
  Gate,
  OutboundAnswer,
  OutboundRequest,
} from '../../platform/net/outbound-request.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import type { TestResult } from '../connector.port.js';
import { Attempts, type VendorState, isTemporary, retryAfter, retryAt } from './attempts.js';
import { presentTime } from '../../platform/clock.js';

export type VendorRequest = Omit<OutboundRequest, 'signal' | 'beforeLeaving'>;

export interface CallOptions {
  /** Repeating the request has the same effect as sending it once. */
  readonly idempotent: boolean;
  /** The vendor does nothing when it answers 429, so the request may be repeated even if it is not idempotent. */
  readonly limitIsRefusal?: boolean;
  /** Lower-case header with the Unix time in seconds of the next allowed request, for a 429 without Retry-After. */
  readonly limitEndsIn?: string;
}

/** Timeout of one attempt. All attempts and waits together are much shorter than the lease of an action. */
const TIMEOUT_MS = 10_000;

/** HTTP calls of one connector, with timeouts, retries and a shared circuit breaker. */
export class VendorCalls {
  private readonly attempts: Attempts;

  constructor(
    private readonly http: OutboundHttp,
    wait: (ms: number) => Promise<unknown> = sleep,
  ) {
    this.attempts = new Attempts(wait);
  }

  /** Sends a request with an effect, or a look-up. Each attempt passes the gate. */
  gated(gate: Gate, request: VendorRequest, options: CallOptions): Promise<OutboundAnswer> {
    const once = (departure: Departure): Promise<OutboundAnswer> =>
      this.http.request({
        timeoutMs: TIMEOUT_MS,
        ...request,
        handsOnTrace: true,
        signal: departure.signal,
        beforeLeaving: () => departure.leave(),
      });
    return this.attempts.run(gate, once, {
      idempotent: options.idempotent,
      stateBy,
      pauseAfter: (answer) => pauseAfter(answer, options),
    });
  }

  /** Sends a status poll or a test, which the kill switch does not stop. */
  ungated(request: VendorRequest): Promise<OutboundAnswer> {
    return this.http.request({ timeoutMs: TIMEOUT_MS, ...request, handsOnTrace: true });
  }
}

/** Status 500 comes from the service itself, 502 to 504 from a proxy in front of it. */
function stateBy({ status }: OutboundAnswer): VendorState {
  if (status < 500) return 'well';
  return isTemporary(status) ? 'failing' : 'unclear';
}

function pauseAfter(answer: OutboundAnswer, options: CallOptions): number | undefined {
  if (!mayAnswerBeRepeated(answer.status, options)) return undefined;
  const asked = pauseAskedBy(answer, options);
  return asked === 'too long' ? undefined : (asked ?? 0);
}

function pauseAskedBy(
  answer: OutboundAnswer,
  { limitEndsIn }: CallOptions,
): number | 'too long' | undefined {
  const now = new Date(presentTime());
  const asked = retryAfter(answer.header('retry-after'), now);
  if (asked !== undefined || limitEndsIn === undefined || answer.status !== 429) return asked;
  return retryAt(answer.header(limitEndsIn), vendorsTime(answer) ?? now);
}

/** The header uses the clock of the vendor, which may differ from ours. */
function vendorsTime(answer: OutboundAnswer): Date | undefined {
  const time = new Date(answer.header('date') ?? '');
  return Number.isNaN(time.getTime()) ? undefined : time;
}

function mayAnswerBeRepeated(
  status: number,
  { idempotent, limitIsRefusal = false }: CallOptions,
): boolean {
  return isTemporary(status) && (idempotent || (limitIsRefusal && status === 429));
}

/** Runs the test of a connector and measures its duration. An unreachable vendor is a result, not an error. */
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
