import type { Departure, Gate } from '../../platform/net/gate.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import { BreakerOpenError, CircuitBreaker } from './circuit-breaker.js';
import { ATTEMPTS, backoff, mayRepeat } from './retry-rules.js';

const NO_RETRY_AFTER_MS = 20_000;

/** `unclear`: one request at which a vendor stumbles, which anybody may send, tells nothing about the others. */
export type VendorState = 'well' | 'failing' | 'unclear';

/** How the answers of a vendor are read, whatever protocol it speaks. */
export interface AttemptRules<Answer> {
  /** Done twice, the call takes effect once. */
  readonly idempotent: boolean;
  /** What the answer says about the vendor itself, and not about what was asked of it. */
  readonly stateBy: (answer: Answer) => VendorState;
  /** The least milliseconds to wait until the call is repeated; undefined when the answer is the last word. */
  readonly pauseAfter: (answer: Answer) => number | undefined;
}

/** The attempts at one vendor: all share a circuit breaker, each passes the gate anew, and what is safe to repeat is repeated. */
export class Attempts {
  private readonly breaker = new CircuitBreaker();

  constructor(private readonly wait: (ms: number) => Promise<unknown>) {}

  async run<Answer>(
    gate: Gate,
    once: (departure: Departure) => Promise<Answer>,
    rules: AttemptRules<Answer>,
  ): Promise<Answer> {
    const start = performance.now();
    /** When one attempt sent something, the outcome stays unknown, also when a later attempt sends nothing. */
    let unknown: OutcomeUnknownError | undefined;
    /** Of the latest attempt: aborted when whoever called gives the call up. */
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
    if (state === 'failing')
      this.breaker.failed('It answered that it fails or has too much to do.');
    else if (state === 'well') this.breaker.succeeded();
    else this.breaker.unclear();
  }

  /** Where the call was given up, the reason counts, and not that its connection was cut: a lost claim is no vendor's fault. */
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
