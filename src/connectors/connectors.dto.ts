import { PickType } from '@nestjs/swagger';
import { ACTION_TYPES } from '../action-catalogue/action-types.js';
import type { ModuleContract } from '../platform/openapi/module-contract.js';
import { PageQueryDto, SortWords } from '../platform/paging/page-query.dto.js';
import {
  Choice,
  type FieldOptions,
  Flag,
  GivenName,
  Id,
  Instant,
  JsonObject,
  OpenChoices,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';
import { NullIsAbsent } from '../platform/validation/json-shield.js';
import { present } from '../platform/validation/present.js';
import type { Config, ConfigSchema } from '../targets/target-config.js';
import { CONNECTOR_TYPES, standsBy } from './connector-registry.js';
import {
  CONNECTOR_STATUSES,
  type ConnectorEntity,
  type ConnectorStatus,
  DEFAULT_PRIORITY,
  statusOf,
} from './connector.entity.js';
import type { ConnectorType } from './connector-type.js';
import { CONNECTOR_SORTS, type ConnectorSort } from './connectors.repository.js';
import type { RequestsByType } from '../targets/target-contract.js';

const NOT_CHECKED = 'Not checked yet.';
const DISABLED = 'The connector is disabled.';
const STANDS_BY = 'It stands by: it serves actions only while no connector of another type exists.';

const Priority = (options: FieldOptions = {}) =>
  WholeNumber({
    ...options,
    min: 0,
    max: 10_000,
    description:
      'If several connectors provide an action, the one with the lowest priority serves, then the first by name.',
  });

/** The contract has one schema per type instead: see CONNECTOR_REQUEST. */
export class ConnectorInputDto {
  @GivenName()
  readonly name: string;

  @Text()
  readonly type: string;

  @JsonObject()
  readonly config: Config;

  @Flag({ optional: true, default: true })
  readonly enabled?: boolean;

  @Priority({ optional: true, default: DEFAULT_PRIORITY })
  readonly priority?: number;
}

@NullIsAbsent()
export class ConnectorUpdateDto {
  @GivenName({ optional: true })
  readonly name?: string;

  @JsonObject({
    optional: true,
    description:
      'Fields to change. Absent fields do not change, including secrets. Null removes an optional field. In a map of secrets only the given entries change, and null removes one. Any other object is replaced as a whole: entries of `actions` that are not given are removed. If the scheme, host or port of a destination of secrets changes, each secret must be given again (code secret_required).',
  })
  readonly config?: Config;

  @Flag({ optional: true })
  readonly enabled?: boolean;

  @Priority({ optional: true })
  readonly priority?: number;
}

export class ConnectorQueryDto extends PageQueryDto {
  @SortWords('ConnectorSort', CONNECTOR_SORTS)
  readonly sort: readonly ConnectorSort[] = ['-created_at'];
}

export class ConnectorDto extends PickType(ConnectorInputDto, ['name', 'type']) {
  @Id('ConnectorId')
  readonly id: string;

  @Flag()
  readonly enabled: boolean;

  @Priority()
  readonly priority: number;

  @JsonObject({ description: 'Configuration without secrets.' })
  readonly config: Config;

  @Texts({ description: 'Names of the secrets that are set.' })
  readonly secrets_set: readonly string[];

  @Choice('ComponentStatus', CONNECTOR_STATUSES, {
    description: 'Result of the last check; degraded before the first.',
  })
  readonly status: ConnectorStatus;

  @Instant({ optional: true })
  readonly last_checked_at?: Date;

  @Instant()
  readonly created_at: Date;

  @Instant()
  readonly updated_at: Date;
}

const presentConnector = present(ConnectorDto);

export const shownConnector = (row: ConnectorEntity): ConnectorDto =>
  presentConnector({ ...row, secrets_set: row.secret_names, status: statusOf(row) });

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
  readonly checked_at?: Date;
}

const presentHealth = present(ConnectorHealthDto);

export function shownHealth(
  row: ConnectorEntity,
  all: readonly ConnectorEntity[],
): ConnectorHealthDto {
  const shown = { ...row, status: statusOf(row), checked_at: row.last_checked_at };
  if (row.enabled && !standsBy(row, all)) {
    return presentHealth({ ...shown, message: row.health_message ?? NOT_CHECKED });
  }
  // Results from before it was disabled are outdated.
  const message = row.enabled ? STANDS_BY : DISABLED;
  return presentHealth({ ...shown, status: 'disabled', message, latency_ms: null });
}

export class ConnectorTestDto {
  @Flag()
  readonly success: boolean;

  @Text()
  readonly message: string;

  @WholeNumber({ min: 0 })
  readonly latency_ms: number;
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
}

export function shownType({ name, description, config, actions }: ConnectorType): ConnectorTypeDto {
  return { name, description, config_schema: config, actions };
}

/** Body of a request for a connector in the contract. */
export const CONNECTOR_REQUEST: RequestsByType = {
  union: 'ConnectorInput',
  noun: 'Connector',
  request: ConnectorInputDto,
  otherFields: ['enabled', 'priority'],
  configs: Object.fromEntries(CONNECTOR_TYPES.all.map(({ name, config }) => [name, config])),
};

/** Descriptions of this module in the OpenAPI document. */
export const CONNECTORS_CONTRACT: ModuleContract = {
  tags: { Connectors: 'Tools that execute actions.' },
  ids: { connectors: { what: 'connector', schema: 'ConnectorId' } },
  schemas: {
    Connector: 'A connector without its secrets.',
    ConnectorHealth: 'Result of the last check of a connector.',
    ConnectorTest: 'Result of a test of a connector.',
    ConnectorType: 'A type of connector, with the schema of its configuration and its actions.',
    ConnectorUpdate: 'Changes to a connector; at least one field is required.',
  },
  fields: {
    checked_at: 'Time of the last check; absent before the first.',
    last_checked_at: 'Time of the last check; absent before the first.',
  },
};
