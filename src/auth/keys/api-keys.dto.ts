import { KEY_LIMIT_CLASSES, type KeyLimitClass } from '../../platform/http/request.js';
import { INTEGRATION_LIMITS } from '../../platform/limits/limits.js';
import { type Role, ROLES } from '../../platform/access/roles.js';
import { PageQueryDto, sortWords, SortWords } from '../../platform/paging/page.js';
import {
  Choice,
  type FieldOptions,
  Id,
  Instant,
  Nested,
  Text,
  WholeNumber,
} from '../../platform/validation/fields.js';

const KEY_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._@:/()+-]{0,61}[A-Za-z0-9._@)+-])?$/;
const LONGEST_NAME = 63;

const Limit = (what: string) =>
  WholeNumber({
    optional: true,
    min: 0,
    max: 1_000_000_000,
    description: `${what} per minute; 0 for no limit.`,
  });

export const LimitClassField = (options: FieldOptions = {}) =>
  Choice('KeyLimitClass', KEY_LIMIT_CLASSES, {
    description: `\`standard\`: the configured limits, by default 100 reads and 20 writes per minute. \`integration\`: at least ${INTEGRATION_LIMITS.read} reads and ${INTEGRATION_LIMITS.write} writes per minute.`,
    ...options,
  });

export class ApiKeyLimitsDto {
  @Limit('Reads')
  readonly read?: number;

  @Limit('Writes')
  readonly write?: number;

  @Limit('Triage requests')
  readonly triage?: number;
}

export class ApiKeyInputDto {
  @Text({
    pattern: KEY_NAME,
    message:
      'name must be 1 to 63 letters, digits, spaces or ._@:/()+-, beginning with a letter or digit',
    contract: { maxLength: LONGEST_NAME },
    description: 'Records show it as `key:<name>`. Never reused, not even after deletion.',
  })
  readonly name: string;

  @Choice('Role', ROLES)
  readonly role: Role;

  @WholeNumber({
    optional: true,
    min: 1,
    max: 3650,
    description: 'If absent, the key does not expire.',
  })
  readonly expires_in_days?: number;

  @LimitClassField({ optional: true, default: 'standard' })
  readonly limit_class?: KeyLimitClass;

  @Nested(() => ApiKeyLimitsDto, {
    optional: true,
    description: 'Limits of this key, which replace those of its class.',
  })
  readonly limits?: ApiKeyLimitsDto;
}

const SORTS = sortWords('created_at', 'name');

export class ApiKeyQueryDto extends PageQueryDto {
  @SortWords('ApiKeySort', SORTS)
  readonly sort: readonly (typeof SORTS)[number][] = ['-created_at'];

  @Text({
    optional: true,
    min: 1,
    max: 'key:'.length + LONGEST_NAME,
    description: 'Principal that created the keys: a user name, `key:<name>` or `system`.',
    example: 'j.doe',
  })
  readonly created_by?: string;
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

  @Nested(() => ApiKeyLimitsDto, { optional: true })
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

export class CreatedApiKeyDto extends ApiKeyDto {
  @Text({ description: 'The key itself, shown only once: only its hash is stored.' })
  readonly key: string;
}
