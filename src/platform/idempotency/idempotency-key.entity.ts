import { Column, Entity, Index, PrimaryColumn, VirtualColumn } from 'typeorm';

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
