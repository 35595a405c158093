import { PageQueryDto } from '../platform/paging/page-query.dto.js';
import { SortWords } from '../platform/paging/sort-query.js';
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
import type { Config } from './config/config-schema.js';
import {
  CONNECTOR_STATUSES,
  type ConnectorRecord,
  type ConnectorStatus,
  statusOf,
} from './connector.js';
import { CONNECTOR_SORTS, type ConnectorSort } from './connectors.repository.js';
import { DEFAULT_PRIORITY } from './connectors.service.js';

const ConnectorName = ({ optional }: FieldOptions = {}) =>
  GivenName({ optional, example: 'firewall' });

const Priority = (options: FieldOptions = {}) =>
  WholeNumber({
    ...options,
    min: 0,
    max: 10_000,
    description: 'Of several that provide an action the lowest serves, then the first by name.',
    example: DEFAULT_PRIORITY,
  });

const CONFIG_EXAMPLE = {
  base_url: 'https://firewall.example.com/api',
  actions: { block_ip: { path: '/blocks', body: { ip: '{{ parameters.ip }}' } } },
};

/** The contract has a schema for each type in its place: see connector-request.openapi.ts. */
export class NewConnectorDto {
  @ConnectorName()
  readonly name: string;

  @Text()
  readonly type: string;

  @JsonObject()
  readonly config: Config;

  @Flag({ optional: true, default: true, example: true })
  readonly enabled?: boolean;

  @Priority({ optional: true, default: DEFAULT_PRIORITY })
  readonly priority?: number;
}

export class ConnectorUpdateDto {
  @ConnectorName({ optional: true })
  readonly name?: string;

  @JsonObject({
    optional: true,
    description:
      'The fields to change; the others stay, secrets too. Null takes a field away that is not required. Of a map of secrets only the entries that are given change, and null takes one away; every other object is replaced as a whole: of `actions`, what is not given again is gone. Where the scheme, host or port of an address changes that secrets are sent to, each secret has to be given again (code secret_required).',
    example: { base_url: 'https://firewall.example.com/v2' },
  })
  readonly config?: Config;

  @Flag({ optional: true, example: false })
  readonly enabled?: boolean;

  @Priority({ optional: true })
  readonly priority?: number;
}

export class ConnectorQueryDto extends PageQueryDto {
  @SortWords('ConnectorSort', CONNECTOR_SORTS)
  readonly sort: readonly ConnectorSort[] = ['-created_at'];
}

export class ConnectorDto {
  @Id('ConnectorId')
  readonly id: string;

  @ConnectorName()
  readonly name: string;

  @Text({ example: 'http' })
  readonly type: string;

  @Flag({ example: true })
  readonly enabled: boolean;

  @Priority()
  readonly priority: number;

  @JsonObject({ description: 'Without its secrets.', example: CONFIG_EXAMPLE })
  readonly config: Config;

  @Texts({
    description: 'Which secrets are set.',
    example: ['headers.authorization', 'secrets.token'],
  })
  readonly secrets_set: readonly string[];

  @Choice('ComponentStatus', CONNECTOR_STATUSES, {
    description: 'As the last check found it; degraded before the first.',
    example: 'healthy',
  })
  readonly status: ConnectorStatus;

  @Instant({ optional: true, example: '2026-11-02T09:30:00.000Z' })
  readonly last_checked_at?: string;

  @Instant({ example: '2026-11-02T09:00:00.000Z' })
  readonly created_at: string;

  @Instant({ example: '2026-11-02T09:00:00.000Z' })
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
