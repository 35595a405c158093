import { PickType } from '@nestjs/swagger';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import {
  Choice,
  Flag,
  Instant,
  JsonObject,
  OpenChoices,
  Text,
  WholeNumber,
} from '../../platform/validation/fields.js';
import type { ConfigSchema } from '../../targets/target-config.js';
import {
  CONNECTOR_STATUSES,
  type ConnectorRecord,
  type ConnectorStatus,
  DISABLED,
  NOT_CHECKED,
  STANDS_BY,
  statusOf,
} from '../connector.js';
import type { TestResult, ConnectorType } from '../connector-type.js';
import { ConnectorDto } from '../connectors.dto.js';

export class ConnectorHealthDto extends PickType(ConnectorDto, ['id', 'type']) {
  @Text()
  readonly name: string;

  @Choice('ComponentStatus', CONNECTOR_STATUSES)
  readonly status: ConnectorStatus;

  @Text({
    description:
      'Result of the last check, or that the connector is disabled, stands by or is not checked yet.',
  })
  readonly message: string;

  @WholeNumber({ optional: true, min: 0 })
  readonly latency_ms?: number;

  @Instant({ optional: true })
  readonly checked_at?: string;

  static from(this: void, record: ConnectorRecord, standsBy: boolean): ConnectorHealthDto {
    const { id, name, type, enabled, healthMessage = NOT_CHECKED } = record;
    const { latencyMs, lastCheckedAt } = record;
    const serves = enabled && !standsBy;
    const whyNot = enabled ? STANDS_BY : DISABLED;
    return {
      id,
      name,
      type,
      status: serves ? statusOf(record) : 'disabled',
      // Results from before it was disabled are outdated.
      message: serves ? healthMessage : whyNot,
      latency_ms: serves ? latencyMs : undefined,
      checked_at: lastCheckedAt?.toISOString(),
    };
  }
}

export class ConnectorTestDto {
  @Flag()
  readonly success: boolean;

  @Text()
  readonly message: string;

  @WholeNumber({ min: 0 })
  readonly latency_ms: number;

  static from(this: void, { success, message, latencyMs }: TestResult): ConnectorTestDto {
    return { success, message, latency_ms: latencyMs };
  }
}

export class ConnectorTypeDto {
  @Text()
  readonly name: string;

  @Text()
  readonly description: string;

  @JsonObject({ description: 'JSON Schema of `config`. Fields with writeOnly are secrets.' })
  readonly config_schema: ConfigSchema;

  @OpenChoices('ActionTypeName', ACTION_TYPES, {
    description: 'Action types that connectors of this type can provide.',
  })
  readonly actions: readonly string[];

  static from(this: void, type: ConnectorType): ConnectorTypeDto {
    const { name, description, schema, actions } = type;
    return { name, description, config_schema: schema, actions };
  }
}
