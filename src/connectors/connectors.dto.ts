import { PickType } from '@nestjs/swagger';
import { PageQueryDto, SortWords } from '../platform/paging/page-query.dto.js';
import {
  Choice,
  type FieldOptions,
  Flag,
  GivenName,
  Id,
  Instant,
  JsonObject,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';
import { NullIsAbsent } from '../platform/validation/json-shield.js';
import type { Config } from '../targets/target-config.js';
import { CONNECTOR_SCHEMAS } from './connector-types.js';
import {
  CONNECTOR_STATUSES,
  type ConnectorRecord,
  type ConnectorStatus,
  statusOf,
} from './connector.js';
import { CONNECTOR_SORTS, type ConnectorSort } from './connectors.repository.js';
import { DEFAULT_PRIORITY } from './connectors.service.js';
import type { RequestsByType } from '../targets/target-contract.js';

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
  readonly last_checked_at?: string;

  @Instant()
  readonly created_at: string;

  @Instant()
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
      last_checked_at: record.lastCheckedAt?.toISOString(),
      created_at: record.createdAt.toISOString(),
      updated_at: record.updatedAt.toISOString(),
    };
  }
}

/** Body of a request for a connector in the contract. */
export const CONNECTOR_REQUEST: RequestsByType = {
  union: 'ConnectorInput',
  noun: 'Connector',
  request: ConnectorInputDto,
  otherFields: ['enabled', 'priority'],
  configs: CONNECTOR_SCHEMAS,
};
