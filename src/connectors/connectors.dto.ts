import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { PageQueryDto } from '../platform/paging/page-query.dto.js';
import { IsJsonObject, Optional } from '../platform/validation/decorators.js';
import type { Config } from './config/config-schema.js';
import {
  CONNECTOR_STATUSES,
  type ConnectorRecord,
  type ConnectorStatus,
  statusOf,
} from './connector.js';
import { CONNECTOR_SORTS, type ConnectorSort } from './connectors.repository.js';
import { DEFAULT_PRIORITY } from './connectors.service.js';

const LONGEST_NAME = 100;
const NAME = /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u;
const LAST_PRIORITY = 10_000;

const NAME_PROPERTY = {
  type: 'string',
  minLength: 1,
  maxLength: LONGEST_NAME,
  description: 'Unique.',
  example: 'firewall',
} as const;

const PRIORITY_PROPERTY = {
  type: 'integer',
  minimum: 0,
  maximum: LAST_PRIORITY,
  description: 'Of several that provide an action the lowest serves, then the first by name.',
  example: DEFAULT_PRIORITY,
} as const;

const CONFIG_EXAMPLE = {
  base_url: 'https://firewall.example.com/api',
  actions: { block_ip: { path: '/blocks', body: { ip: '{{ parameters.ip }}' } } },
};

const ID_EXAMPLE = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

export class CreateConnectorDto {
  @ApiProperty(NAME_PROPERTY)
  @IsString()
  @MaxLength(LONGEST_NAME)
  @Matches(NAME, { message: 'name must be text without control characters, not framed by spaces' })
  readonly name: string;

  @ApiProperty({
    type: 'string',
    description: 'One of those that GET /api/connectors/types lists.',
    example: 'http',
  })
  @IsString()
  readonly type: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: "As the type's config_schema says. Secrets go in here, and never come out.",
    example: {
      ...CONFIG_EXAMPLE,
      headers: { authorization: 'Bearer {{ secrets.token }}' },
      secrets: { token: 'a-token-of-the-firewall' },
    },
  })
  @IsJsonObject()
  readonly config: Config;

  @ApiProperty({ type: 'boolean', default: true, required: false, example: true })
  @Optional()
  @IsBoolean()
  readonly enabled?: boolean;

  @ApiProperty({ ...PRIORITY_PROPERTY, default: DEFAULT_PRIORITY, required: false })
  @Optional()
  @IsInt()
  @Min(0)
  @Max(LAST_PRIORITY)
  readonly priority?: number;
}

export class UpdateConnectorDto {
  @ApiProperty({ ...NAME_PROPERTY, required: false })
  @Optional()
  @IsString()
  @MaxLength(LONGEST_NAME)
  @Matches(NAME, { message: 'name must be text without control characters, not framed by spaces' })
  readonly name?: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
    description:
      'The fields to change; the others stay, secrets too. Of a map of secrets only the entries that are given change, and null takes one away. Where the scheme, host or port of an address changes that secrets are sent to, each secret has to be given again (code secret_required).',
    example: { base_url: 'https://firewall.example.com/v2' },
  })
  @Optional()
  @IsJsonObject()
  readonly config?: Config;

  @ApiProperty({ type: 'boolean', required: false, example: false })
  @Optional()
  @IsBoolean()
  readonly enabled?: boolean;

  @ApiProperty({ ...PRIORITY_PROPERTY, required: false })
  @Optional()
  @IsInt()
  @Min(0)
  @Max(LAST_PRIORITY)
  readonly priority?: number;
}

export class ConnectorQueryDto extends PageQueryDto {
  @ApiProperty({
    enum: CONNECTOR_SORTS,
    enumName: 'ConnectorSort',
    default: '-created_at',
    required: false,
  })
  @Optional()
  @IsIn(CONNECTOR_SORTS)
  readonly sort: ConnectorSort = '-created_at';
}

export class ConnectorDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: ID_EXAMPLE })
  readonly id: string;

  @ApiProperty(NAME_PROPERTY)
  readonly name: string;

  @ApiProperty({ type: 'string', example: 'http' })
  readonly type: string;

  @ApiProperty({ type: 'boolean', example: true })
  readonly enabled: boolean;

  @ApiProperty(PRIORITY_PROPERTY)
  readonly priority: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Without its secrets.',
    example: CONFIG_EXAMPLE,
  })
  readonly config: Config;

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    description: 'Which secrets are set.',
    example: ['headers.authorization', 'secrets.token'],
  })
  readonly secrets_set: readonly string[];

  @ApiProperty({
    enum: CONNECTOR_STATUSES,
    enumName: 'ConnectorStatus',
    description: 'As the last check found it; degraded before the first.',
    example: 'healthy',
  })
  readonly status: ConnectorStatus;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    example: '2026-11-02T09:30:00.000Z',
  })
  readonly last_checked_at?: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-02T09:00:00.000Z' })
  readonly created_at: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-02T09:00:00.000Z' })
  readonly updated_at: string;

  static from(this: void, record: ConnectorRecord): ConnectorDto {
    return {
      id: record.id,
      name: record.name,
      type: record.type,
      enabled: record.enabled,
      priority: record.priority,
      config: record.config,
      secrets_set: record.secretNames,
      status: statusOf(record),
      last_checked_at: record.lastCheckedAt && record.lastCheckedAt.toISOString(),
      created_at: record.createdAt.toISOString(),
      updated_at: record.updatedAt.toISOString(),
    };
  }
}
