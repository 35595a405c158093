// SQL: an advisory lock, and a count that reads at most 1000 rows per channel.
import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { Any, DataSource, IsNull, LessThanOrEqual } from 'typeorm';
import { AdvisoryLock } from '../platform/database/advisory-locks.js';
import type { Tx } from '../platform/database/transactions.js';
import { Work } from '../platform/work/work.js';
import { TargetRows } from '../targets/target-rows.js';
import { laneOf } from './delivery.entity.js';
import { NotificationChannelEntity } from './notification-channel.entity.js';

const DEAD_LAST_DAY = `
  select channel.id, dead.n
    from unnest($1::uuid[]) as channel (id) cross join lateral (
      select count(*)::integer as n from (
        select from notification_deliveries
         where channel_id = channel.id and status = 'dead' and ended_at > now() - interval '1 day' limit 1000) as one) as dead`;

const WORKS = { failures: 0, failing_since: null, last_error: null, unhealthy_since: null };

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

  /** Returns the number of channels. Other callers wait until the transaction ends, so that the limit is never exceeded. */
  async countAlone(tx: Tx): Promise<number> {
    await tx.query(`select pg_advisory_xact_lock(${AdvisoryLock.NotificationChannelCount})`);
    return await this.rows(tx).countBy(this.notDeleted);
  }

  /** Changes a locked channel. Failures of another configuration do not count, so waiting deliveries are sent at once. */
  async update(
    tx: Tx,
    before: NotificationChannelEntity,
    content: Partial<NotificationChannelEntity> & Pick<NotificationChannelEntity, 'name'>,
  ): Promise<NotificationChannelEntity> {
    const { id } = before;
    const isSame =
      before.secrets === content.secrets &&
      before.enabled === content.enabled &&
      isDeepStrictEqual(before.config, content.config);
    if (!isSame) {
      await this.work.resumeLane(tx, laneOf(id), true);
      await this.work.hurryLane(tx, laneOf(id));
    }
    return await this.change(tx, id, { ...content, ...(isSame ? {} : WORKS) });
  }

  /**
   * Returns the channel with the failure, or null if it is deleted.
   *
   * @param earlier failures in a row before the attempt began. Failures of attempts that run at the same time count once.
   * Without it, each failure counts.
   */
  async noteFailure(
    tx: Tx,
    id: string,
    error: string,
    earlier?: number,
  ): Promise<NotificationChannelEntity | null> {
    const where = { id, ...this.notDeleted };
    await this.rows(tx).update(where, {
      failures: () =>
        earlier === undefined ? 'failures + 1' : `greatest(failures, ${earlier} + 1)`,
      failing_since: () => 'coalesce(failing_since, now())',
      last_error: error,
    });
    return await this.rows(tx).findOneBy(where);
  }

  /** Locks channels that have failed since the given time, have waiting deliveries and are not yet marked as unhealthy. */
  async lockFailingSince(tx: Tx, before: Date): Promise<NotificationChannelEntity[]> {
    return await tx
      .createQueryBuilder(NotificationChannelEntity, 'channel')
      .where({ enabled: true, unhealthy_since: IsNull(), failing_since: LessThanOrEqual(before) })
      .andWhere(
        `exists (select from notification_deliveries where channel_id = channel.id and status = 'pending')`,
      )
      .setLock('pessimistic_write')
      .getMany();
  }

  async markUnhealthy(tx: Tx, id: string): Promise<void> {
    await this.rows(tx).update(id, {
      unhealthy_since: () => 'now()',
      unhealthy_reported_at: () => 'coalesce(unhealthy_reported_at, now())',
    });
  }

  /**
   * Removes the failures of a channel that delivers. Returns the channel before, or undefined if it had no failures. The
   * recovery of a disabled channel is reported only after it is enabled.
   */
  async markWorking(tx: Tx, id: string): Promise<NotificationChannelEntity | undefined> {
    const row = await this.rows(tx).findOne({
      where: { id },
      lock: { mode: 'pessimistic_write' },
    });
    if (!row || (row.failing_since === null && row.unhealthy_reported_at === null))
      return undefined;
    const told = row.enabled ? { unhealthy_reported_at: null } : {};
    await this.rows(tx).update(id, { ...WORKS, ...told });
    return row;
  }
}
