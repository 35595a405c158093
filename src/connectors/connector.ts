import type { Config } from '../targets/target-config.js';

const CHECKED_STATUSES = ['healthy', 'degraded', 'unhealthy'] as const;
export type CheckedStatus = (typeof CHECKED_STATUSES)[number];

export const CONNECTOR_STATUSES = [...CHECKED_STATUSES, 'disabled'] as const;
export type ConnectorStatus = (typeof CONNECTOR_STATUSES)[number];

export const CONNECTOR_UNHEALTHY = 'connector.unhealthy';
export const CONNECTOR_RECOVERED = 'connector.recovered';

/** A connector without its secrets, for callers. */
export interface ConnectorRecord {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly priority: number;
  readonly config: Config;
  /** Names of the secrets that are set, such as `secrets.token`. */
  readonly secretNames: readonly string[];
  /** Number of changes. */
  readonly version: number;
  /** Result of the last check, like the next three fields; `undefined` before the first check. */
  readonly health?: CheckedStatus;
  readonly healthMessage?: string;
  readonly latencyMs?: number;
  readonly lastCheckedAt?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A connector with sealed secrets. */
export interface SealedConnector extends ConnectorRecord {
  readonly sealed?: string;
}

export interface CheckResult {
  readonly status: CheckedStatus;
  readonly message: string;
  readonly latencyMs: number;
}

export const NOT_CHECKED = 'Not checked yet.';
export const DISABLED = 'The connector is disabled.';
export const STANDS_BY =
  'It stands by: it serves actions only while no connector of another type exists.';

/** A connector that was never checked is not shown as healthy. */
export function statusOf({
  enabled,
  health,
}: Pick<ConnectorRecord, 'enabled' | 'health'>): ConnectorStatus {
  return enabled ? (health ?? 'degraded') : 'disabled';
}
