import { PickType } from '@nestjs/swagger';
import { NotEquals } from 'class-validator';
import {
  APPROVAL_LEVELS,
  type ApprovalLevel,
  approvalLevelOf,
  type Role,
  ROLES,
} from '../platform/access/roles.js';
import { KEY_LIMIT_CLASSES, type KeyLimitClass } from '../platform/http/request.js';
import { INTEGRATION_LIMITS } from '../platform/limits/limits.js';
import { PageQueryDto, sortWords, SortWords } from '../platform/paging/page.js';
import {
  Choice,
  Field,
  type FieldOptions,
  Flag,
  Id,
  Instant,
  Nested,
  NullIsAbsent,
  Rule,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';
import { present } from '../platform/validation/present.js';
import { RESERVED_NAME, USERNAME } from './auth.entity.js';
import { hasPermittedLength, LONGEST_PASSWORD, SHORTEST_PASSWORD } from './passwords.js';
import type { Principal } from './principal.js';

const KEY_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._@:/()+-]{0,61}[A-Za-z0-9._@)+-])?$/;
const LONGEST_KEY_NAME = 63;

const Limit = (what: string) =>
  WholeNumber({
    optional: true,
    min: 0,
    max: 1_000_000_000,
    description: `${what} per minute; 0 for no limit.`,
  });

const LimitClassField = (options: FieldOptions = {}) =>
  Choice('KeyLimitClass', KEY_LIMIT_CLASSES, {
    description: `\`standard\`: the configured limits, by default 100 reads and 20 writes per minute. \`integration\`: at least ${INTEGRATION_LIMITS.read} reads and ${INTEGRATION_LIMITS.write} writes per minute.`,
    ...options,
  });

class ApiKeyLimitsDto {
  @Limit('Reads')
  readonly read?: number;

  @Limit('Writes')
  readonly write?: number;

  @Limit('Triage requests')
  readonly triage?: number;
}

export class ApiKeyDto {
  @Id('ApiKeyId')
  readonly id: string;

  @Text()
  readonly name: string;

  @Choice('Role', ROLES)
  readonly role: Role;

  @Text({ description: 'Public part: a key begins with `its_<prefix>_`.' })
  readonly prefix: string;

  @LimitClassField()
  readonly limit_class: KeyLimitClass;

  @Nested(() => ApiKeyLimitsDto, {
    optional: true,
    description: 'Limits of the key, which replace those of its class.',
  })
  readonly limits?: ApiKeyLimitsDto;

  @Text({
    description:
      'Principal that created the key: a user name, `key:<name>`, or `system` at the first start.',
  })
  readonly created_by: string;

  @Text({
    optional: true,
    description:
      'User who owns the key, because the user created it directly or through another key. The key does not work while the ' +
      'user is disabled, and is revoked when the user is deleted. Absent for keys of the first start and the keys created with them.',
  })
  readonly owner?: string;

  @Instant()
  readonly created_at: Date;

  @Instant({ optional: true })
  readonly expires_at?: Date;

  @Instant({ optional: true, description: 'Accurate to the minute.' })
  readonly last_used_at?: Date;
}

export class ApiKeyInputDto extends PickType(ApiKeyDto, ['role', 'limits']) {
  @Text({
    pattern: KEY_NAME,
    message:
      'name must be 1 to 63 letters, digits, spaces or ._@:/()+-, beginning with a letter or digit',
    contract: { maxLength: LONGEST_KEY_NAME },
    description: 'Records show it as `key:<name>`. Never reused, not even after deletion.',
  })
  readonly name: string;

  @WholeNumber({
    optional: true,
    min: 1,
    max: 3650,
    description: 'If absent, the key does not expire.',
  })
  readonly expires_in_days?: number;

  @LimitClassField({ optional: true, default: 'standard' })
  readonly limit_class?: KeyLimitClass;
}

const KEY_SORTS = sortWords('created_at', 'name');

export class ApiKeyQueryDto extends PageQueryDto {
  @SortWords('ApiKeySort', KEY_SORTS)
  readonly sort: readonly (typeof KEY_SORTS)[number][] = ['-created_at'];

  @Text({
    optional: true,
    min: 1,
    max: 'key:'.length + LONGEST_KEY_NAME,
    description: 'Principal that created the keys: a user name, `key:<name>` or `system`.',
    example: 'j.doe',
  })
  readonly created_by?: string;
}

export class CreatedApiKeyDto extends ApiKeyDto {
  @Text({ description: 'The key itself, shown only once: only its hash is stored.' })
  readonly key: string;
}

const GOOD_PASSWORD =
  'Not a common password, and not made of the user name or words of this service.';

