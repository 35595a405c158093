import { setTimeout as sleep } from 'node:timers/promises';
import { presentTime } from '../../platform/clock.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import {
  type Departure,
  type Gate,
  type OutboundAnswer,
  type OutboundRequest,
  retryAfterMs,
} from '../../platform/net/outbound-request.js';
import type { OutboundSmtp } from '../../platform/net/outbound-smtp.js';

export interface Outbound {
  readonly http: OutboundHttp;
  readonly smtp: OutboundSmtp;
  readonly secrets: readonly string[];
  readonly wait?: (ms: number) => Promise<unknown>;
}

const ATTEMPTS = 3;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
/** Timeout of one attempt. All attempts and waits together are much shorter than the lease of an action. */
const TIMEOUT_MS = 10_000;
export const QUESTION_TIMEOUT_MS = 5_000;

/** `unclear`: the response does not show whether other requests would succeed. */
type VendorState = 'well' | 'failing' | 'unclear';

interface Judgement {
  readonly state: VendorState;
  /** Minimum wait before a retry; `undefined` if the response is final. */
  readonly pauseMs?: number;
}

export type VendorRequest = Omit<OutboundRequest, 'signal' | 'beforeLeaving'>;

interface CallOptions {
  readonly idempotent: boolean;
  /** True if status 429 means that a request had no effect. Then it is repeated even if it is not idempotent. */
  readonly limitIsRefusal?: boolean;
}

export class VendorCalls {
  private readonly breaker = new CircuitBreaker();

  constructor(private readonly outbound: Pick<Outbound, 'http' | 'wait'>) {}

  /** Without a gate, the request is sent once, so only a request that changes nothing may omit the gate. */
  send(
    gate: Gate | undefined,
    request: VendorRequest,
    options: CallOptions,
  ): Promise<OutboundAnswer> {
    const once = (departure?: Departure): Promise<OutboundAnswer> =>
      this.outbound.http.request({
        ...request,
        timeoutMs: request.timeoutMs ?? (gate ? TIMEOUT_MS : QUESTION_TIMEOUT_MS),
        signal: departure?.signal,
        beforeLeaving: departure && (() => departure.leave()),
        handsOnTrace: true,
      });
    if (!gate) return once();
    return this.attempt(gate, once, options.idempotent, (answer) => judge(answer, options));
  }

  async attempt<Answer>(
    gate: Gate,
    once: (departure: Departure) => Promise<Answer>,
    idempotent: boolean,
    judge: (answer: Answer) => Judgement,
  ): Promise<Answer> {
    /** If one attempt sent a request, the outcome stays unknown even if a later attempt sends nothing. */
    let unknown: OutcomeUnknownError | undefined;
    let signal: AbortSignal | undefined;
    const depart = (departure: Departure): Promise<Answer> => {
      ({ signal } = departure);
      return once(departure);
    };
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === ATTEMPTS;
      let waitMs = backoff(attempt, Math.random());
      const refusal = this.breaker.enter();
      if (refusal) throw unknown ?? refusal;
      try {
        const answer = await gate.send(depart);
        const { state, pauseMs } = judge(answer);
        this.breaker.end(state, 'The vendor reported a failure or an overload.');
        if (isLast || pauseMs === undefined || pauseMs > LONGEST_WAIT_MS) return answer;
        waitMs = Math.max(waitMs, pauseMs);
      } catch (error) {
        // After an abort, uses the reason of the abort: a lost claim is no failure of the vendor.
        const cause: unknown = signal?.aborted ? signal.reason : error;
        const isFailure = cause instanceof UnreachableError || cause instanceof OutcomeUnknownError;
        this.breaker.end(isFailure ? 'failing' : 'unclear', isFailure ? cause.message : '');
        if (error instanceof OutcomeUnknownError) unknown = error;
        if (isLast || signal?.aborted || !mayRepeat(error, idempotent)) {
          throw error instanceof UnreachableError ? (unknown ?? error) : error;
        }
      }
      await (this.outbound.wait ?? sleep)(waitMs);
    }
  }
}

const FAILURES = 5;
const OPEN_MS = 30_000;

/** Rejects calls after several failures in a row. After a pause, one call checks whether the vendor responds. */
export class CircuitBreaker {
  private failures = 0;
  private openUntil = 0;
  private isProbing = false;
  private lastCause = '';

  enter(): UnreachableError | undefined {
    if (this.failures < FAILURES) return undefined;
    if (performance.now() < this.openUntil || this.isProbing) {
      const message = `All recent calls failed. No further call is made for up to 30 seconds. The last failure: ${this.lastCause}`;
      return new UnreachableError(message, { temporary: false });
    }
    this.isProbing = true;
    return undefined;
  }

  end(state: VendorState, cause = ''): void {
    this.isProbing = false;
    if (state === 'well') this.failures = 0;
    if (state !== 'failing') return;
    this.lastCause = cause;
    this.failures += 1;
    if (this.failures >= FAILURES) this.openUntil = performance.now() + OPEN_MS;
  }
}

export const mayRepeat = (error: unknown, idempotent: boolean): boolean =>
  error instanceof UnreachableError
    ? error.temporary
    : error instanceof OutcomeUnknownError && idempotent;

export const backoff = (attempt: number, chance: number): number =>
  FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + chance);

/** Statuses of a proxy in front of the vendor. Status 500 comes from the vendor. */
const PROXY_FAILURES = [502, 503, 504];

function judge(answer: OutboundAnswer, { idempotent, limitIsRefusal }: CallOptions): Judgement {
  const { status } = answer;
  const isFailing = PROXY_FAILURES.includes(status);
  const state = status < 500 ? 'well' : isFailing ? 'failing' : 'unclear';
  const mayRepeat = status === 429 ? idempotent || limitIsRefusal : isFailing && idempotent;
  if (!mayRepeat) return { state };
  const pauseMs = retryAfterMs(answer.header('retry-after'), new Date(presentTime())) ?? 0;
  return { state, pauseMs };
}
