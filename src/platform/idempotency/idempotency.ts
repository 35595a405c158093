// SQL: takes advisory locks, and compares with the clock of the database, which TypeORM does not support.
import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
} from '@nestjs/common';
import { createHash, hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DataSource } from 'typeorm';
import { type Statement, Statements } from '../database/statements.js';
import { afterCommit, type Participant, type Tx } from '../database/transactions.js';
import { AppError } from '../errors/app-error.js';
import { AnsweredBefore } from '../http/answer.js';
import type { Answer } from '../http/request.js';
import { newId } from '../ids.js';
import type { SealedColumn } from '../secrets/secret-keys.js';
import { SecretBox } from '../secrets/secret-box.js';

/** Parameter of a POST handler. Use: `transactions.run(work, caller, idempotency.remember(present(Dto)))`. */
export type Idempotency = Pick<IdempotentRequest, 'remember' | 'release'>;

interface RememberOptions<T> {
  /** HTTP status of the stored response. Default: the status of the handler. */
  readonly status?: (result: T) => number;
  /** True if the response contains a secret. It is then stored encrypted. */
  readonly secret?: boolean;
  /** Set if the work continues after this transaction. Until it ends, at most this long, a repetition is rejected. */
  readonly provisionalForMs?: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    idempotency?: Idempotency;
  }
}

interface Identity {
  readonly principal: string;
  readonly key: string;
  readonly fingerprint: Buffer;
}

const contextOf = ({ principal, key }: Partial<Identity>) => `idempotency:${principal}\n${key}`;

/** Stored responses with a secret, such as a new API key. They are kept for one day. */
export const REMEMBERED_SECRETS: SealedColumn = {
  table: 'idempotency_keys',
  column: 'body',
  id: ['principal', 'key'],
  where: 'sealed',
  context: contextOf,
};

/** Locks an Idempotency-Key until the end of the transaction, if no other transaction holds it. */
const LOCK: Statement = {
  name: 'idempotency_lock',
  text: `select pg_try_advisory_xact_lock($1::bigint) as locked`,
};

const FIND: Statement = {
  name: 'idempotency_find',
  text: `
    select fingerprint, status, body, sealed, coalesce(provisional_until > now(), false) as under_way
      from idempotency_keys
     where principal = $1 and key = $2 and kept_at > now() - interval '24 hours'`,
};
interface Found extends Answer {
  readonly fingerprint: Buffer;
  readonly sealed: boolean;
  readonly under_way: boolean;
}

const REMEMBER: Statement = {
  name: 'idempotency_remember',
  text: `
    insert into idempotency_keys (principal, key, fingerprint, owner, status, body, sealed, provisional_until)
    values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 millisecond')
    on conflict on constraint pk_idempotency_keys do update
    set fingerprint = excluded.fingerprint, owner = excluded.owner, status = excluded.status, body = excluded.body,
        sealed = excluded.sealed, provisional_until = excluded.provisional_until, kept_at = excluded.kept_at
    where idempotency_keys.owner = excluded.owner
       or idempotency_keys.kept_at <= now() - interval '24 hours'
    returning 1`,
};

const RELEASE: Statement = {
  name: 'idempotency_release',
  text: `delete from idempotency_keys where principal = $1 and key = $2 and owner = $3`,
};

const PRUNED_AT_ONCE = 1_000;
const PRUNE = `
  delete from idempotency_keys where (principal, key) in (
    select principal, key from idempotency_keys where kept_at <= now() - interval '24 hours'
     order by kept_at limit ${PRUNED_AT_ONCE} for update skip locked)`;

/** Deletes expired keys in batches, so that no request waits long for a lock. */
export async function pruneKeys(dataSource: DataSource, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) {
    const [, pruned] = await dataSource.query<[unknown, number]>(PRUNE);
    if (pruned < PRUNED_AT_ONCE) return;
  }
}

const IDEMPOTENT = Symbol('idempotent');
const NO_KEY: Idempotency = { remember: () => ({}), release: () => ({}) };

const ofRequest = createParamDecorator(
  (_: unknown, context: ExecutionContext): Idempotency =>
    context.switchToHttp().getRequest<FastifyRequest>().idempotency ?? NO_KEY,
);

export function Idempotent(): ParameterDecorator {
  return (target, method, index) => {
    ofRequest()(target, method, index);
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
    private readonly statements: Statements,
    private readonly secrets: SecretBox,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { caller, headers, method } = request;
    const key = headers['idempotency-key'];
    if (typeof key !== 'string' || method !== 'POST' || !caller) return true;
    const identity = { principal: caller.name, key, fingerprint: fingerprintOf(request) };
    const { statements, secrets } = this;
    const idempotent = new IdempotentRequest(statements, secrets, identity, http.getResponse());
    request.idempotency = idempotent;
    request.completeAnswer = (answer) => idempotent.answer(answer);
    return idempotent.begin();
  }
}

