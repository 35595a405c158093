import { Injectable } from '@nestjs/common';
import { join } from 'node:path';
import { Any, Column, Entity, VirtualColumn } from 'typeorm';
import { SEVERITIES, type Severity } from '../incidents/incident.js';
import { presentTime } from '../platform/clock.js';
import type { Tx } from '../platform/database/transactions.js';
import type { SealedColumn } from '../platform/secrets/secret-keys.js';
import { Choice, Choices, Instant, Text, WholeNumber } from '../platform/validation/fields.js';
import { TypesByName } from '../targets/target-check.js';
import { sealedSecretsOf, TargetRow, TargetRows } from '../targets/target-rows.js';
import type { Audience, ChannelType } from './channel-type.js';
import { UNHEALTHY_AFTER_MS } from './delivery.js';
import { NOTIFIED_EVENTS, type NotifiedEvent } from './notification.js';

export const CHANNEL_TYPES = new TypesByName<ChannelType>(join(__dirname, 'types'));

const laneColumn = (column: string) => (channel: string) =>
  `select ${column} from work_lanes where lane = 'notification.' || ${channel}.id`;

@Entity('notification_channels')
export class ChannelEntity extends TargetRow {
  @Column({ type: 'text' })
  readonly audience: Audience;

  @Choices('NotifiedEvent', NOTIFIED_EVENTS, {
    maxItems: NOTIFIED_EVENTS.length,
    description:
      'Events that are sent to the channel. Default: every event for type webhook, and for other types the events that need a person (see docs/notifications.md). Failures and recoveries of other channels are always sent.',
  })
  @Column({ type: 'text', array: true })
  readonly events: NotifiedEvent[];

  @Choice('Severity', SEVERITIES, {
    description:
      'Minimum severity of the incident. Later events of an incident that the channel was already notified about are sent at any severity. Events without an incident are always sent.',
  })
  @Column({ type: 'text' })
  readonly min_severity: Severity;

  @Choice('Severity', SEVERITIES, {
    optional: true,
    description:
      'Minimum severity for `incident.created` and `incident.severity_changed`; the latter is then sent for raised severities only. Default without `events`, for the types that people read: `min_severity`, or high.',
  })
  @Column({ type: 'text', nullable: true })
  readonly new_incident_min_severity: Severity | null;

  @Column({ type: 'text', nullable: true })
  readonly former_secret: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly former_secret_until: Date | null;

  /** Failures since the last success. Concurrent failures count once, and requests for a lower rate do not count. */
  @Column({ type: 'integer', default: 0 })
  readonly failures: number;

  @Instant({ optional: true, description: 'First failure since the last success.' })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly failing_since: Date | null;

  @Text({ optional: true, description: 'Reason of the last failure.' })
  @Column({ type: 'text', nullable: true })
  readonly last_error: string | null;

  @Instant({ optional: true, description: 'End of the pause, in which nothing is sent.' })
  @VirtualColumn({ type: 'timestamptz', query: laneColumn('paused_until') })
  readonly paused_until: Date | null;

  /** End of sending one by one. Infinity if the channel fails; a date if the receiver requested a lower rate. */
  @VirtualColumn({ type: 'timestamptz', query: laneColumn('narrow_until') })
  readonly narrow_until: Date | number | null;

  @WholeNumber({
    min: 0,
    max: 1_000,
    description: 'Deliveries that died in the last 24 h, at most 1000.',
  })
  @VirtualColumn({
    type: 'integer',
    query: (channel) =>
      `select count(*)::integer from (
         select from notification_deliveries
          where channel_id = ${channel}.id and status = 'dead' and ended_at > now() - interval '1 day' limit 1000) as dead`,
  })
  readonly dead_last_day: number;

  @Text({ description: 'Principal that created the channel.' })
  @Column({ type: 'text' })
  readonly created_by: string;
}

export const CHANNEL_STATUSES = ['healthy', 'degraded', 'unhealthy', 'disabled'] as const;
export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];

export function channelStatusOf(channel: ChannelEntity): ChannelStatus {
  const { enabled, failing_since, unhealthy_reported_at } = channel;
  if (!enabled) return 'disabled';
  if (!failing_since) return 'healthy';
  // `unhealthy_reported_at` alone is not enough, because it may be about failures of an earlier configuration.
  const isLong = failing_since.getTime() <= presentTime() - UNHEALTHY_AFTER_MS;
  return unhealthy_reported_at && isLong ? 'unhealthy' : 'degraded';
}

export const WORKING = { failures: 0, failing_since: null, last_error: null };

/** Time for which the previous secret stays valid, so that the receiver can be reconfigured. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;
const contextOfFormer = (id: string) => `notification_channel:${id}:former`;

export const NO_FORMER_SECRET = { former_secret: null, former_secret_until: null };

@Injectable()
export class ChannelsRepository extends TargetRows<ChannelEntity> {
  protected readonly entity = ChannelEntity;
  readonly subject = 'notification_channel';
  protected override readonly alsoEmpty = NO_FORMER_SECRET;

  async enabled(): Promise<ChannelEntity[]> {
    return await this.rows().find({ where: { enabled: true }, order: { name: 'asc' } });
  }

  /** Does not read `dead_last_day`, because that column counts deliveries, and this method runs in each attempt. */
  async byIds(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, ChannelEntity>> {
    const { columns } = this.dataSource.getMetadata(ChannelEntity);
    const all = Object.fromEntries(columns.map(({ propertyName }) => [propertyName, true]));
    const rows = await this.rows(tx).find({
      where: { id: Any([...new Set(ids)]), ...this.notDeleted },
      select: { ...all, dead_last_day: false },
    });
    return new Map(rows.map((row) => [row.id, row]));
  }

  sealFormer(id: string, secret: string) {
    return {
      former_secret: this.box.seal(secret, contextOfFormer(id)),
      former_secret_until: new Date(presentTime() + OVERLAP_MS),
    };
  }

  openFormer({ id, former_secret, former_secret_until: until }: ChannelEntity) {
    if (!former_secret || !until || until.getTime() <= presentTime()) return undefined;
    return this.box.open(former_secret, contextOfFormer(id));
  }
}

export const CHANNEL_SECRETS: readonly SealedColumn[] = [
  sealedSecretsOf('notification_channels', 'notification_channel'),
  {
    table: 'notification_channels',
    column: 'former_secret',
    id: ['id'],
    where: 'former_secret is not null',
    context: ({ id }) => contextOfFormer(id!),
  },
];
