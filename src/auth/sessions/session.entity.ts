import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { UserEntity } from '../users/user.entity.js';

@Entity('sessions')
@Unique('uq_sessions_token_hash', ['token_hash'])
@Check('ck_sessions_token_hash', `octet_length(token_hash) = 32`)
@Check('ck_sessions_user_agent', `length(user_agent) <= 256`)
@Index('ix_sessions_user_id', ['user_id'])
@Index('ix_sessions_last_seen_at', ['last_seen_at'])
export class SessionEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_sessions' })
  readonly id: string;

  /** SHA-256. Only read where it is asked for by name. */
  @Column({ type: 'bytea', select: false })
  readonly token_hash: Buffer;

  @Column({ type: 'uuid' })
  @ForeignKey(() => UserEntity, { name: 'fk_sessions_user_id', onDelete: 'CASCADE' })
  readonly user_id: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly last_seen_at: Date;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly expires_at: Date;

  /** The address that the login came from. */
  @Column({ type: 'text', nullable: true })
  readonly address: string | null;

  @Column({ type: 'text', nullable: true })
  readonly user_agent: string | null;
}
