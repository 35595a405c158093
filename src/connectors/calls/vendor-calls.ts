import {
  type Departure,
  type Gate,
  type OutboundAnswer,
  type OutboundRequest,
  retryAfterMs,
} from '../../platform/net/outbound-request.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import type { OutboundSmtp } from '../../platform/net/outbound-smtp.js';
import { presentTime } from '../../platform/clock.js';

export interface Outbound {
  readonly http: OutboundHttp;
  readonly smtp: OutboundSmtp;
  /** Secrets of the configuration, to mask in answers. */
  readonly secrets: readonly string[];
  readonly wait?: (ms: number) => Promise<unknown>;
}

const ATTEMPTS = 3;
const NO_RETRY_AFTER_MS = 20_000;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
/** Timeout of one attempt. All attempts and waits together are much shorter than the lease of an action. */
const TIMEOUT_MS = 10_000;
/** Maximum duration of a test, because a person waits for it. */
export const TEST_TIMEOUT_MS = 5_000;

/** `unclear`: the vendor failed at one request. This says nothing about other requests. */
type VendorState = 'well' | 'failing' | 'unclear';

/** Interpretation of answers, for any protocol. */
interface AttemptRules<Answer> {
  /** Repeating the call has the same effect as calling once. */
  readonly idempotent: boolean;
  /** State of the vendor, independent of the request. */
  readonly stateBy: (answer: Answer) => VendorState;
  /** Minimum wait in milliseconds before a retry; `undefined` if the answer is final. */
  readonly pauseAfter: (answer: Answer) => number | undefined;
}

export type VendorRequest = Omit<OutboundRequest, 'signal' | 'beforeLeaving'>;

interface CallOptions {
  /** Repeating the request has the same effect as sending it once. */
  readonly idempotent: boolean;
  /** The vendor does nothing when it answers 429, so the request may be repeated even if it is not idempotent. */
  readonly limitIsRefusal?: boolean;
}

/** Calls of one connector, with timeouts and retries. All attempts share a circuit breaker. */
export class VendorCalls {
  private readonly breaker = new CircuitBreaker();

  constructor(private readonly outbound: Pick<Outbound, 'http' | 'wait'>) {}

  /** Sends a request. Without a gate it must change nothing, such as a poll or a test, and is sent once. */
  send(
    gate: Gate | undefined,
    request: VendorRequest,
    options: CallOptions,
  ): Promise<OutboundAnswer> {
    const once = (departure?: Departure): Promise<OutboundAnswer> =>
      this.outbound.http.request({
        ...request,
        timeoutMs: request.timeoutMs ?? TIMEOUT_MS,
        signal: departure?.signal,
        beforeLeaving: departure && (() => departure.leave()),
        handsOnTrace: true,
      });
    if (!gate) return once();
    const pauseAfter = (answer: OutboundAnswer) => pauseAskedBy(answer, options);
    return this.attempt(gate, once, { idempotent: options.idempotent, stateBy, pauseAfter });
  }

  /** Makes several attempts if a retry is safe. Each attempt passes the gate. */
  async attempt<Answer>(
    gate: Gate,
    once: (departure: Departure) => Promise<Answer>,
    { idempotent, stateBy, pauseAfter }: AttemptRules<Answer>,
  ): Promise<Answer> {
    const start = performance.now();
    /** After an attempt that sent something the outcome stays unknown, even if a later attempt sends nothing. */
    let unknown: OutcomeUnknownError | undefined;
    /** Signal of the latest attempt, aborted when the caller gives up. */
    let signal: AbortSignal | undefined;
    const depart = (departure: Departure): Promise<Answer> => {
      ({ signal } = departure);
      return once(departure);
    };
    for (let attempt = 1; ; attempt += 1) {
      const last = attempt === ATTEMPTS || performance.now() - start > NO_RETRY_AFTER_MS;
      let pauseMs = backoff(attempt, Math.random());
      try {
        this.breaker.enter();
        const answer = await gate.send(depart);
        this.breaker.end(stateBy(answer), 'The vendor reported a failure or an overload.');
        const asked = last ? undefined : pauseAfter(answer);
        if (asked === undefined || asked > LONGEST_WAIT_MS) return answer;
        pauseMs = Math.max(pauseMs, asked);
      } catch (error) {
        if (error instanceof BreakerOpenError) throw unknown ?? error;
        // If the call was aborted, the reason counts, not the cut connection: a lost claim is no failure of the vendor.
        const cause: unknown = signal?.aborted ? signal.reason : error;
        const isFailure = cause instanceof UnreachableError || cause instanceof OutcomeUnknownError;
        this.breaker.end(isFailure ? 'failing' : 'unclear', isFailure ? cause.message : '');
        if (error instanceof OutcomeUnknownError) unknown = error;
        if (last || signal?.aborted || !mayRepeat(error, idempotent)) {
          throw error instanceof UnreachableError ? (unknown ?? error) : error;
        }
      }
      await (this.outbound.wait ?? sleep)(pauseMs);
    }
  }
}

const FAILURES = 5;
const OPEN_MS = 30_000;

/**
 * Stops calling a vendor after several failures in a row. After a pause, one call tests whether the vendor answers
 * again.
 */
export class CircuitBreaker {
  private failures = 0;
  private openUntil = 0;
  private isProbing = false;
  private lastCause = '';

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Throws if the call is not allowed. Otherwise the caller must report its end. */
  enter(): void {
    if (this.failures < FAILURES) return;
    if (this.now() < this.openUntil || this.isProbing) throw new BreakerOpenError(this.lastCause);
    this.isProbing = true;
  }

  end(state: VendorState, cause = ''): void {
    this.isProbing = false;
    if (state === 'well') this.failures = 0;
    if (state !== 'failing') return;
    this.lastCause = cause;
    this.failures += 1;
    if (this.failures >= FAILURES) this.openUntil = this.now() + OPEN_MS;
  }
}

class BreakerOpenError extends UnreachableError {
  constructor(cause: string) {
    const message = 'All recent calls failed. No further call is made for up to 30 seconds.';
    super(`${message} The last failure: ${cause}`, { temporary: false });
  }
}

/** Whether a failed call may be repeated: nothing was sent, or the call is idempotent. */
export function mayRepeat(error: unknown, idempotent: boolean): boolean {
  if (error instanceof UnreachableError) return error.temporary;
  return error instanceof OutcomeUnknownError && idempotent;
}

/** Milliseconds to wait after an attempt: doubles each time, with jitter. @param chance from 0 to 1 */
export function backoff(attempt: number, chance: number): number {
  return FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + chance);
}

/** Failures of a proxy in front of the vendor. Status 500 comes from the service itself. */
const PROXY_FAILURES = [502, 503, 504];

function stateBy({ status }: OutboundAnswer): VendorState {
  if (status < 500) return 'well';
  return PROXY_FAILURES.includes(status) ? 'failing' : 'unclear';
}

function pauseAskedBy(
  answer: OutboundAnswer,
  { idempotent, limitIsRefusal = false }: CallOptions,
): number | undefined {
  const isLimit = answer.status === 429;
  if (!idempotent && !(isLimit && limitIsRefusal)) return undefined;
  if (!isLimit && stateBy(answer) !== 'failing') return undefined;
  return retryAfterMs(answer.header('retry-after'), new Date(presentTime())) ?? 0;
}
