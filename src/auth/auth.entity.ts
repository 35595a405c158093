import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import { type Role, ROLES } from '../platform/access/roles.js';
import { RowTimes } from '../platform/database/columns.js';
import { type Caller, KEY_LIMIT_CLASSES, type KeyLimitClass } from '../platform/http/request.js';
import { INTEGRATION_LIMITS } from '../platform/limits/limits.js';
import {
  Choice,
  type FieldOptions,
  Flag,
  Id,
  Instant,
  Nested,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';

export const USERNAME = /^[a-z0-9][a-z0-9._@-]{1,62}$/;
export const RESERVED_NAME = 'system';

export function isUsername(text: string): boolean {
  return USERNAME.test(text) && text !== RESERVED_NAME;
}

@Entity('users')
export class UserEntity extends RowTimes {
  @Id('UserId')
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Text()
  @Column({ type: 'text' })
  readonly username: string;

  @Choice('Role', ROLES)
  @Column({ type: 'text' })
  readonly role: Role;

  @Flag({ description: 'A disabled user cannot log in and loses all sessions.' })
  @Column({ type: 'boolean', default: true })
  readonly enabled: boolean;

  /** Null after the user is deleted. */
  @Column({ type: 'text', nullable: true, select: false })
  readonly password_hash: string | null;

  /** True while the user has the generated password of the first start. */
  @Column({ type: 'boolean', default: false })
  readonly password_made_up: boolean;

  @Instant({ optional: true })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_login_at: Date | null;
}

export type User = Omit<UserEntity, 'password_hash'>;

const Limit = (subject: string) =>
  WholeNumber({
    optional: true,
    min: 0,
    max: 1_000_000_000,
    description: `${subject} per minute; 0 for no limit.`,
  });

class ApiKeyLimitsDto {
  @Limit('Reads')
  readonly read?: number;

  @Limit('Writes')
  readonly write?: number;

  @Limit('Triage requests')
  readonly triage?: number;
}

export const LimitClassField = (options: FieldOptions = {}) =>
  Choice('KeyLimitClass', KEY_LIMIT_CLASSES, {
    description: `\`standard\`: the configured limits, by default 100 reads and 20 writes per minute. \`integration\`: at least ${INTEGRATION_LIMITS.read} reads and ${INTEGRATION_LIMITS.write} writes per minute.`,
    ...options,
  });

/** Row of a key, with the contract of the columns that responses show. */
@Entity('api_keys')
export class ApiKeyEntity {
  @Id('ApiKeyId')
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Text()
  @Column({ type: 'text' })
  readonly name: string;

  @Choice('Role', ROLES)
  @Column({ type: 'text' })
  readonly role: Role;

  @Text({ description: 'Public part: a key begins with `its_<prefix>_`.' })
  @Column({ type: 'text' })
  readonly prefix: string;

  @Column({ type: 'bytea', select: false })
  readonly secret_hash: Buffer;

  @LimitClassField()
  @Column({ type: 'text', default: 'standard' })
  readonly limit_class: KeyLimitClass;

  @Nested(() => ApiKeyLimitsDto, {
    optional: true,
    description: 'Limits of the key, which replace those of its class.',
  })
  @Column({ type: 'jsonb', nullable: true })
  readonly limits?: Caller['limits'] | null;

  @Text({
    description:
      'Principal that created the key: a user name, `key:<name>`, or `system` at the first start.',
  })
  @Column({ type: 'text' })
  readonly created_by: string;

  @Text({
    optional: true,
    description:
      'User who owns the key, because the user created it directly or through another key. The key does not work while the ' +
      'user is disabled, and is revoked when the user is deleted. Absent for keys of the first start and the keys created with them.',
  })
  @VirtualColumn({
    type: 'text',
    query: (key) => `select username from users where id = ${key}.owner_id`,
  })
  readonly owner: string | null;

  @Instant()
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Instant({ optional: true })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly expires_at: Date | null;

  @Instant({ optional: true, description: 'Accurate to the minute.' })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_used_at: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly revoked_at: Date | null;

  /** Null for keys of the first start, and for keys that were created with those keys. */
  @Column({ type: 'uuid', nullable: true })
  readonly owner_id: string | null;
}

export type CreatedKey = Omit<ApiKeyEntity, 'secret_hash'> & { readonly key: string };

export const IDLE_HOURS = 8;
export const ABSOLUTE_HOURS = 24;

@Entity('sessions')
export class SessionEntity {
  @Id('SessionId', { description: 'Id of the session. Unlike the token, it gives no access.' })
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'bytea', select: false })
  readonly token_hash: Buffer;

  @Column({ type: 'uuid' })
  readonly user_id: string;

  @Instant()
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Instant({
    description: 'Time of the last request, to the minute. The session ends eight hours later.',
  })
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly last_seen_at: Date;

  @Instant({ description: 'The session ends at this time even if it is in use.' })
  @Column({ type: 'timestamptz', precision: 3 })
  readonly expires_at: Date;

  @Text({ optional: true, description: 'Address of the login.' })
  @Column({ type: 'text', nullable: true })
  readonly address: string | null;

  @Text({ optional: true, max: 256, description: 'User-Agent header of the login.' })
  @Column({ type: 'text', nullable: true })
  readonly user_agent: string | null;
}
