import type { Config } from '../targets/target-config.js';
import type { Severity } from '../incidents/incident.js';
import type { NotifiedEvent } from './notification.js';

export const CHANNEL_STATUSES = ['healthy', 'degraded', 'unhealthy', 'disabled'] as const;
export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];

export interface ChannelIdentity {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

interface ChannelState extends ChannelIdentity {
  readonly enabled: boolean;
  readonly events: readonly NotifiedEvent[];
  readonly minSeverity: Severity;
  /** Of new incidents and of severities that are raised; undefined where `minSeverity` alone decides. */
  readonly newIncidentMinSeverity?: Severity;
  readonly config: Config;
  /** Which secrets are set, such as `secret`. */
  readonly secret_names: readonly string[];
  /** Until when the secret before the present one is valid; undefined when there is none. */
  readonly formerSecretUntil?: Date;
  /** Counts the changes that people make. */
  readonly version: number;
  /** Attempts that failed since the last delivery, but for those that only came too fast. */
  readonly failures: number;
  /** When the first attempt failed since the last delivery. */
  readonly failingSince?: Date;
  readonly lastError?: string;
  /** Nothing is tried before. */
  readonly pausedUntil?: Date;
  /** It has failed for so long that the other channels were told. */
  readonly unhealthySince?: Date;
  /** When the other channels were told that it fails; undefined when they were not, or were told that it works again. */
  readonly unhealthyToldAt?: Date;
  /** The receiver asked for one message at a time. */
  readonly isSlowedDown: boolean;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A channel without its secrets, as admins may see it. */
export interface ChannelRecord extends ChannelState {
  /** What was given up in the last 24 hours; a thousand stands for more. */
  readonly deadLastDay: number;
}

/** A channel with its secrets, which are still sealed. */
export interface SealedChannel extends ChannelState {
  readonly secrets: string | null;
  readonly formerSecret?: string;
}

export function channelStatusOf({
  enabled,
  failingSince,
  unhealthySince,
}: Pick<ChannelState, 'enabled' | 'failingSince' | 'unhealthySince'>): ChannelStatus {
  if (!enabled) return 'disabled';
  if (unhealthySince) return 'unhealthy';
  return failingSince ? 'degraded' : 'healthy';
}
