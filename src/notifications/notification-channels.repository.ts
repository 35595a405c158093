import { Injectable } from '@nestjs/common';
import { join } from 'node:path';
import { Any, DataSource } from 'typeorm';
import type { Tx } from '../platform/database/transactions.js';
import type { SealedColumn } from '../platform/secrets/sealed-values.js';
import { TypesByName } from '../targets/target-check.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import { sealedSecretsOf, TargetRows } from '../targets/target-rows.js';
import type { ChannelType } from './channel-type.js';
import { NotificationChannelEntity } from './notification-channel.entity.js';

export const CHANNEL_TYPES = new TypesByName<ChannelType>(join(__dirname, 'types'));

/** Validity of the previous secret, in which the receiver can be reconfigured. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;
const contextOfFormer = (id: string) => `notification_channel:${id}:former`;

type FormerSecret = Pick<NotificationChannelEntity, 'former_secret' | 'former_secret_until'>;
export const NO_FORMER_SECRET: FormerSecret = { former_secret: null, former_secret_until: null };

@Injectable()
export class NotificationChannelsRepository extends TargetRows<NotificationChannelEntity> {
  protected readonly entity = NotificationChannelEntity;
  readonly subject = 'notification_channel';
  protected override readonly alsoEmpty = NO_FORMER_SECRET;

  constructor(
    protected readonly dataSource: DataSource,
    protected readonly box: SecretBox,
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

  sealFormer(id: string, secret: string, now: Date): FormerSecret {
    return {
      former_secret: this.box.seal(secret, contextOfFormer(id)),
      former_secret_until: new Date(now.getTime() + OVERLAP_MS),
    };
  }

  openFormer(channel: NotificationChannelEntity, now: Date): string | undefined {
    const { id, former_secret, former_secret_until: until } = channel;
    if (!former_secret || !until || until <= now) return undefined;
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
