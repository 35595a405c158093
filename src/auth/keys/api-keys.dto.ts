import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Length, Matches, Max, Min } from 'class-validator';
import { type Role, ROLES } from '../../platform/access/roles.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { NestedObject, Optional } from '../../platform/validation/decorators.js';
import { API_KEY_SORTS, type ApiKey, type ApiKeySort, type CreatedKey } from './api-key.js';

/** Shown as `key:<name>`; people choose it, so it may have spaces inside. */
const KEY_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._@:/()+-]{0,61}[A-Za-z0-9._@)+-])?$/;
const LONGEST_LIFE_DAYS = 3650;
const LARGEST_LIMIT = 1_000_000_000;
const LONGEST_PRINCIPAL = 'key:'.length + 63;

const limit = (what: string): ApiPropertyOptions => ({
  type: 'integer',
  minimum: 0,
  maximum: LARGEST_LIMIT,
  required: false,
  description: `${what} per minute; 0 for no limit.`,
  example: 600,
});

export class ApiKeyLimitsDto {
  @ApiProperty(limit('Reads'))
  @Optional()
  @IsInt()
  @Min(0)
  @Max(LARGEST_LIMIT)
  readonly read?: number;

  @ApiProperty(limit('Writes'))
  @Optional()
  @IsInt()
  @Min(0)
  @Max(LARGEST_LIMIT)
  readonly write?: number;

  @ApiProperty(limit('Triage requests'))
  @Optional()
  @IsInt()
  @Min(0)
  @Max(LARGEST_LIMIT)
  readonly triage?: number;
}

export class CreateApiKeyDto {
  @ApiProperty({
    type: 'string',
    pattern: KEY_NAME.source,
    maxLength: 63,
    description: 'Records show it as `key:<name>`. Never used again, not even after the deletion.',
    example: 'siem-forwarder',
  })
  @IsString()
  @Matches(KEY_NAME, {
    message:
      'name must be 1 to 63 letters, digits, spaces or ._@:/()+-, beginning with a letter or digit',
  })
  readonly name: string;

  @ApiProperty({ enum: ROLES, enumName: 'Role', example: 'analyst' })
  @IsIn(ROLES)
  readonly role: Role;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: LONGEST_LIFE_DAYS,
    required: false,
    description: 'Without it the key does not expire.',
    example: 365,
  })
  @Optional()
  @IsInt()
  @Min(1)
  @Max(LONGEST_LIFE_DAYS)
  readonly expires_in_days?: number;

  @ApiProperty({
    type: ApiKeyLimitsDto,
    required: false,
    description: 'Limits of its own instead of the configured ones.',
  })
  @Optional()
  @NestedObject(() => ApiKeyLimitsDto)
  readonly limits?: ApiKeyLimitsDto;
}

export class ApiKeyQueryDto extends PageQueryDto {
  @ApiProperty({
    enum: API_KEY_SORTS,
    enumName: 'ApiKeySort',
    default: '-created_at',
    required: false,
  })
  @Optional()
  @IsIn(API_KEY_SORTS)
  readonly sort: ApiKeySort = '-created_at';

  @ApiProperty({
    type: 'string',
    required: false,
    maxLength: LONGEST_PRINCIPAL,
    description: 'The principal that made them: a user name, `key:<name>` or `system`.',
    example: 'j.doe',
  })
  @Optional()
  @IsString()
  @Length(1, LONGEST_PRINCIPAL)
  readonly created_by?: string;
}

export class ApiKeyDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' })
  readonly id: string;

  @ApiProperty({ type: 'string', example: 'siem-forwarder' })
  readonly name: string;

  @ApiProperty({ enum: ROLES, enumName: 'Role', example: 'analyst' })
  readonly role: Role;

  @ApiProperty({
    type: 'string',
    description: 'The public part: a key begins with `its_<prefix>_`.',
    example: 'a1B2c3D4',
  })
  readonly prefix: string;

  @ApiProperty({ type: ApiKeyLimitsDto, required: false })
  readonly limits?: ApiKeyLimitsDto;

  @ApiProperty({
    type: 'string',
    description:
      'The principal that made it: a user name, `key:<name>`, or `system` at the first start.',
    example: 'admin',
  })
  readonly created_by: string;

  @ApiProperty({
    type: 'string',
    required: false,
    description:
      'The user whose key it is: who made it, or made the key that made it, and so on. While that user is disabled the ' +
      'key does not work, and the deletion of the user revokes it. A key of the first start, and what it made, has none.',
    example: 'admin',
  })
  readonly owner?: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-02T09:30:00.000Z' })
  readonly created_at: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    example: '2027-11-02T09:30:00.000Z',
  })
  readonly expires_at?: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    description: 'To the minute.',
    example: '2026-11-03T10:00:00.000Z',
  })
  readonly last_used_at?: string;

  static from(this: void, row: ApiKey): ApiKeyDto {
    const { limit_read, limit_write, limit_triage, expires_at, last_used_at } = row;
    const limits = {
      ...(limit_read !== null && { read: limit_read }),
      ...(limit_write !== null && { write: limit_write }),
      ...(limit_triage !== null && { triage: limit_triage }),
    };
    return {
      id: row.id,
      name: row.name,
      role: row.role,
      prefix: row.prefix,
      ...(Object.keys(limits).length > 0 && { limits }),
      created_by: row.created_by,
      ...(row.owner !== null && { owner: row.owner }),
      created_at: row.created_at.toISOString(),
      ...(expires_at && { expires_at: expires_at.toISOString() }),
      ...(last_used_at && { last_used_at: last_used_at.toISOString() }),
    };
  }
}

/** What was made just now has never been used. */
export const CREATED_KEY_EXAMPLE = {
  data: {
    id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
    name: 'siem-forwarder',
    role: 'analyst',
    prefix: 'a1B2c3D4',
    limits: { read: 600, write: 600, triage: 600 },
    created_by: 'admin',
    owner: 'admin',
    created_at: '2026-11-02T09:30:00.000Z',
    expires_at: '2027-11-02T09:30:00.000Z',
    key: 'its_a1B2c3D4_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG',
  },
};

export class CreatedApiKeyDto extends ApiKeyDto {
  @ApiProperty({
    type: 'string',
    description: 'The key itself, this once: only its hash is stored.',
    example: 'its_a1B2c3D4_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG',
  })
  readonly key: string;

  static fromCreated(this: void, { row, key }: CreatedKey): CreatedApiKeyDto {
    return { ...ApiKeyDto.from(row), key };
  }
}
