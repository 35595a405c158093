import type { Participant } from '../database/transactions.js';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/**
 * Parameter of a POST handler (`@Idempotent() idempotency: Idempotency`) that makes its effect happen once per
 * Idempotency-Key:
 *
 *     create(@Body() body: CreateDto, @CurrentPrincipal() caller: Principal, @Idempotent() idempotency: Idempotency) {
 *       return this.service.create(caller, body, idempotency.remember(ThingDto.from)).then(ThingDto.from);
 *     }
 *
 * The service calls `this.transactions.run(work, caller, idempotency)`. Without the header the participant does
 * nothing.
 */
export interface Idempotency {
  /**
   * A participant for the transaction of the effect. It rejects a repetition of a running request, answers a repetition
   * of a finished request with the stored response, and stores `render(result)` as the response in the same
   * transaction. Rejections and stored responses are thrown, so code between here and the handler must not catch
   * unknown errors.
   *
   * If the work takes several transactions, each may have a participant: the first handles repetitions, later ones
   * replace the response.
   */
  remember<T>(render: (result: T) => unknown, options?: RememberOptions<T>): Participant<T>;

  /**
   * A participant for the transaction that records that earlier work had no effect, for example because the model
   * failed. It releases the key. Do not use it if the work may have had an effect.
   */
  release(): Participant;
}

export interface RememberOptions<T = unknown> {
  /** HTTP status of the stored response. Default: the status of the handler. */
  readonly status?: number | ((result: T) => number);
  /** The response has a secret and is stored encrypted. */
  readonly secret?: boolean;
  /**
   * Set if the work continues after this transaction (a vendor or model is called). A repetition is rejected as running
   * until a later transaction stores the final response, the request is answered, or this time has passed.
   */
  readonly provisionalForMs?: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    idempotency?: Idempotency;
  }
}

const IDEMPOTENT = Symbol('idempotent');

const NO_KEY: Idempotency = { remember: () => ({}), release: () => ({}) };

const IdempotencyOfRequest = createParamDecorator(
  (_: unknown, context: ExecutionContext): Idempotency =>
    context.switchToHttp().getRequest<FastifyRequest>().idempotency ?? NO_KEY,
);

/** Injects the Idempotency of the request. */
export function Idempotent(): ParameterDecorator {
  const inject = IdempotencyOfRequest();
  return (target, method, index) => {
    inject(target, method, index);
    if (method !== undefined) Reflect.defineMetadata(IDEMPOTENT, true, target, method);
  };
}

export function isIdempotent(controller: object, method: string): boolean {
  return Reflect.getMetadata(IDEMPOTENT, controller, method) === true;
}
