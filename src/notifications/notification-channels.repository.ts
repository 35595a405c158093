import { Injectable } from '@nestjs/common';
import { join } from 'node:path';
import { Any, DataSource } from 'typeorm';
import type { Tx } from '../platform/database/transactions.js';
import type { SealedColumn } from '../platform/secrets/sealed-values.js';
import { Work } from '../platform/work/work.js';
import { TypesByName } from '../targets/target-check.js';
import { TargetRows } from '../targets/target-rows.js';
import { SealedConfig, sealedSecretsOf } from '../targets/target-secrets.js';
import type { ChannelType } from './channel-type.js';
import { laneOf } from './delivery.entity.js';
import { NotificationChannelEntity, WORKING } from './notification-channel.entity.js';

export const CHANNEL_TYPES = new TypesByName<ChannelType>(join(__dirname, 'types'));

@Injectable()
export class NotificationChannelsRepository extends TargetRows<NotificationChannelEntity> {
  protected readonly entity = NotificationChannelEntity;
  protected readonly noun = 'Notification channel';

  constructor(
    protected readonly dataSource: DataSource,
    private readonly work: Work,
  ) {
    super();
  }

  async enabled(): Promise<NotificationChannelEntity[]> {
    return await this.rows().find({ where: { enabled: true }, order: { name: 'asc' } });
  }

  /** Does not read `dead_last_day`, because each attempt would count deliveries. */
  async byIds(
    tx: Tx,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, NotificationChannelEntity>> {
    const { columns } = this.dataSource.getMetadata(NotificationChannelEntity);
    const all = Object.fromEntries(columns.map(({ propertyName }) => [propertyName, true]));
    const rows = await this.rows(tx).find({
      where: { id: Any([...new Set(ids)]), ...this.notDeleted },
      select: { ...all, dead_last_day: false },
    });
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Changes a locked channel. Failures of the earlier configuration do not count, so waiting deliveries are sent immediately. */
  async update(
    tx: Tx,
    before: NotificationChannelEntity,
    content: Partial<NotificationChannelEntity> & Pick<NotificationChannelEntity, 'name'>,
  ): Promise<NotificationChannelEntity> {
    const { id } = before;
    const isSame = before.enabled === content.enabled && before.config === content.config;
    if (!isSame) {
      await this.work.resumeLane(tx, laneOf(id), true);
      await this.work.hurryLane(tx, laneOf(id));
    }
    return await this.change(tx, id, { ...content, ...(!isSame && WORKING) });
  }
}

/** Validity of the previous secret, in which the receiver can be reconfigured. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

type Channel<Name extends keyof NotificationChannelEntity> = Pick<NotificationChannelEntity, Name>;
export type FormerSecret = Channel<'former_secret' | 'former_secret_until'>;

const OWNER = 'notification_channel';
const contextOfFormer = (id: string) => `${OWNER}:${id}:former`;

@Injectable()
export class SealedChannels extends SealedConfig {
  protected override readonly owner = OWNER;

  sealFormer(id: string, secret: string, now: Date): FormerSecret {
    return {
      former_secret: this.box.seal(secret, contextOfFormer(id)),
      former_secret_until: new Date(now.getTime() + OVERLAP_MS),
    };
  }

  /** Returns `undefined` if the channel has no previous secret, or if it has expired. */
  openFormer({ id, ...channel }: FormerSecret & Channel<'id'>, now: Date): string | undefined {
    const { former_secret, former_secret_until } = channel;
    if (!former_secret || !former_secret_until || former_secret_until <= now) return undefined;
    return this.box.open(former_secret, contextOfFormer(id));
  }
}

export const CHANNEL_SECRETS: readonly SealedColumn[] = [
  sealedSecretsOf('notification_channels', OWNER),
  {
    table: 'notification_channels',
    column: 'former_secret',
    id: ['id'],
    where: 'former_secret is not null',
    context: ({ id }) => contextOfFormer(id!),
  },
];
