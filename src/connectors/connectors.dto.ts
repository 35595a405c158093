import { PickType } from '@nestjs/swagger';
import { ACTION_TYPES } from '../action-catalogue/action-types.js';
import { COMPONENT_STATUSES, type ComponentStatus } from '../platform/health-components.js';
import {
  Choice,
  type FieldOptions,
  Id,
  Instant,
  NullIsAbsent,
  OpenChoices,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';
import { present } from '../platform/validation/present.js';
import {
  ShownTarget,
  ShownType,
  TargetInput,
  TargetTest,
  TargetUpdate,
} from '../targets/target-contract.js';
import { type ConnectorEntity, DEFAULT_PRIORITY, standsBy } from './connector-registry.js';

const STANDS_BY =
  'On standby: the sandbox serves actions only while no connector of another type exists.';

const Priority = (options: FieldOptions = {}) =>
  WholeNumber({
    ...options,
    min: 0,
    max: 10_000,
    description:
      'If several connectors provide an action, the connector with the lowest priority serves. If priorities are equal, the first connector by name serves.',
  });

export class ConnectorInputDto extends TargetInput {
  @Priority({ optional: true, default: DEFAULT_PRIORITY })
  readonly priority?: number;
}

@NullIsAbsent()
export class ConnectorUpdateDto extends TargetUpdate {
  @Priority({ optional: true })
  readonly priority?: number;
}

export class ConnectorDto extends ShownTarget {
  @Id('ConnectorId')
  readonly id: string;

  @Priority()
  readonly priority: number;

  @Choice('ComponentStatus', COMPONENT_STATUSES, {
    description: 'Result of the last check. `degraded` until the first check has ended.',
  })
  readonly status: ComponentStatus;

  @Instant({ optional: true })
  readonly last_checked_at?: Date;
}

const statusOf = ({ enabled, health }: ConnectorEntity): ComponentStatus =>
  enabled ? (health ?? 'degraded') : 'disabled';

export const shownConnector = (row: ConnectorEntity): ConnectorDto =>
  present(ConnectorDto)({ ...row, secrets_set: row.secret_names, status: statusOf(row) });

export class ConnectorHealthDto extends PickType(ConnectorDto, ['id', 'type']) {
  @Text()
  readonly name: string;

  @Choice('ComponentStatus', COMPONENT_STATUSES)
  readonly status: ComponentStatus;

  @Text({ description: 'Result of the last check, or why there is none.' })
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
  const message = row.health_message ?? 'Not checked yet.';
  const shown = { ...row, status: statusOf(row), message, checked_at: row.last_checked_at };
  if (row.enabled && !standsBy(row, all)) return presentHealth(shown);
  const reason = row.enabled ? STANDS_BY : 'The connector is disabled.';
  return presentHealth({ ...shown, status: 'disabled', message: reason, latency_ms: null });
}

export class ConnectorTestDto extends TargetTest {}

export class ConnectorTypeDto extends ShownType {
  @OpenChoices('ActionTypeName', ACTION_TYPES, { description: 'Action types that it can provide.' })
  readonly actions: readonly string[];
}
