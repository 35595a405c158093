import { NotEquals } from 'class-validator';
import { type Role, ROLES } from '../../platform/access/roles.js';
import { PageQueryDto, sortWords, SortWords } from '../../platform/paging/page.js';
import { hasPermittedLength, LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../passwords.js';
import {
  Choice,
  Field,
  type FieldOptions,
  Flag,
  Id,
  Instant,
  NullIsAbsent,
  Rule,
  Text,
} from '../../platform/validation/fields.js';
import { RESERVED_NAME, USERNAME } from '../auth.entity.js';

const GOOD_PASSWORD =
  'Not a common password, and not made of the user name or words of this service.';

export const NewPassword = (options: FieldOptions = {}): PropertyDecorator =>
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

export class UserInputDto {
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

  @Choice('Role', ROLES)
  readonly role: Role;

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

const SORTS = sortWords('created_at', 'username', 'name');

export class UserQueryDto extends PageQueryDto {
  @SortWords('UserSort', SORTS, {
    description: '`name` is the same as `username`.',
    otherNames: { name: 'username' },
  })
  readonly sort: readonly (typeof SORTS)[number][] = ['-created_at'];
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
