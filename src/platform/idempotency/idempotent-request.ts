import { AppError } from '../errors/app-error.js';
import { type Answer, AnswerInstead } from '../http/answer.js';
import { afterCommit, type Participant, type Tx } from '../database/transactions.js';
import { newId } from '../ids.js';
import type { SecretBox } from '../secrets/secret-box.js';
import type { IdempotencyRepository, RememberedAnswer } from './idempotency.repository.js';
import { type RequestIdentity, secretContextOf } from './request-identity.js';
import type { Idempotency, RememberOptions } from './idempotency.js';

/** Ends a request, or leaves its transaction, because an earlier request with the same key has had the effect. */
export class AnsweredBefore extends AnswerInstead {
  constructor(answer: Answer) {
    super('The request with this Idempotency-Key has been answered before.', answer, {
      'idempotency-replayed': 'true',
    });
  }
}

export function underWay(): AppError {
  return new AppError('conflict', 'A request with this Idempotency-Key is still under way.', {
    headers: { 'retry-after': '1' },
  });
}

export function reused(): AppError {
  return new AppError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another request within the last 24 hours.',
  );
}

export interface IdempotencyTools {
  readonly keys: IdempotencyRepository;
  readonly secrets: SecretBox;
}

interface Stored {
  readonly answer: Answer;
  readonly secret: boolean;
  readonly provisional: boolean;
}

/** One request with an Idempotency-Key. */
export class IdempotentRequest implements Idempotency {
  /** Tells this request from its twins, which have the same key and identity. */
  private readonly owner = newId();
  /** What a committed transaction of this request has remembered. */
  private stored?: Stored;
  private answered = false;

  constructor(
    private readonly tools: IdempotencyTools,
    private readonly identity: RequestIdentity,
    private readonly handlerStatus: () => number,
  ) {}

  /** The answer of an earlier request with this key, if there is one. Another request with the same key is refused. */
  async earlierAnswer(): Promise<Answer | undefined> {
    return this.judge(await this.tools.keys.find(this.identity));
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
        await this.tools.keys.release(tx, this.identity, this.owner);
        afterCommit(tx, () => (this.stored = undefined));
      },
    };
  }

  /** Called with what the handler answers. Returns what the client gets: to the letter what is remembered. */
  async answer(given: Answer): Promise<Answer> {
    this.answered = true;
    if (!this.stored) return given;
    if (!this.stored.provisional) return this.stored.answer;
    const { secret } = this.stored;
    const row = { owner: this.owner, status: given.status, sealed: secret };
    const body = this.sealIfSecret(given.body, secret);
    // The effect stands also when this fails: until the provisional time is over, twins are told that it is under way.
    await this.tools.keys.complete(this.identity, { ...row, body }).catch(() => undefined);
    return given;
  }

  private async claim(tx: Tx): Promise<void> {
    if (!(await this.tools.keys.lock(tx, this.identity))) throw underWay();
    const earlier = this.judge(await this.tools.keys.findIn(tx, this.identity));
    if (earlier) throw new AnsweredBefore(earlier);
  }

  private async store<T>(tx: Tx, answer: Answer, options: RememberOptions<T>): Promise<void> {
    const { secret = false, provisionalForMs = null } = options;
    const ours = await this.tools.keys.remember(tx, this.identity, {
      owner: this.owner,
      status: answer.status,
      body: this.sealIfSecret(answer.body, secret),
      sealed: secret,
      provisionalForMs,
    });
    // The effect of an earlier transaction of this request stands, so a later one goes on without keeping.
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
    const { secrets } = this.tools;
    return { status, body: sealed ? secrets.open(body, secretContextOf(this.identity)) : body };
  }

  private sealIfSecret(body: string, secret: boolean): string {
    return secret ? this.tools.secrets.seal(body, secretContextOf(this.identity)) : body;
  }
}
