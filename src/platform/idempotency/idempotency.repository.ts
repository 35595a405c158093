// SQL: advisory lock, upsert and deletion in batches, which TypeORM does not support.
import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import {
  Column,
  DataSource,
  Entity,
  type EntityManager,
  Index,
  IsNull,
  Not,
  PrimaryColumn,
  Raw,
  VirtualColumn,
} from 'typeorm';
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

  /** Compared with the clock of the database, which also set the time. */
  @VirtualColumn({
    type: 'boolean',
    query: (row) => `coalesce(${row}.provisional_until > now(), false)`,
  })
  readonly under_way: boolean;
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

/** Binds an encrypted response to its key: it cannot be decrypted in another row. */
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

export type RememberedAnswer = Pick<
  IdempotencyKeyEntity,
  'fingerprint' | 'status' | 'body' | 'sealed' | 'under_way'
>;

interface NewAnswer extends Pick<IdempotencyKeyEntity, 'owner' | 'status' | 'body' | 'sealed'> {
  /** Null if the response is final. */
  readonly provisionalForMs: number | null;
}

const LOCK = {
  name: 'idempotency_lock',
  text: `select pg_try_advisory_xact_lock($1::bigint) as locked`,
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

const YOUNG = Raw((kept) => `${kept} > now() - interval '24 hours'`);
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
  async lock(tx: Tx, identity: RequestIdentity): Promise<boolean> {
    const [row] = await this.statements.rowsIn<{ locked: boolean }>(tx, LOCK, [lockOf(identity)]);
    return row?.locked === true;
  }

  /** @param manager the transaction, after `lock`, so that the read sees what the previous holder committed */
  async find(
    { principal, key }: RequestIdentity,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<RememberedAnswer | undefined> {
    const where = { principal, key, kept_at: YOUNG };
    return (await manager.getRepository(IdempotencyKeyEntity).findOneBy(where)) ?? undefined;
  }

  /** Stores a response, or replaces one of the same owner. Returns false if the row belongs to another owner. */
  async remember(
    tx: Tx,
    { principal, key, fingerprint }: RequestIdentity,
    answer: NewAnswer,
  ): Promise<boolean> {
    const { owner, status, body, sealed, provisionalForMs } = answer;
    const values = [principal, key, fingerprint, owner, status, body, sealed, provisionalForMs];
    return (await this.statements.rowsIn(tx, REMEMBER, values)).length > 0;
  }

  /** Makes the provisional response of the owner final, in a separate transaction. */
  async complete(
    { principal, key }: RequestIdentity,
    { owner, ...final }: Omit<NewAnswer, 'provisionalForMs'>,
  ): Promise<void> {
    await this.dataSource
      .getRepository(IdempotencyKeyEntity)
      .update(
        { principal, key, owner, provisional_until: Not(IsNull()) },
        { ...final, provisional_until: null },
      );
  }

  /** Releases the key if it still belongs to the owner. */
  async release(tx: Tx, { principal, key }: RequestIdentity, owner: string): Promise<void> {
    await tx.getRepository(IdempotencyKeyEntity).delete({ principal, key, owner });
  }

  /** Deletes expired keys, in batches so that no request waits long for a lock. */
  async prune(signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted) {
      const [, pruned] = await this.dataSource.query<[unknown, number]>(PRUNE);
      if (pruned < PRUNED_AT_ONCE) return;
    }
  }
}

/** Advisory lock of a key: 64 bits of a hash. */
function lockOf({ principal, key }: RequestIdentity): string {
  const lock = hash('sha256', `idempotency\n${principal}\n${key}`, 'buffer');
  return lock.readBigInt64BE().toString();
}
