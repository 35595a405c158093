import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import {
  type Role,
  ROLES,
  type ApprovalLevel,
  approvalLevelOf,
  APPROVAL_LEVELS,
} from '../../platform/access/roles.js';
import { ApiKeyLimitsDto } from '../keys/api-keys.dto.js';
import { IsPassword } from '../passwords/password-requirements.js';
import { type Principal } from '../principal.js';
import { PASSWORD_PROPERTY } from '../users/users.dto.js';

const PRINCIPAL_KINDS = ['key', 'user'] as const;
/** Longer than any that may be set, so that a mistake is told as a wrong password and not as a wrong request. */
const LONGEST_GUESS = 1_024;

export class PrincipalDto {
  @ApiProperty({
    type: 'string',
    description: 'As records show it: the user name, or `key:<name>`.',
    example: 'j.doe',
  })
  readonly name: string;

  @ApiProperty({ enum: PRINCIPAL_KINDS, enumName: 'PrincipalKind', example: 'user' })
  readonly kind: Principal['kind'];

  @ApiProperty({ enum: ROLES, enumName: 'Role', example: 'analyst' })
  readonly role: Role;

  @ApiProperty({ enum: APPROVAL_LEVELS, enumName: 'ApprovalLevel', example: 'analyst' })
  readonly approval_level: ApprovalLevel;

  @ApiProperty({
    type: ApiKeyLimitsDto,
    required: false,
    description: 'Of a key that has its own.',
  })
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

export class ChangePasswordDto {
  @ApiProperty({
    type: 'string',
    format: 'password',
    maxLength: LONGEST_GUESS,
    example: 'the old one',
  })
  @IsString()
  @MaxLength(LONGEST_GUESS)
  readonly current_password: string;

  @ApiProperty(PASSWORD_PROPERTY)
  @IsPassword()
  readonly new_password: string;
}
