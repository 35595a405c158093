import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString, Matches, NotEquals } from 'class-validator';
import { type Role, ROLES } from '../../platform/access/roles.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { Optional } from '../../platform/validation/decorators.js';
import {
  IsPassword,
  LONGEST_PASSWORD,
  SHORTEST_PASSWORD,
} from '../passwords/password-requirements.js';
import {
  KEYS_OF_DELETED,
  type KeysOfDeleted,
  RESERVED_NAME,
  type User,
  USER_SORTS,
  USERNAME,
  type UserSort,
} from './user.js';

export const PASSWORD_PROPERTY = {
  type: 'string',
  format: 'password',
  minLength: SHORTEST_PASSWORD,
  maxLength: LONGEST_PASSWORD,
  description:
    'No common password, and none that is made of the user name or of words of this service.',
  example: 'correct horse battery staple',
} as const;

export class CreateUserDto {
  @ApiProperty({
    type: 'string',
    pattern: USERNAME.source,
    description: '`system` is reserved. Never used again, not even after the deletion.',
    example: 'j.doe',
  })
  @IsString()
  @Matches(USERNAME, {
    message:
      'username must be 2 to 63 lower-case letters, digits or ._@-, beginning with a letter or digit',
  })
  @NotEquals(RESERVED_NAME, { message: `username must not be ${RESERVED_NAME}` })
  readonly username: string;

  @ApiProperty(PASSWORD_PROPERTY)
  @IsPassword()
  readonly password: string;

  @ApiProperty({ enum: ROLES, enumName: 'Role', example: 'analyst' })
  @IsIn(ROLES)
  readonly role: Role;

  @ApiProperty({ type: 'boolean', default: true, required: false, example: true })
  @Optional()
  @IsBoolean()
  readonly enabled?: boolean;
}

export class UpdateUserDto {
  @ApiProperty({ enum: ROLES, enumName: 'Role', required: false, example: 'senior' })
  @Optional()
  @IsIn(ROLES)
  readonly role?: Role;

  @ApiProperty({
    type: 'boolean',
    required: false,
    description: 'A disabled user cannot log in, and loses all sessions.',
    example: false,
  })
  @Optional()
  @IsBoolean()
  readonly enabled?: boolean;

  @ApiProperty({
    ...PASSWORD_PROPERTY,
    required: false,
    description: `${PASSWORD_PROPERTY.description} Ends the user's other sessions.`,
  })
  @Optional()
  @IsPassword()
  readonly password?: string;
}

export class UserQueryDto extends PageQueryDto {
  @ApiProperty({
    enum: USER_SORTS,
    enumName: 'UserSort',
    default: '-created_at',
    required: false,
    description: '`name` is the same as `username`.',
  })
  @Optional()
  @IsIn(USER_SORTS)
  readonly sort: UserSort = '-created_at';
}

export class DeleteUserQueryDto {
  @ApiProperty({
    enum: KEYS_OF_DELETED,
    enumName: 'KeysOfDeletedUser',
    enumSchema: { default: 'revoke' },
    required: false,
    description:
      'What becomes of the API keys that the user made, or that were made with them: `revoke` (the default) ends them, `keep` lets them go on.',
  })
  @Optional()
  @IsIn(KEYS_OF_DELETED)
  readonly keys: KeysOfDeleted = 'revoke';
}

/** Who was made just now has never logged in. */
export const CREATED_USER_EXAMPLE = {
  data: {
    id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
    username: 'j.doe',
    role: 'analyst',
    enabled: true,
    created_at: '2026-11-02T09:30:00.000Z',
    updated_at: '2026-11-02T09:30:00.000Z',
  },
};

export class UserDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' })
  readonly id: string;

  @ApiProperty({ type: 'string', example: 'j.doe' })
  readonly username: string;

  @ApiProperty({ enum: ROLES, enumName: 'Role', example: 'analyst' })
  readonly role: Role;

  @ApiProperty({ type: 'boolean', example: true })
  readonly enabled: boolean;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-02T09:30:00.000Z' })
  readonly created_at: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-02T09:30:00.000Z' })
  readonly updated_at: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    example: '2026-11-03T08:00:00.000Z',
  })
  readonly last_login_at?: string;

  static from(this: void, row: User): UserDto {
    return {
      id: row.id,
      username: row.username,
      role: row.role,
      enabled: row.enabled,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
      ...(row.last_login_at && { last_login_at: row.last_login_at.toISOString() }),
    };
  }
}
