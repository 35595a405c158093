import { Injectable } from '@nestjs/common';
import { Statements } from '../database/statements.js';
import type { Tx } from '../database/transactions.js';
import { type RequestIdentity, lockOf } from './request-identity.js';

export interface RememberedAnswer {
  readonly fingerprint: Buffer;
  readonly status: number;
  readonly body: string;
  readonly sealed: boolean;
  readonly under_way: boolean;
}

export interface NewAnswer {
  readonly owner: string;
  readonly status: number;
  readonly body: string;
  readonly sealed: boolean;
  /** Null when the answer is final. */
  readonly provisionalForMs: number | null;
}

const LOCK = {
  name: 'idempotency_lock',
  text: `select pg_try_advisory_xact_lock($1::bigint) as locked`,
};

const FIND = {
  name: 'idempotency_find',
  text: `
    select fingerprint, status, body, sealed, coalesce(provisional_until > now(), false) as under_way
    from idempotency_keys
    where principal = $1 and key = $2 and kept_at > now() - interval '24 hours'`,
};

const KEEP = {
  name: 'idempotency_keep',
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

const SETTLE = {
  name: 'idempotency_settle',
  text: `
    update idempotency_keys set status = $4, body = $5, sealed = $6, provisional_until = null
    where principal = $1 and key = $2 and owner = $3 and provisional_until is not null`,
};

const FREE = {
  name: 'idempotency_free',
  text: `delete from idempotency_keys where principal = $1 and key = $2 and owner = $3`,
};

const PRUNE = {
  name: 'idempotency_prune',
  text: `
    delete from idempotency_keys where (principal, key) in (
      select principal, key from idempotency_keys where kept_at <= now() - interval '24 hours'
      order by kept_at limit $1 for update skip locked)
    returning 1`,
};

@Injectable()
export class IdempotencyRepository {
  constructor(private readonly statements: Statements) {}

  /** Whether nobody else works under this key until the transaction ends. */
  async lock(tx: Tx, identity: RequestIdentity): Promise<boolean> {
    const [row] = await this.statements.rowsIn<{ locked: boolean }>(tx, LOCK, [lockOf(identity)]);
    return row?.locked === true;
  }

  async find({ principal, key }: RequestIdentity): Promise<RememberedAnswer | undefined> {
    const [row] = await this.statements.rows<RememberedAnswer>(FIND, [principal, key]);
    return row;
  }

  /** After `lock`, and in a statement of its own, so that it sees what the last holder of the lock committed. */
  async findIn(tx: Tx, { principal, key }: RequestIdentity): Promise<RememberedAnswer | undefined> {
    const [row] = await this.statements.rowsIn<RememberedAnswer>(tx, FIND, [principal, key]);
    return row;
  }

  /** Keeps an answer, or replaces one of the same owner; false when the row is another's. */
  async remember(
    tx: Tx,
    { principal, key, fingerprint }: RequestIdentity,
    row: NewAnswer,
  ): Promise<boolean> {
    const { owner, status, body, sealed, provisionalForMs } = row;
    const values = [principal, key, fingerprint, owner, status, body, sealed, provisionalForMs];
    return (await this.statements.rowsIn(tx, KEEP, values)).length > 0;
  }

  /** A write of its own: makes the owner's provisional answer final, when the request is answered with it. */
  async complete(
    { principal, key }: RequestIdentity,
    row: Omit<NewAnswer, 'provisionalForMs'>,
  ): Promise<void> {
    const { owner, status, body, sealed } = row;
    await this.statements.rows(SETTLE, [principal, key, owner, status, body, sealed]);
  }

  async release(tx: Tx, { principal, key }: RequestIdentity, owner: string): Promise<void> {
    await this.statements.rowsIn(tx, FREE, [principal, key, owner]);
  }

  /** Deletes at most `limit` of the keys that are free again, and says how many those were. */
  async prune(limit: number): Promise<number> {
    return (await this.statements.rows(PRUNE, [limit])).length;
  }
}
