import { OmitType, PartialType, PickType } from '@nestjs/swagger';
import { NotEquals } from 'class-validator';
import { APPROVAL_LEVELS, type ApprovalLevel, approvalLevelOf } from '../platform/access/roles.js';
import type { KeyLimitClass } from '../platform/http/request.js';
import { PageQueryDto, sortWords, SortWords } from '../platform/paging/page.js';
import {
  Choice,
  Field,
  type FieldOptions,
  Flag,
  Instant,
  NullIsAbsent,
  Rule,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';
import { present } from '../platform/validation/present.js';
import {
  ApiKeyEntity,
  LimitClassField,
  RESERVED_NAME,
  SessionEntity,
  UserEntity,
  USERNAME,
} from './auth.entity.js';
import { hasPermittedLength, LONGEST_PASSWORD, SHORTEST_PASSWORD } from './passwords.js';
import type { Principal } from './principal.js';

const KEY_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._@:/()+-]{0,61}[A-Za-z0-9._@)+-])?$/;
const LONGEST_KEY_NAME = 63;

export class ApiKeyDto extends OmitType(ApiKeyEntity, ['secret_hash', 'revoked_at', 'owner_id']) {}

export class ApiKeyInputDto extends PickType(ApiKeyEntity, ['role', 'limits']) {
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

export class UserDto extends PickType(UserEntity, [
  'id',
  'username',
  'role',
  'enabled',
  'last_login_at',
]) {
  @Instant()
  readonly created_at: Date;

  @Instant()
  readonly updated_at: Date;
}

export class UserInputDto extends PickType(UserEntity, ['role']) {
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
export class UserUpdateDto extends PartialType(PickType(UserEntity, ['role', 'enabled'])) {
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

export class PrincipalDto extends PickType(ApiKeyEntity, ['role', 'limits']) {
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

export class LoginSessionDto extends OmitType(SessionEntity, ['token_hash', 'user_id']) {
  @Flag({ description: 'Whether this request uses the session.' })
  readonly current: boolean;
}
