import {
  type Role,
  ROLES,
  type ApprovalLevel,
  approvalLevelOf,
  APPROVAL_LEVELS,
} from '../../platform/access/roles.js';
import { Choice, Nested, Text } from '../../platform/validation/fields.js';
import { ApiKeyLimitsDto } from '../keys/api-keys.dto.js';
import { type Principal } from '../principal.js';
import { NewPassword } from '../users/users.dto.js';

const PRINCIPAL_KINDS = ['key', 'user'] as const;

/** Longer than any name or password that may be set, so that a mistake is told as a wrong one and not as a wrong request. */
export const LONGEST_GUESS = 1_024;

export class PrincipalDto {
  @Text({
    description: 'As records show it: the user name, or `key:<name>`.',
    example: 'j.doe',
  })
  readonly name: string;

  @Choice('PrincipalKind', PRINCIPAL_KINDS, { example: 'user' })
  readonly kind: Principal['kind'];

  @Choice('Role', ROLES, { example: 'analyst' })
  readonly role: Role;

  @Choice('ApprovalLevel', APPROVAL_LEVELS, { example: 'analyst' })
  readonly approval_level: ApprovalLevel;

  @Nested(() => ApiKeyLimitsDto, { optional: true, description: 'Of a key that has its own.' })
  readonly limits?: ApiKeyLimitsDto;

  static from(
    this: void,
    { name, kind, role, limits }: Pick<Principal, 'name' | 'kind' | 'role' | 'limits'>,
  ): PrincipalDto {
    return {
      name,
      kind,
      role,
      approval_level: approvalLevelOf(role),
      limits: limits && { ...limits },
    };
  }
}

export class PasswordChangeDto {
  @Text({ format: 'password', max: LONGEST_GUESS, example: 'the old one' })
  readonly current_password: string;

  @NewPassword()
  readonly new_password: string;
}
