import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import {
  Choice,
  Flag,
  Id,
  Instant,
  JsonObject,
  OpenChoices,
  Text,
  WholeNumber,
} from '../../platform/validation/fields.js';
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
  @Id('ConnectorId')
  readonly id: string;

  @Text({ example: 'firewall' })
  readonly name: string;

  @Text({ example: 'http' })
  readonly type: string;

  @Choice('ComponentStatus', CONNECTOR_STATUSES, { example: 'healthy' })
  readonly status: ConnectorStatus;

  @Text({
    description:
      'What the last check found; that it is disabled, or not checked yet, where that is so.',
    example: 'The service answers with status 200.',
  })
  readonly message: string;

  @WholeNumber({ optional: true, min: 0, example: 42 })
  readonly latency_ms?: number;

  @Instant({ optional: true, example: '2026-11-02T09:30:00.000Z' })
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
      latency_ms: enabled ? latencyMs : undefined,
      checked_at: lastCheckedAt?.toISOString(),
    };
  }
}

export class ConnectorTestDto {
  @Flag({ example: true })
  readonly success: boolean;

  @Text({ example: 'The service answers with status 200.' })
  readonly message: string;

  @WholeNumber({ min: 0, example: 42 })
  readonly latency_ms: number;

  static from(this: void, { success, message, latencyMs }: TestResult): ConnectorTestDto {
    return { success, message, latency_ms: latencyMs };
  }
}

export class ConnectorTypeDto {
  @Text({ example: 'http' })
  readonly name: string;

  @Text({ example: 'Any service with an HTTP interface.' })
  readonly description: string;

  @JsonObject({
    description: 'JSON Schema of `config`. What is writeOnly there is a secret.',
    example: {
      type: 'object',
      properties: { base_url: { type: 'string', format: 'uri' } },
      required: ['base_url'],
    },
  })
  readonly config_schema: ConfigSchema;

  @OpenChoices('ActionTypeName', ACTION_TYPES, {
    description: 'The action types that a connector of this type can provide.',
    example: ['block_ip', 'unblock_ip'],
  })
  readonly actions: readonly string[];

  static from(this: void, type: ConnectorType): ConnectorTypeDto {
    const { name, description, schema, actions } = type;
    return { name, description, config_schema: schema, actions };
  }
}
