import { ApiProperty } from '@nestjs/swagger';
import { ACTION_TYPES, type ActionTypeName } from '../../actions/catalogue/action-types.js';
import type { ConfigSchema } from '../config/config-schema.js';
import {
  CONNECTOR_STATUSES,
  type ConnectorRecord,
  type ConnectorStatus,
  DISABLED,
  NOT_CHECKED,
  statusOf,
} from '../connector.js';
import type { TestResult } from '../connector.port.js';
import type { ConnectorType } from '../connector-type.port.js';

export class ConnectorHealthDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' })
  readonly id: string;

  @ApiProperty({ type: 'string', example: 'firewall' })
  readonly name: string;

  @ApiProperty({ type: 'string', example: 'http' })
  readonly type: string;

  @ApiProperty({ enum: CONNECTOR_STATUSES, enumName: 'ConnectorStatus', example: 'healthy' })
  readonly status: ConnectorStatus;

  @ApiProperty({
    type: 'string',
    description:
      'What the last check found; that it is disabled, or not checked yet, where that is so.',
    example: 'The service answers with status 200.',
  })
  readonly message: string;

  @ApiProperty({ type: 'integer', minimum: 0, required: false, example: 42 })
  readonly latency_ms?: number;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    example: '2026-11-02T09:30:00.000Z',
  })
  readonly checked_at?: string;

  static from(this: void, record: ConnectorRecord): ConnectorHealthDto {
    const { id, name, type, enabled, healthMessage = NOT_CHECKED } = record;
    const { latencyMs, lastCheckedAt } = record;
    return {
      id,
      name,
      type,
      status: statusOf(record),
      // What was found while it was enabled says nothing about it now.
      message: enabled ? healthMessage : DISABLED,
      ...(enabled && latencyMs !== undefined && { latency_ms: latencyMs }),
      checked_at: lastCheckedAt && lastCheckedAt.toISOString(),
    };
  }
}

export class ConnectorTestDto {
  @ApiProperty({ type: 'boolean', example: true })
  readonly success: boolean;

  @ApiProperty({ type: 'string', example: 'The service answers with status 200.' })
  readonly message: string;

  @ApiProperty({ type: 'integer', minimum: 0, example: 42 })
  readonly latency_ms: number;

  static from(this: void, { success, message, latencyMs }: TestResult): ConnectorTestDto {
    return { success, message, latency_ms: latencyMs };
  }
}

export class ConnectorTypeDto {
  @ApiProperty({ type: 'string', example: 'http' })
  readonly name: string;

  @ApiProperty({ type: 'string', example: 'Any service with an HTTP interface.' })
  readonly description: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'JSON Schema of `config`. What is writeOnly there is a secret.',
    example: {
      type: 'object',
      properties: { base_url: { type: 'string', format: 'uri' } },
      required: ['base_url'],
    },
  })
  readonly config_schema: ConfigSchema;

  @ApiProperty({
    enum: ACTION_TYPES,
    enumName: 'ActionTypeName',
    isArray: true,
    description: 'The action types that a connector of this type can provide.',
    example: ['block_ip', 'unblock_ip'],
  })
  readonly actions: readonly ActionTypeName[];

  static from(this: void, type: ConnectorType): ConnectorTypeDto {
    const { name, description, schema, actions } = type;
    return { name, description, config_schema: schema, actions };
  }
}