const NewPassword = (options: FieldOptions = {}): PropertyDecorator =>
  Field(
    { description: GOOD_PASSWORD, ...options },
    {
      type: 'string',
      format: 'password',
      minLength: SHORTEST_PASSWORD,
      maxLength: LONGEST_PASSWORD,
    },
    Rule(
      'password',
      hasPermittedLength,
      (field) => `${field} must be ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters`,
    ),
  );

export class UserDto {
  @Id('UserId')
  readonly id: string;

  @Text()
  readonly username: string;

  @Choice('Role', ROLES)
  readonly role: Role;

  @Flag()
  readonly enabled: boolean;

  @Instant()
  readonly created_at: Date;

  @Instant()
  readonly updated_at: Date;

  @Instant({ optional: true })
  readonly last_login_at?: Date;
}

export class UserInputDto extends PickType(UserDto, ['role']) {
  @Text({
    pattern: USERNAME,
    message:
      'username must be 2 to 63 lower-case letters, digits or ._@-, beginning with a letter or digit',
    description: '`system` is reserved. Never reused, not even after deletion.',
  })
  @NotEquals(RESERVED_NAME, { message: `username must not be ${RESERVED_NAME}` })
  readonly username: string;

  @NewPassword()
  readonly password: string;

  @Flag({ optional: true, default: true })
  readonly enabled?: boolean;
}

@NullIsAbsent()
export class UserUpdateDto {
  @Choice('Role', ROLES, { optional: true })
  readonly role?: Role;

  @Flag({ optional: true, description: 'A disabled user cannot log in and loses all sessions.' })
  readonly enabled?: boolean;

  @NewPassword({ optional: true, description: `${GOOD_PASSWORD} Ends the user's other sessions.` })
  readonly password?: string;
}

const USER_SORTS = sortWords('created_at', 'username', 'name');

export class UserQueryDto extends PageQueryDto {
  @SortWords('UserSort', USER_SORTS, {
    description: '`name` is the same as `username`.',
    otherNames: { name: 'username' },
  })
  readonly sort: readonly (typeof USER_SORTS)[number][] = ['-created_at'];
}

export class DeleteUserQueryDto {
  @Choice('KeysOfDeletedUser', ['revoke', 'keep'], {
    optional: true,
    contract: { enumName: 'KeysOfDeletedUser', enumSchema: { default: 'revoke' } },
    description:
      'API keys that the user created, directly or through other keys: `revoke` (the default) revokes them, `keep` keeps them valid.',
  })
  readonly keys: 'revoke' | 'keep' = 'revoke';
}

/** Longer than any valid name or password, so that a typing error counts as a wrong password, not as invalid. */
export const LONGEST_GUESS = 1_024;

export class PrincipalDto extends PickType(ApiKeyDto, ['role', 'limits']) {
  @Text({ description: 'Name in records: the user name, or `key:<name>`.' })
  readonly name: string;

  @Choice('PrincipalKind', ['key', 'user'])
  readonly kind: Principal['kind'];

  @Choice('ApprovalLevel', APPROVAL_LEVELS)
  readonly approval_level: ApprovalLevel;

  @LimitClassField({ optional: true })
  readonly limit_class?: KeyLimitClass;
}

export function presentPrincipal(
  principal: Pick<Principal, 'name' | 'kind' | 'role' | 'limit_class' | 'limits'>,
): PrincipalDto {
  return present(PrincipalDto)({ ...principal, approval_level: approvalLevelOf(principal.role) });
}

export class PasswordChangeDto {
  @Text({ format: 'password', max: LONGEST_GUESS })
  readonly current_password: string;

  @NewPassword()
  readonly new_password: string;
}

const SESSION_SORTS = sortWords('created_at', 'last_seen_at');

export class SessionQueryDto extends PageQueryDto {
  @SortWords('SessionSort', SESSION_SORTS)
  readonly sort: readonly (typeof SESSION_SORTS)[number][] = ['-created_at'];
}

export class LoginSessionDto {
  @Id('SessionId', { description: 'Not the token: it gives no access.' })
  readonly id: string;

  @Flag({ description: 'Whether this request uses the session.' })
  readonly current: boolean;

  @Instant()
  readonly created_at: Date;

  @Instant({ description: 'Accurate to the minute. The session ends eight hours after it.' })
  readonly last_seen_at: Date;

  @Instant({ description: 'The session ends at this time even if it is in use.' })
  readonly expires_at: Date;

  @Text({ optional: true, description: 'Address of the login.' })
  readonly address?: string;

  @Text({
    optional: true,
    max: 256,
    description: 'User-Agent header of the login.',
  })
  readonly user_agent?: string;
}
