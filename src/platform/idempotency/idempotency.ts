import type { Participant } from '../database/transactions.js';

/**
 * What a POST handler gets (`@Idempotent() idempotency: Idempotency`) to make its effect happen once per Idempotency-Key:
 *
 *     create(@Body() body: CreateDto, @CurrentPrincipal() caller: Principal, @Idempotent() idempotency: Idempotency) {
 *       return this.service.create(caller, body, idempotency.remember(ThingDto.from)).then(ThingDto.from);
 *     }
 *
 * and in the service `this.transactions.run(work, caller, idempotency)`. Without the header it takes part in nothing.
 */
export interface Idempotency {
  /**
   * A participant for the transaction of the effect. It refuses a request whose twin is under way, answers one whose
   * twin has had the effect with the remembered answer, and remembers what `render` makes of the result in the same
   * transaction. That answer is what the client gets, now and later. A refusal and a remembered answer leave it as an
   * error: code between here and the handler must let errors pass that it does not know.
   *
   * Where the work takes several transactions, each may have a participant of the same Idempotency: the first refuses and
   * answers twins, the later ones replace the answer, until the request is answered.
   */
  remember<T>(render: (result: T) => unknown, options?: RememberOptions<T>): Participant<T>;

  /**
   * A participant for the transaction that records that work begun in an earlier one came to nothing (the model failed,
   * and the caller is told so): the key becomes free again with it. Leave it out when something may have been done.
   */
  release(): Participant;
}

export interface RememberOptions<T = unknown> {
  /** The HTTP status of the remembered answer; without it the handler's own. */
  readonly status?: number | ((result: T) => number);
  /** The answer holds a secret: it is stored encrypted. */
  readonly secret?: boolean;
  /**
   * The work goes on after this transaction (a vendor is called, a model is asked): until this many milliseconds have
   * passed, a later transaction remembers the final answer, or the request is answered, a twin is refused as under way.
   */
  readonly provisionalForMs?: number;
}
