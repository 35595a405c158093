import {
  type Role,
  ROLES,
  type ApprovalLevel,
  approvalLevelOf,
  APPROVAL_LEVELS,
} from '../../platform/access/roles.js';
import { Choice, Nested, Text, Flag, Id, Instant } from '../../platform/validation/fields.js';
import type { KeyLimitClass } from '../../platform/http/request.js';
import { ApiKeyLimitsDto, LimitClassField } from '../keys/api-keys.dto.js';
import { present } from '../../platform/validation/present.js';
import type { Principal } from '../principal.js';
import { NewPassword } from '../users/users.dto.js';
import { PageQueryDto, sortWords, SortWords } from '../../platform/paging/page.js';

const PRINCIPAL_KINDS = ['key', 'user'] as const;

/** Longer than any valid name or password, so that a typing error is a wrong password instead of an invalid request. */
export const LONGEST_GUESS = 1_024;

export class PrincipalDto {
  @Text({ description: 'Name in records: the user name, or `key:<name>`.' })
  readonly name: string;

  @Choice('PrincipalKind', PRINCIPAL_KINDS)
  readonly kind: Principal['kind'];

  @Choice('Role', ROLES)
  readonly role: Role;

  @Choice('ApprovalLevel', APPROVAL_LEVELS)
  readonly approval_level: ApprovalLevel;

  @LimitClassField({ optional: true })
  readonly limit_class?: KeyLimitClass;

  @Nested(() => ApiKeyLimitsDto, {
    optional: true,
    description: 'Limits of the key, if it has its own.',
  })
  readonly limits?: ApiKeyLimitsDto;
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

const SORTS = sortWords('created_at', 'last_seen_at');

export class SessionQueryDto extends PageQueryDto {
  @SortWords('SessionSort', SORTS)
  readonly sort: readonly (typeof SORTS)[number][] = ['-created_at'];
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
