import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** Work that waits or is claimed. Work that ends is removed; dead work stays for operators. */
@Entity('work')
export class WorkEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
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

  /** The row can be claimed: by its lane or, if `worker` is set, as a lapsed claim. */
  @Column({ type: 'boolean' })
  readonly ready: boolean;

  /**
   * Ready: time at which the row became ready. Claimed: end of the lease. Otherwise earliest start, or infinity behind an earlier row
   * of the line.
   */
  @Column({ type: 'timestamptz', precision: 3 })
  readonly due_at: Date;

  /** Worker that has the claim. If `ready`, its lease ended without an outcome. */
  @Column({ type: 'uuid', nullable: true })
  readonly worker: string | null;

  @Column({ type: 'integer', default: 0 })
  readonly fence: number;

  @Column({ type: 'integer', default: 0 })
  readonly attempts: number;

  /** True if the work was added again while it was claimed, so that it is repeated afterwards. */
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

  /** Id of dead work for operators. A later death has another id. */
  @Column({ type: 'uuid', nullable: true })
  readonly dead_id: string | null;
}

/** A lane that receives domain events as work, has its own number of places, or is paused. */
@Entity('work_lanes')
export class WorkLaneEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  readonly lane: string;

  @Column({ type: 'text', array: true, default: [] })
  readonly types: string[];

  @Column({ type: 'text', nullable: true })
  readonly payload: string | null;

  @Column({ type: 'text', collation: 'C', nullable: true })
  readonly kind: string | null;

  /** Maximum rows that each replica processes at the same time. Default: `places` of the work kind. */
  @Column({ type: 'integer', nullable: true })
  readonly places: number | null;

  @Column({ type: 'timestamptz', nullable: true })
  readonly paused_until: Date | null;

  @Column({ type: 'jsonb', nullable: true })
  readonly reason: object | null;

  @Column({ type: 'timestamptz', nullable: true })
  readonly narrow_until: Date | null;
}

/** Exists only during the statement that inserts it: triggers turn its events into work and deliveries. */
@Entity('domain_events')
export class DomainEventEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
  })
  readonly position: string;

  @Column({ type: 'jsonb' })
  readonly events: readonly object[];
}
