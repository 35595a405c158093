import {
  type Departure,
  type Gate,
  retryAfterMs,
  type OutboundAnswer,
  type OutboundRequest,
} from '../../platform/net/outbound-request.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import { presentTime } from '../../platform/clock.js';

/** Access to a vendor over HTTP. */
export interface VendorHttp {
  readonly http: OutboundHttp;
  /** Waits before a retry. */
  readonly wait?: (ms: number) => Promise<unknown>;
}

const NO_RETRY_AFTER_MS = 20_000;

/** `unclear`: the vendor failed at one request. This says nothing about other requests. */
export type VendorState = 'well' | 'failing' | 'unclear';

/** Interpretation of answers, for any protocol. */
interface AttemptRules<Answer> {
  /** Repeating the call has the same effect as calling once. */
  readonly idempotent: boolean;
  /** State of the vendor, independent of the request. */
  readonly stateBy: (answer: Answer) => VendorState;
  /** Minimum wait in milliseconds before a retry; `undefined` if the answer is final. */
  readonly pauseAfter: (answer: Answer) => number | undefined;
}

/** Calls one vendor with retries. All attempts share a circuit breaker, and each passes the gate. */
export class Attempts {
  private readonly breaker = new CircuitBreaker();

  constructor(private readonly wait: NonNullable<VendorHttp['wait']> = sleep) {}

  async run<Answer>(
    gate: Gate,
    once: (departure: Departure) => Promise<Answer>,
    rules: AttemptRules<Answer>,
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
        this.noteAnswer(rules.stateBy(answer));
        const asked = last ? undefined : rules.pauseAfter(answer);
        if (asked === undefined) return answer;
        pauseMs = Math.max(pauseMs, asked);
      } catch (error) {
        this.noteLoss(error, signal);
        if (error instanceof OutcomeUnknownError) unknown = error;
        if (last || signal?.aborted || !mayRepeat(error, rules.idempotent)) {
          throw error instanceof UnreachableError ? (unknown ?? error) : error;
        }
      }
      await this.wait(pauseMs);
    }
  }

  private noteAnswer(state: VendorState): void {
    if (state === 'failing') this.breaker.failed('The vendor reported a failure or an overload.');
    else if (state === 'well') this.breaker.succeeded();
    else this.breaker.unclear();
  }

  /**
   * If the call was aborted, the reason counts, not the cut connection: a lost claim is not a failure of the vendor.
   */
  private noteLoss(error: unknown, signal: AbortSignal | undefined): void {
    if (error instanceof BreakerOpenError) return;
    const cause: unknown = signal?.aborted ? signal.reason : error;
    if (cause instanceof UnreachableError || cause instanceof OutcomeUnknownError) {
      this.breaker.failed(cause.message);
    } else {
      this.breaker.unclear();
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
  /** Cause of the last failure. */
  private lastCause = '';

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Throws if the call is not allowed. Otherwise the caller must report its end with one of the methods below. */
  enter(): void {
    if (this.failures < FAILURES) return;
    if (this.now() < this.openUntil || this.isProbing) throw new BreakerOpenError(this.lastCause);
    this.isProbing = true;
  }

  succeeded(): void {
    this.failures = 0;
    this.isProbing = false;
  }

  failed(cause: string): void {
    this.lastCause = cause;
    this.failures += 1;
    this.isProbing = false;
    if (this.failures >= FAILURES) this.openUntil = this.now() + OPEN_MS;
  }

  /** The call says nothing about the vendor: it was aborted early, or only this request failed. */
  unclear(): void {
    this.isProbing = false;
  }
}

class BreakerOpenError extends UnreachableError {
  constructor(cause: string) {
    const message = 'All recent calls failed. No further call is made for up to 30 seconds.';
    super(`${message} The last failure: ${cause}`, { temporary: false });
  }
}

const ATTEMPTS = 3;

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

/** Rate limits, and failures of a proxy in front of the vendor. */
const TEMPORARY_STATUSES = new Set([429, 502, 503, 504]);

export function isTemporary(status: number): boolean {
  return TEMPORARY_STATUSES.has(status);
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

/**
 * Milliseconds of a Retry-After header; `undefined` without the header, 'too long' if an action does not wait that
 * long.
 */
export function retryAfter(header: string | undefined, now: Date): number | 'too long' | undefined {
  return bounded(retryAfterMs(header, now));
}

/** The same for vendors with a header that contains a Unix time in seconds. */
export function retryAt(header: string | undefined, now: Date): number | 'too long' | undefined {
  if (header === undefined || !/^\d{1,12}$/.test(header.trim())) return undefined;
  return bounded(Math.max(0, Number(header) * 1_000 - now.getTime()));
}

function bounded(wait: number | undefined): number | 'too long' | undefined {
  return wait !== undefined && wait > LONGEST_WAIT_MS ? 'too long' : wait;
}

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
  private readonly http: OutboundHttp;
  private readonly attempts: Attempts;

  constructor({ http, wait }: VendorHttp) {
    this.http = http;
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
