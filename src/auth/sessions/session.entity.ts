import { hash, randomBytes } from 'node:crypto';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { UserEntity } from '../users/user.entity.js';

/** Maximum time without a request. The session then ends. */
export const IDLE_HOURS = 8;
/** Maximum time after the login. The session then ends even if it is in use. */
export const ABSOLUTE_HOURS = 24;

export type Session = Omit<SessionEntity, 'token_hash'>;

const TOKEN_BYTES = 32;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;

export function createSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Returns the hexadecimal hash of a token, or `undefined` if the text is not a token. */
export function sessionHashOf(token: string): string | undefined {
  return TOKEN_PATTERN.test(token) ? hash('sha256', token, 'hex') : undefined;
}

@Entity('sessions')
@Unique('uq_sessions_token_hash', ['token_hash'])
@Check('ck_sessions_token_hash', `octet_length(token_hash) = 32`)
@Check('ck_sessions_user_agent', `length(user_agent) <= 256`)
@Index('ix_sessions_user_id', ['user_id'])
@Index('ix_sessions_last_seen_at', ['last_seen_at'])
export class SessionEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_sessions' })
  readonly id: string;

  /** SHA-256. Queries must select it explicitly. */
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

  /** Address of the login. */
  @Column({ type: 'text', nullable: true })
  readonly address: string | null;

  @Column({ type: 'text', nullable: true })
  readonly user_agent: string | null;
}

const PRIMARY_KEY = { primaryKeyConstraintName: 'pk_known_networks' };

@Entity('known_networks')
@Check('ck_known_networks_network', `length(network) between 1 and 64`)
@Index('ix_known_networks_last_seen_at', ['last_seen_at'])
export class KnownNetworkEntity {
  @PrimaryColumn({ type: 'uuid', ...PRIMARY_KEY })
  @ForeignKey(() => UserEntity, { name: 'fk_known_networks_user_id', onDelete: 'CASCADE' })
  readonly user_id: string;

  @PrimaryColumn({ type: 'text', ...PRIMARY_KEY })
  readonly network: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly last_seen_at: Date;
}
