import { type Role, ROLES } from '../../platform/access/roles.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { SortWords } from '../../platform/paging/sort-query.js';
import { API_KEY_SORTS, type ApiKey, type ApiKeySort, type CreatedKey } from './api-key.js';
import {
  Choice,
  Id,
  Instant,
  Nested,
  Text,
  WholeNumber,
} from '../../platform/validation/fields.js';

/** People choose the name of a key, so it may have spaces inside. Records show it as `key:<name>`. */
const KEY_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._@:/()+-]{0,61}[A-Za-z0-9._@)+-])?$/;
const LONGEST_NAME = 63;

const Limit = (what: string) =>
  WholeNumber({
    optional: true,
    min: 0,
    max: 1_000_000_000,
    description: `${what} per minute; 0 for no limit.`,
    example: 600,
  });

export class ApiKeyLimitsDto {
  @Limit('Reads')
  readonly read?: number;

  @Limit('Writes')
  readonly write?: number;

  @Limit('Triage requests')
  readonly triage?: number;
}

export class NewApiKeyDto {
  @Text({
    pattern: KEY_NAME,
    message:
      'name must be 1 to 63 letters, digits, spaces or ._@:/()+-, beginning with a letter or digit',
    contract: { maxLength: LONGEST_NAME },
    description: 'Records show it as `key:<name>`. Never used again, not even after the deletion.',
    example: 'siem-forwarder',
  })
  readonly name: string;

  @Choice('Role', ROLES, { example: 'analyst' })
  readonly role: Role;

  @WholeNumber({
    optional: true,
    min: 1,
    max: 3650,
    description: 'Without it the key does not expire.',
    example: 365,
  })
  readonly expires_in_days?: number;

  @Nested(() => ApiKeyLimitsDto, {
    optional: true,
    description: 'Limits of its own instead of the configured ones.',
  })
  readonly limits?: ApiKeyLimitsDto;
}

export class ApiKeyQueryDto extends PageQueryDto {
  @SortWords('ApiKeySort', API_KEY_SORTS)
  readonly sort: readonly ApiKeySort[] = ['-created_at'];

  @Text({
    optional: true,
    min: 1,
    max: 'key:'.length + LONGEST_NAME,
    description: 'The principal that made them: a user name, `key:<name>` or `system`.',
    example: 'j.doe',
  })
  readonly created_by?: string;
}

export class ApiKeyDto {
  @Id('ApiKeyId')
  readonly id: string;

  @Text({ example: 'siem-forwarder' })
  readonly name: string;

  @Choice('Role', ROLES, { example: 'analyst' })
  readonly role: Role;

  @Text({
    description: 'The public part: a key begins with `its_<prefix>_`.',
    example: 'a1B2c3D4',
  })
  readonly prefix: string;

  @Nested(() => ApiKeyLimitsDto, { optional: true })
  readonly limits?: ApiKeyLimitsDto;

  @Text({
    description:
      'The principal that made it: a user name, `key:<name>`, or `system` at the first start.',
    example: 'admin',
  })
  readonly created_by: string;

  @Text({
    optional: true,
    description:
      'The user whose key it is: who made it, or made the key that made it, and so on. While that user is disabled the ' +
      'key does not work, and the deletion of the user revokes it. A key of the first start, and what it made, has none.',
    example: 'admin',
  })
  readonly owner?: string;

  @Instant({ example: '2026-11-02T09:30:00.000Z' })
  readonly created_at: string;

  @Instant({ optional: true, example: '2027-11-02T09:30:00.000Z' })
  readonly expires_at?: string;

  @Instant({ optional: true, description: 'To the minute.', example: '2026-11-03T10:00:00.000Z' })
  readonly last_used_at?: string;

  static from(this: void, row: ApiKey): ApiKeyDto {
    const { limit_read, limit_write, limit_triage } = row;
    const limits = {
      read: limit_read ?? undefined,
      write: limit_write ?? undefined,
      triage: limit_triage ?? undefined,
    };
    const hasLimits = Object.values(limits).some((limit) => limit !== undefined);
    return {
      id: row.id,
      name: row.name,
      role: row.role,
      prefix: row.prefix,
      limits: hasLimits ? limits : undefined,
      created_by: row.created_by,
      owner: row.owner ?? undefined,
      created_at: row.created_at.toISOString(),
      expires_at: row.expires_at?.toISOString(),
      last_used_at: row.last_used_at?.toISOString(),
    };
  }
}

export class CreatedApiKeyDto extends ApiKeyDto {
  @Text({
    description: 'The key itself, this once: only its hash is stored.',
    example: 'its_a1B2c3D4_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG',
  })
  readonly key: string;

  static fromCreated(this: void, { row, key }: CreatedKey): CreatedApiKeyDto {
    return { ...ApiKeyDto.from(row), key };
  }
}
