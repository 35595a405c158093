import { Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** A row exists while something waits or is worked on. A dead row stays for operators. */
@Entity('work')
@Unique('uq_work_kind_ref', ['kind', 'ref'])
@Index('ix_work_ready', ['lane', 'urgency', 'due_at', 'id'], { where: 'ready' })
@Index('ix_work_lapsed', ['lane', 'due_at', 'id'], { where: 'ready and worker is not null' })
@Index('ix_work_due', ['due_at'], { where: 'not ready and died_at is null' })
@Index('ix_work_line', ['kind', 'line', 'id'], { where: 'line is not null and died_at is null' })
@Index('ix_work_dead', ['died_at', 'dead_id'], { where: 'died_at is not null' })
export class WorkEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_work',
  })
  readonly id: string;

  @Column({ type: 'text', collation: 'C' })
  readonly kind: string;

  @Column({ type: 'uuid' })
  readonly ref: string;

  @Column({ type: 'text', collation: 'C' })
  readonly lane: string;

  @Column({ type: 'text', collation: 'C', nullable: true })
  readonly line: string | null;

  @Column({ type: 'smallint' })
  readonly urgency: number;

  /** May be claimed. */
  @Column({ type: 'boolean' })
  readonly ready: boolean;

  /** While ready: since when. Otherwise the end of the lease or of the pause, or infinity behind others of the line. */
  @Column({ type: 'timestamptz', precision: 3 })
  readonly due_at: Date;

  /** Last worker. While `ready`, this worker ended without an outcome. */
  @Column({ type: 'uuid', nullable: true })
  readonly worker: string | null;

  /** Counts the claims: a worker whose claim was taken over has an older number. */
  @Column({ type: 'integer', default: 0 })
  readonly fence: number;

  @Column({ type: 'integer', default: 0 })
  readonly attempts: number;

  /** Was added again while it was worked on. */
  @Column({ type: 'boolean', default: false })
  readonly woken: boolean;

  @Column({ type: 'jsonb', nullable: true })
  readonly data: object | null;

  @Column({ type: 'jsonb', nullable: true })
  readonly state: object | null;

  @Column({ type: 'text', nullable: true })
  readonly error: string | null;

  @Column({ type: 'text', nullable: true })
  readonly traceparent: string | null;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly added_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly died_at: Date | null;

  /** Names the row for operators. */
  @Column({ type: 'uuid', nullable: true })
  readonly dead_id: string | null;
}

/**
 * Domain events become work of the lanes that want them: each replica writes these lanes when it starts. Lanes with a
 * kind have places and pauses of their own.
 */
@Entity('work_lanes')
export class WorkLaneEntity {
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'pk_work_lanes' })
  readonly lane: string;

  @Column({ type: 'text', array: true, default: [] })
  readonly types: string[];

  /** JSON path predicate on the payload. */
  @Column({ type: 'text', nullable: true })
  readonly payload: string | null;

  @Column({ type: 'text', collation: 'C', nullable: true })
  readonly kind: string | null;

  /** On each replica. */
  @Column({ type: 'integer', nullable: true })
  readonly places: number | null;

  /** No claim before. */
  @Column({ type: 'timestamptz', nullable: true })
  readonly paused_until: Date | null;

  /** Why it is paused. */
  @Column({ type: 'jsonb', nullable: true })
  readonly reason: object | null;

  /** One place until then. */
  @Column({ type: 'timestamptz', nullable: true })
  readonly narrow_until: Date | null;
}

/** Exists only during the statement that inserts it: triggers turn its events into work and deliveries. */
@Entity('domain_events')
export class DomainEventEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'domain_events_pkey',
  })
  readonly position: string;

  @Column({ type: 'jsonb' })
  readonly events: readonly object[];
}
