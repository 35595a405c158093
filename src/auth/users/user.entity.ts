import { Check, Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Role } from '../../platform/access/roles.js';

@Entity('users')
@Unique('uq_users_username', ['username'])
@Check('ck_users_username', `username ~ '^[a-z0-9][a-z0-9._@-]{1,62}$' and username <> 'system'`)
@Check('ck_users_role', `role in ('viewer', 'analyst', 'senior', 'manager', 'admin')`)
@Check('ck_users_password_hash', `(password_hash is null) = (deleted_at is not null)`)
@Index('ix_users_created_at', ['created_at', 'id'], { where: 'deleted_at is null' })
export class UserEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_users' })
  readonly id: string;

  @Column({ type: 'text' })
  readonly username: string;

  @Column({ type: 'text' })
  readonly role: Role;

  @Column({ type: 'boolean', default: true })
  readonly enabled: boolean;

  /** Null once the user is deleted. Only read where it is asked for by name. */
  @Column({ type: 'text', nullable: true, select: false })
  readonly password_hash: string | null;

  /** True while the password is the one that the first start generated. */
  @Column({ type: 'boolean', default: false })
  readonly password_made_up: boolean;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly updated_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_login_at: Date | null;

  /** The row of a deleted user stays, because names are never used again. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly deleted_at: Date | null;
}
