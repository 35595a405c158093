import { NotEquals } from 'class-validator';
import { type Role, ROLES } from '../../platform/access/roles.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { SortWords } from '../../platform/paging/sort-query.js';
import {
  LONGEST_PASSWORD,
  SHORTEST_PASSWORD,
  IsPassword,
} from '../passwords/password-requirements.js';
import { Choice, Field, Flag, Id, Instant, Text } from '../../platform/validation/fields.js';
import {
  KEYS_OF_DELETED,
  type KeysOfDeleted,
  RESERVED_NAME,
  type User,
  USER_SORTS,
  USERNAME,
  type UserSort,
} from './user.js';

const GOOD_PASSWORD =
  'No common password, and none that is made of the user name or of words of this service.';

interface NewPasswordOptions {
  readonly optional?: boolean;
  readonly description?: string;
}

/** A password that is to be set; what may be tried at a login is another matter. */
export function NewPassword({ optional, description }: NewPasswordOptions = {}): PropertyDecorator {
  return Field(
    {
      optional,
      description: description ?? GOOD_PASSWORD,
      example: 'correct horse battery staple',
    },
    {
      type: 'string',
      format: 'password',
      minLength: SHORTEST_PASSWORD,
      maxLength: LONGEST_PASSWORD,
    },
    IsPassword(),
  );
}

export class NewUserDto {
  @Text({
    pattern: USERNAME,
    message:
      'username must be 2 to 63 lower-case letters, digits or ._@-, beginning with a letter or digit',
    description: '`system` is reserved. Never used again, not even after the deletion.',
    example: 'j.doe',
  })
  @NotEquals(RESERVED_NAME, { message: `username must not be ${RESERVED_NAME}` })
  readonly username: string;

  @NewPassword()
  readonly password: string;

  @Choice('Role', ROLES, { example: 'analyst' })
  readonly role: Role;

  @Flag({ optional: true, default: true, example: true })
  readonly enabled?: boolean;
}

export class UserUpdateDto {
  @Choice('Role', ROLES, { optional: true, example: 'senior' })
  readonly role?: Role;

  @Flag({
    optional: true,
    description: 'A disabled user cannot log in, and loses all sessions.',
    example: false,
  })
  readonly enabled?: boolean;

  @NewPassword({
    optional: true,
    description: `${GOOD_PASSWORD} Ends the user's other sessions.`,
  })
  readonly password?: string;
}

export class UserQueryDto extends PageQueryDto {
  @SortWords('UserSort', USER_SORTS, {
    description: '`name` is the same as `username`.',
    otherNames: { name: 'username' },
  })
  readonly sort: readonly UserSort[] = ['-created_at'];
}

export class DeleteUserQueryDto {
  @Choice('KeysOfDeletedUser', KEYS_OF_DELETED, {
    optional: true,
    contract: { enumName: 'KeysOfDeletedUser', enumSchema: { default: 'revoke' } },
    description:
      'What becomes of the API keys that the user made, or that were made with them: `revoke` (the default) ends them, `keep` lets them go on.',
  })
  readonly keys: KeysOfDeleted = 'revoke';
}

export class UserDto {
  @Id('UserId')
  readonly id: string;

  @Text({ example: 'j.doe' })
  readonly username: string;

  @Choice('Role', ROLES, { example: 'analyst' })
  readonly role: Role;

  @Flag({ example: true })
  readonly enabled: boolean;

  @Instant({ example: '2026-11-02T09:30:00.000Z' })
  readonly created_at: string;

  @Instant({ example: '2026-11-02T09:30:00.000Z' })
  readonly updated_at: string;

  @Instant({ optional: true, example: '2026-11-03T08:00:00.000Z' })
  readonly last_login_at?: string;

  static from(this: void, row: User): UserDto {
    return {
      id: row.id,
      username: row.username,
      role: row.role,
      enabled: row.enabled,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
      last_login_at: row.last_login_at?.toISOString(),
    };
  }
}
