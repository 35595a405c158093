import { setTimeout as sleep } from 'node:timers/promises';
import type { Departure, Gate } from '../../platform/net/gate.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import type { OutboundAnswer, OutboundRequest } from '../../platform/net/outbound-request.js';
import type { TestResult } from '../connector.port.js';
import { Attempts, type VendorState } from './attempts.js';
import { isTemporary, retryAfter, retryAt } from './retry-rules.js';
import { presentTime } from '../../platform/clock.js';

export type VendorRequest = Omit<OutboundRequest, 'signal' | 'beforeLeaving'>;

export interface CallOptions {
  /** Sent twice, the request takes effect once. */
  readonly idempotent: boolean;
  /** Of a request that it answers with 429 the vendor does nothing, so that it may be sent again, idempotent or not. */
  readonly limitIsRefusal?: boolean;
  /**
   * The header, in lower case, in which an answer with status 429 and without Retry-After says at which second since 1970
   * the vendor may be asked again.
   */
  readonly limitEndsIn?: string;
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

  /** For a status poll and a test, which have no effect: the kill switch does not stop them. */
  ungated(request: VendorRequest): Promise<OutboundAnswer> {
    return this.http.request({ timeoutMs: TIMEOUT_MS, ...request, handsOnTrace: true });
  }
}

/** Status 500 comes from whoever read the request, 502 to 504 from what stands before it. */
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

/** Its second is one of its own clock, which may differ from ours by more than an action waits. */
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
