import type { Participant } from '../database/transactions.js';

/**
 * What a POST handler gets (`@AnswerOnce() once: Once`) to make its effect happen once per Idempotency-Key:
 *
 *     create(@Body() body: CreateDto, @CurrentPrincipal() caller: Principal, @AnswerOnce() once: Once) {
 *       return this.service.create(caller, body, once.keeping(ThingDto.from)).then(ThingDto.from);
 *     }
 *
 * and in the service `this.transactions.run(work, caller, keep)`. Without the header it takes part in nothing.
 */
export interface Once {
  /**
   * A participant for the transaction of the effect. It refuses a twin that is under way, answers a request that
   * already took effect with the kept answer, and keeps what `render` makes of the result in the same transaction.
   */
  keeping<T>(render: (result: T) => unknown, options?: KeepOptions): Participant<T>;
}

export interface KeepOptions {
  /** The HTTP status of the kept answer; without it the handler's own. */
  readonly status?: number;
  /** The answer holds a secret: it is kept encrypted. */
  readonly secret?: boolean;
  /**
   * The work goes on after this transaction (a vendor is called, a model is asked): until this many milliseconds have
   * passed, or a later transaction keeps the final answer, a twin is refused as under way.
   */
  readonly provisionalForMs?: number;
}
