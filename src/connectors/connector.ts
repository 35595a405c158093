import type { Config } from './config/config-schema.js';

export const CHECKED_STATUSES = ['healthy', 'degraded', 'unhealthy'] as const;
export type CheckedStatus = (typeof CHECKED_STATUSES)[number];

export const CONNECTOR_STATUSES = [...CHECKED_STATUSES, 'disabled'] as const;
export type ConnectorStatus = (typeof CONNECTOR_STATUSES)[number];

export const CONNECTOR_UNHEALTHY = 'connector.unhealthy';
export const CONNECTOR_RECOVERED = 'connector.recovered';

/** A connector without its secrets, as callers may see it. */
export interface ConnectorRecord {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly priority: number;
  readonly config: Config;
  /** Which secrets are set, such as `secrets.token`. */
  readonly secretNames: readonly string[];
  /** Counts the changes of name, configuration and the rest. */
  readonly version: number;
  /** What the last check found, like the three fields after it; undefined before the first check. */
  readonly health?: CheckedStatus;
  readonly healthMessage?: string;
  readonly latencyMs?: number;
  readonly lastCheckedAt?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A connector with its secrets, which are still sealed. */
export interface SealedConnector extends ConnectorRecord {
  readonly sealed?: string;
}

export interface CheckResult {
  readonly status: CheckedStatus;
  readonly message: string;
  readonly latencyMs: number;
}

export const NOT_CHECKED = 'Not checked yet.';
export const DISABLED = 'It is disabled.';

/** A connector that was never checked is not claimed to be healthy. */
export function statusOf({
  enabled,
  health,
}: Pick<ConnectorRecord, 'enabled' | 'health'>): ConnectorStatus {
  return enabled ? (health ?? 'degraded') : 'disabled';
}
