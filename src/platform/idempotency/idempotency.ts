import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
} from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterCommit, type Participant, type Tx } from '../database/transactions.js';
import { AppError } from '../errors/app-error.js';
import { AnsweredBefore } from '../http/answer.js';
import type { Answer } from '../http/request.js';
import { newId } from '../ids.js';
import { SecretBox } from '../secrets/secret-box.js';
import {
  IdempotencyRepository,
  type RememberedAnswer,
  type RequestIdentity,
  secretContextOf,
} from './idempotency.repository.js';

/**
 * Parameter of a POST handler (`@Idempotent() idempotency: Idempotency`) that makes its effect happen once per
 * Idempotency-Key. The service calls `this.transactions.run(work, caller, idempotency.remember(present(Dto)))`. If the
 * header is missing, the participants do nothing.
 */
export interface Idempotency {
  /**
   * A participant for the transaction of the effect. It rejects a repetition of a running request, answers a repetition
   * of a finished request with the stored response, and stores `render(result)` as the response. Rejections and stored
   * responses are thrown, so code between here and the handler must not catch unknown errors. If the work takes several
   * transactions, each may have a participant: the first handles repetitions, later ones replace the response.
   */
  remember<T>(render: (result: T) => unknown, options?: RememberOptions<T>): Participant<T>;

  /** A participant for the transaction that records that earlier work had no effect. It releases the key. */
  release(): Participant;
}

export interface RememberOptions<T = unknown> {
  /** HTTP status of the stored response. Default: the status of the handler. */
  readonly status?: (result: T) => number;
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

/** Executes a request with an Idempotency-Key once. A repeated request gets the exact text of the first response. */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly keys: IdempotencyRepository,
    private readonly secrets: SecretBox,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { caller, headers, method } = request;
    const key = headers['idempotency-key'];
    if (typeof key !== 'string' || method !== 'POST' || !caller) return true;
    const identity = identityOf(request, caller.name, key);
    const { keys, secrets } = this;
    const idempotency = new IdempotentRequest(keys, secrets, identity, http.getResponse());
    request.idempotency = idempotency;
    request.completeAnswer = (answer) => idempotency.answer(answer);
    return idempotency.begin();
  }
}

function identityOf(request: FastifyRequest, principal: string, key: string): RequestIdentity {
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${request.url}\n`)
    .update(request.body === undefined ? (request.received ?? '') : inOneOrder(request.body))
    .digest();
  return { principal, key, fingerprint };
}

function inOneOrder(body: unknown): string {
  return JSON.stringify(body, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

const isRunning = (): AppError =>
  new AppError('conflict', 'A request with this Idempotency-Key is still running.', {
    headers: { 'retry-after': '1' },
  });

interface Stored {
  readonly answer: Answer;
  readonly secret: boolean;
  readonly provisional: boolean;
}

export class IdempotentRequest implements Idempotency {
  /** Distinguishes this request from its repetitions, which have the same key and identity. */
  private readonly owner = newId();
  /** The response stored by a committed transaction of this request. */
  private stored?: Stored;
  private answered = false;

  constructor(
    private readonly keys: IdempotencyRepository,
    private readonly secrets: SecretBox,
    private readonly identity: RequestIdentity,
    private readonly reply: Pick<FastifyReply, 'statusCode'>,
  ) {}

  /** Throws the stored response of an earlier request with this key, or an error if the key cannot be used. */
  async begin(tx?: Tx): Promise<true> {
    const earlier = await this.keys.find(this.identity, tx);
    if (earlier) throw this.judge(earlier);
    return true;
  }

  remember<T>(render: (result: T) => unknown, options: RememberOptions<T> = {}): Participant<T> {
    return {
      begin: async (tx) => {
        if (this.stored) return;
        if (!(await this.keys.lock(tx, this.identity))) throw isRunning();
        await this.begin(tx);
      },
      finish: async (tx, result) => {
        if (this.answered) return;
        const status = options.status?.(result) ?? this.reply.statusCode;
        const answer = { status, body: JSON.stringify({ data: render(result) }) };
        await this.store(tx, answer, options);
      },
    };
  }

  release(): Participant {
    return {
      finish: async (tx) => {
        if (!this.stored || this.answered) return;
        await this.keys.release(tx, this.identity, this.owner);
        afterCommit(tx, () => (this.stored = undefined));
      },
    };
  }

  /** Receives the response of the handler. Returns the response for the client: the stored response if it is final. */
  async answer(given: Answer): Promise<Answer> {
    this.answered = true;
    if (!this.stored) return given;
    if (!this.stored.provisional) return this.stored.answer;
    const row = this.rowOf(given, this.stored.secret);
    // If this write fails, the effect remains. Repetitions get "still running" until the provisional time ends.
    await this.keys.complete(this.identity, row).catch(() => undefined);
    return given;
  }

  private async store<T>(tx: Tx, answer: Answer, options: RememberOptions<T>): Promise<void> {
    const { secret = false, provisionalForMs = null } = options;
    const row = this.rowOf(answer, secret);
    const isOurs = await this.keys.remember(tx, this.identity, row, provisionalForMs);
    // An earlier transaction of this request already had an effect, so a later one does not store its response.
    if (!isOurs && !this.stored) throw isRunning();
    afterCommit(tx, () => {
      this.stored = { answer, secret, provisional: provisionalForMs !== null };
    });
  }

  private judge({ fingerprint, under_way, status, body, sealed }: RememberedAnswer): Error {
    if (!this.identity.fingerprint.equals(fingerprint)) {
      const message = 'This Idempotency-Key was used for another request within the last 24 hours.';
      return new AppError('idempotency_key_reused', message);
    }
    if (under_way) return isRunning();
    const text = sealed ? this.secrets.open(body, secretContextOf(this.identity)) : body;
    return new AnsweredBefore({ status, body: text });
  }

  private rowOf({ status, body }: Answer, sealed: boolean) {
    const text = sealed ? this.secrets.seal(body, secretContextOf(this.identity)) : body;
    return { owner: this.owner, status, body: text, sealed };
  }
}
