// SQL: advisory lock, upsert and comparisons with the clock of the database, which TypeORM does not support.
import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { Column, DataSource, Entity, Index, PrimaryColumn } from 'typeorm';
import { Statements } from '../database/statements.js';
import type { Tx } from '../database/transactions.js';
import type { SealedColumn } from '../secrets/sealed-values.js';

@Entity('idempotency_keys')
@Index('ix_idempotency_keys_kept_at', ['kept_at'])
export class IdempotencyKeyEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_idempotency_keys' })
  readonly principal: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_idempotency_keys' })
  readonly key: string;

  @Column({ type: 'bytea' })
  readonly fingerprint: Buffer;

  @Column({ type: 'uuid' })
  readonly owner: string;

  @Column({ type: 'smallint' })
  readonly status: number;

  @Column({ type: 'text' })
  readonly body: string;

  @Column({ type: 'boolean' })
  readonly sealed: boolean;

  @Column({ type: 'timestamptz', nullable: true })
  readonly provisional_until: Date | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  readonly kept_at: Date;
}

/**
 * Two requests are the same if a principal sends the same key with the same method, address and body. JSON bodies are
 * compared by value: a retry may use another key order or other whitespace.
 */
export interface RequestIdentity {
  readonly principal: string;
  readonly key: string;
  readonly fingerprint: Buffer;
}

/** Returns the context of an encrypted response, so that the response cannot be decrypted in another row. */
export function secretContextOf({ principal, key }: Omit<RequestIdentity, 'fingerprint'>): string {
  return `idempotency:${principal}\n${key}`;
}

/** Stored responses with a secret, such as a new API key. They are kept for one day. */
export const REMEMBERED_SECRETS: SealedColumn = {
  table: 'idempotency_keys',
  column: 'body',
  id: ['principal', 'key'],
  where: 'sealed',
  context: ({ principal, key }) => secretContextOf({ principal: principal!, key: key! }),
};

type StoredAnswer = Pick<IdempotencyKeyEntity, 'status' | 'body' | 'sealed'>;

export interface RememberedAnswer extends StoredAnswer {
  readonly fingerprint: Buffer;
  readonly under_way: boolean;
}

interface OwnAnswer extends StoredAnswer {
  readonly owner: string;
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

const REMEMBER = {
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

const COMPLETE = {
  name: 'idempotency_complete',
  text: `
    update idempotency_keys set status = $4, body = $5, sealed = $6, provisional_until = null
     where principal = $1 and key = $2 and owner = $3 and provisional_until is not null`,
};

const RELEASE = {
  name: 'idempotency_release',
  text: `delete from idempotency_keys where principal = $1 and key = $2 and owner = $3`,
};

const PRUNED_AT_ONCE = 1_000;
const PRUNE = `
  delete from idempotency_keys where (principal, key) in (
    select principal, key from idempotency_keys where kept_at <= now() - interval '24 hours'
     order by kept_at limit ${PRUNED_AT_ONCE} for update skip locked)`;

@Injectable()
export class IdempotencyRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  /** Locks the key until the end of the transaction. Returns false if another transaction holds the lock. */
  async lock(tx: Tx, { principal, key }: RequestIdentity): Promise<boolean> {
    const bits = hash('sha256', `idempotency\n${principal}\n${key}`, 'buffer').readBigInt64BE();
    const [row] = await this.statements.rowsIn<{ locked: boolean }>(tx, LOCK, [String(bits)]);
    return row?.locked === true;
  }

  /** @param tx the transaction, after `lock`, so that the read sees the commit of the previous holder */
  async find({ principal, key }: RequestIdentity, tx?: Tx): Promise<RememberedAnswer | undefined> {
    return (await this.statements.rowsIn<RememberedAnswer>(tx, FIND, [principal, key]))[0];
  }

  /**
   * Stores a response, or replaces a response of the same owner. Returns false if the row belongs to another owner.
   * @param provisionalForMs null if the response is final
   */
  async remember(
    tx: Tx,
    { principal, key, fingerprint }: RequestIdentity,
    { owner, status, body, sealed }: OwnAnswer,
    provisionalForMs: number | null,
  ): Promise<boolean> {
    const values = [principal, key, fingerprint, owner, status, body, sealed, provisionalForMs];
    return (await this.statements.rowsIn(tx, REMEMBER, values)).length > 0;
  }

  /** Makes the provisional response of the owner final, in a separate transaction. */
  async complete({ principal, key }: RequestIdentity, answer: OwnAnswer): Promise<void> {
    const { owner, status, body, sealed } = answer;
    await this.statements.rows(COMPLETE, [principal, key, owner, status, body, sealed]);
  }

  /** Releases the key if it still belongs to the owner. */
  async release(tx: Tx, { principal, key }: RequestIdentity, owner: string): Promise<void> {
    await this.statements.rowsIn(tx, RELEASE, [principal, key, owner]);
  }

  /** Deletes expired keys, in batches so that no request waits long for a lock. */
  async prune(signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted) {
      const [, pruned] = await this.dataSource.query<[unknown, number]>(PRUNE);
      if (pruned < PRUNED_AT_ONCE) return;
    }
  }
}
