// SQL: a count that reads at most 1000 rows per channel.
import { Injectable } from '@nestjs/common';
import { Any, DataSource } from 'typeorm';
import type { Tx } from '../platform/database/transactions.js';
import { Work } from '../platform/work/work.js';
import { TargetRows } from '../targets/target-rows.js';
import { laneOf } from './delivery.entity.js';
import { NotificationChannelEntity, WORKING } from './notification-channel.entity.js';

const DEAD_LAST_DAY = `
  select channel.id, dead.n
    from unnest($1::uuid[]) as channel (id) cross join lateral (
      select count(*)::integer as n from (
        select from notification_deliveries
         where channel_id = channel.id and status = 'dead' and ended_at > now() - interval '1 day' limit 1000) as one) as dead`;

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

  async byIds(
    tx: Tx,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, NotificationChannelEntity>> {
    const rows = await this.rows(tx).findBy({ id: Any([...new Set(ids)]), ...this.notDeleted });
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Counts the deliveries of each channel that died in the last 24 hours, up to 1000. */
  async deadLastDay(ids: readonly string[], tx?: Tx): Promise<ReadonlyMap<string, number>> {
    const manager = tx ?? this.dataSource.manager;
    const rows = await manager.query<{ id: string; n: number }[]>(DEAD_LAST_DAY, [ids]);
    return new Map(rows.map(({ id, n }) => [id, n]));
  }

  /** Changes a locked channel. Failures of another configuration do not count, so waiting deliveries are sent at once. */
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