/** Compares JSON bodies by value, because a retry may use another key order or other white space. */
function fingerprintOf({ method, url, body, received }: FastifyRequest): Buffer {
  return createHash('sha256')
    .update(`${method} ${url}\n`)
    .update(body === undefined ? (received ?? '') : inOneOrder(body))
    .digest();
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
  readonly provisionalForMs: number | null;
}

export class IdempotentRequest implements Idempotency {
  /** Id that distinguishes this request from its repetitions, which have the same key and fingerprint. */
  private readonly owner = newId();
  private stored?: Stored;
  private answered = false;

  constructor(
    private readonly statements: Pick<Statements, 'rowsIn'>,
    private readonly secrets: Pick<SecretBox, 'open' | 'seal'>,
    private readonly identity: Identity,
    private readonly reply: Pick<FastifyReply, 'statusCode'>,
  ) {}

  /** Throws the stored response if an earlier request had this key, or an error if the key cannot be used. */
  async begin(tx?: Tx): Promise<true> {
    const { principal, key, fingerprint } = this.identity;
    const [found] = await this.statements.rowsIn<Found>(tx, FIND, [principal, key]);
    if (!found) return true;
    if (!fingerprint.equals(found.fingerprint)) {
      const message = 'This Idempotency-Key was used for another request within the last 24 hours.';
      throw new AppError('idempotency_key_reused', message);
    }
    if (found.under_way) throw isRunning();
    const { status, body, sealed } = found;
    const text = sealed ? this.secrets.open(body, contextOf(this.identity)) : body;
    throw new AnsweredBefore({ status, body: text });
  }

  /**
   * Rejects a repetition of a running request, and answers any other repetition with the stored `render(result)`. Both
   * are thrown, so code between the participant and the handler must not catch unknown errors. If the work needs
   * several transactions, each may have a participant, and each later one replaces the response.
   */
  remember<T>(render: (result: T) => unknown, options: RememberOptions<T> = {}): Participant<T> {
    const { secret = false, provisionalForMs = null } = options;
    return {
      begin: async (tx) => {
        if (this.stored) return;
        const { principal, key } = this.identity;
        const bits = hash('sha256', `idempotency\n${principal}\n${key}`, 'buffer').readBigInt64BE();
        // Takes the lock first, so that `begin` reads what the previous holder of the lock has committed.
        const [row] = await this.statements.rowsIn<{ locked: boolean }>(tx, LOCK, [String(bits)]);
        if (!row!.locked) throw isRunning();
        await this.begin(tx);
      },
      finish: async (tx, result) => {
        if (this.answered) return;
        const status = options.status?.(result) ?? this.reply.statusCode;
        const answer = { status, body: JSON.stringify({ data: render(result) }) };
        const stored = { answer, secret, provisionalForMs };
        const isOurs = await this.store(stored, tx);
        // If this request already had an effect, the transaction commits without storing its response.
        if (!isOurs && !this.stored) throw isRunning();
        afterCommit(tx, () => (this.stored = stored));
      },
    };
  }

  /** Returns a participant that releases the key, for a transaction that records that earlier work had no effect. */
  release(): Participant {
    return {
      finish: async (tx) => {
        if (!this.stored || this.answered) return;
        const { principal, key } = this.identity;
        await this.statements.rowsIn(tx, RELEASE, [principal, key, this.owner]);
        afterCommit(tx, () => (this.stored = undefined));
      },
    };
  }

  /** Returns the response for the client: a final stored response replaces the response of the handler. */
  async answer(answer: Answer): Promise<Answer> {
    this.answered = true;
    if (!this.stored) return answer;
    if (this.stored.provisionalForMs === null) return this.stored.answer;
    // If this write fails, repetitions are rejected as still running until the provisional time ends.
    await this.store({ ...this.stored, answer, provisionalForMs: null }).catch(() => false);
    return answer;
  }

  /** Stores or replaces the response of this request. Returns false if the row belongs to another request. */
  private async store(
    { answer: { status, body }, secret, provisionalForMs }: Stored,
    tx?: Tx,
  ): Promise<boolean> {
    const { principal, key, fingerprint } = this.identity;
    const text = secret ? this.secrets.seal(body, contextOf(this.identity)) : body;
    const values = [principal, key, fingerprint, this.owner, status, text, secret];
    return (await this.statements.rowsIn(tx, REMEMBER, [...values, provisionalForMs])).length > 0;
  }
}
