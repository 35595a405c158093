import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import '../http/request.js';
import { SecretBox } from '../secrets/secret-box.js';
import {
  IdempotencyRepository,
  type RememberedAnswer,
  type RequestIdentity,
  secretContextOf,
} from './idempotency.repository.js';
import { AppError } from '../errors/app-error.js';
import { type Answer, AnswerInstead } from '../http/answer.js';
import { afterCommit, type Participant, type Tx } from '../database/transactions.js';
import { newId } from '../ids.js';
import type { Idempotency, RememberOptions } from './idempotency.js';

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
    const key = request.headers['idempotency-key'];
    const { caller } = request;
    if (typeof key !== 'string' || request.method !== 'POST' || !caller) return true;
    const identity = identityOf(request, caller.name, key);
    const reply = http.getResponse<FastifyReply>();
    return this.begin(
      request,
      new IdempotentRequest(this.keys, this.secrets, identity, () => reply.statusCode),
    );
  }

  private async begin(request: FastifyRequest, idempotency: IdempotentRequest): Promise<boolean> {
    const earlier = await idempotency.earlierAnswer();
    if (earlier) throw new AnsweredBefore(earlier);
    request.idempotency = idempotency;
    request.completeAnswer = (answer) => idempotency.answer(answer);
    return true;
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

/** Ends a request or its transaction with the stored response of an earlier request with the same key. */
export class AnsweredBefore extends AnswerInstead {
  constructor(answer: Answer) {
    super('The service already answered the request with this Idempotency-Key.', answer, {
      'idempotency-replayed': 'true',
    });
  }
}

function underWay(): AppError {
  return new AppError('conflict', 'A request with this Idempotency-Key is still running.', {
    headers: { 'retry-after': '1' },
  });
}

function reused(): AppError {
  return new AppError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another request within the last 24 hours.',
  );
}

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
    private readonly handlerStatus: () => number,
  ) {}

  /** Returns the stored response of an earlier request with this key. Throws if another request used the key. */
  async earlierAnswer(): Promise<Answer | undefined> {
    return this.judge(await this.keys.find(this.identity));
  }

  remember<T>(render: (result: T) => unknown, options: RememberOptions<T> = {}): Participant<T> {
    return {
      begin: async (tx) => {
        if (!this.stored) await this.claim(tx);
      },
      finish: async (tx, result) => {
        if (this.answered) return;
        const { status = this.handlerStatus() } = options;
        await this.store(
          tx,
          {
            status: typeof status === 'number' ? status : status(result),
            body: JSON.stringify({ data: render(result) }),
          },
          options,
        );
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

  /**
   * Called with the response of the handler. Returns the response for the client: exactly the stored text, if one is
   * stored.
   */
  async answer(given: Answer): Promise<Answer> {
    this.answered = true;
    if (!this.stored) return given;
    if (!this.stored.provisional) return this.stored.answer;
    const { secret } = this.stored;
    const row = { owner: this.owner, status: given.status, sealed: secret };
    const body = this.sealIfSecret(given.body, secret);
    // The effect stands even if this write fails: repetitions get "still running" until the provisional time ends.
    await this.keys.complete(this.identity, { ...row, body }).catch(() => undefined);
    return given;
  }

  private async claim(tx: Tx): Promise<void> {
    if (!(await this.keys.lock(tx, this.identity))) throw underWay();
    const earlier = this.judge(await this.keys.find(this.identity, tx));
    if (earlier) throw new AnsweredBefore(earlier);
  }

  private async store<T>(tx: Tx, answer: Answer, options: RememberOptions<T>): Promise<void> {
    const { secret = false, provisionalForMs = null } = options;
    const ours = await this.keys.remember(tx, this.identity, {
      owner: this.owner,
      status: answer.status,
      body: this.sealIfSecret(answer.body, secret),
      sealed: secret,
      provisionalForMs,
    });
    // An earlier transaction of this request already had an effect, so a later one continues without storing.
    if (!ours && !this.stored) throw underWay();
    afterCommit(tx, () => {
      this.stored = { answer, secret, provisional: provisionalForMs !== null };
    });
  }

  private judge(row: RememberedAnswer | undefined): Answer | undefined {
    if (!row) return undefined;
    if (!this.identity.fingerprint.equals(row.fingerprint)) throw reused();
    if (row.under_way) throw underWay();
    const { status, body, sealed } = row;
    return {
      status,
      body: sealed ? this.secrets.open(body, secretContextOf(this.identity)) : body,
    };
  }

  private sealIfSecret(body: string, secret: boolean): string {
    return secret ? this.secrets.seal(body, secretContextOf(this.identity)) : body;
  }
}
