// SQL: an advisory lock, which TypeORM has no words for.
import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { Any, DataSource, IsNull, LessThanOrEqual } from 'typeorm';
import type { Config } from '../../targets/target-config.js';
import type { Severity } from '../../incidents/incident.js';
import { type Page, type PageRequest, sortWords, findOrder } from '../../platform/paging/page.js';
import { presentTime } from '../../platform/clock.js';
import { AdvisoryLock } from '../../platform/database/advisory-locks.js';
import type { Tx } from '../../platform/database/transactions.js';
import { Work } from '../../platform/work/work.js';
import { nameKey } from '../channel-name.js';
import type { NotifiedEvent } from '../notification.js';
import type { SealedChannel } from '../notification-channel.js';
import { laneOf } from './delivery-rows.js';
import { NotificationChannelEntity } from './notification-channel.entity.js';

/** What a caller decides about a channel. */
export interface ChannelContent {
  readonly name: string;
  readonly enabled: boolean;
  readonly events: readonly NotifiedEvent[];
  readonly minSeverity: Severity;
  readonly newIncidentMinSeverity: Severity | undefined;
  readonly config: Config;
  readonly secrets: string | null;
  readonly secret_names: readonly string[];
  readonly formerSecret: string | undefined;
  readonly formerSecretUntil: Date | undefined;
}

export const CHANNEL_SORTS = sortWords('created_at', 'name');
export type ChannelSort = (typeof CHANNEL_SORTS)[number];

const SORT_COLUMNS = { created_at: 'created_at', name: 'name' } as const;

const DEAD_LAST_DAY = `
  select channel.id, dead.n
    from unnest($1::uuid[]) as channel (id) cross join lateral (
      select count(*)::integer as n from (
        select from notification_deliveries
         where channel_id = channel.id and status = 'dead' and ended_at > now() - interval '1 day' limit 1000) as one) as dead`;

const NOT_DELETED = { deleted_at: IsNull() };
const WORKS = { failures: 0, failing_since: null, last_error: null, unhealthy_since: null };

@Injectable()
export class NotificationChannelsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly work: Work,
  ) {}

  async list(request: PageRequest, sort: readonly ChannelSort[]): Promise<Page<SealedChannel>> {
    const channels = this.dataSource.getRepository(NotificationChannelEntity);
    const [rows, total] = await channels.findAndCount({
      where: NOT_DELETED,
      order: findOrder(sort, SORT_COLUMNS, 'id'),
      take: request.per_page,
      skip: (request.page - 1) * request.per_page,
    });
    return { items: rows.map(channelOf), total };
  }

  async enabled(): Promise<SealedChannel[]> {
    const channels = this.dataSource.getRepository(NotificationChannelEntity);
    return (await channels.find({ where: { enabled: true }, order: { name: 'asc' } })).map(
      channelOf,
    );
  }

  async findById(id: string): Promise<SealedChannel | undefined> {
    const channels = this.dataSource.getRepository(NotificationChannelEntity);
    const row = await channels.findOneBy({ id, ...NOT_DELETED });
    return row ? channelOf(row) : undefined;
  }

  async byIds(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, SealedChannel>> {
    const channels = tx.getRepository(NotificationChannelEntity);
    const rows = await channels.findBy({ id: Any([...new Set(ids)]), ...NOT_DELETED });
    return new Map(rows.map((row) => [row.id, channelOf(row)]));
  }

  /** Counts for each channel what was given up in the last 24 hours; a thousand stands for more. */
  async deadLastDay(ids: readonly string[], tx?: Tx): Promise<ReadonlyMap<string, number>> {
    const manager = tx ?? this.dataSource.manager;
    const rows = await manager.query<{ id: string; n: number }[]>(DEAD_LAST_DAY, [ids]);
    return new Map(rows.map(({ id, n }) => [id, n]));
  }

  /** How many there are. Whoever else asks waits for the end of the transaction, so that two never make the last one. */
  async countAlone(tx: Tx): Promise<number> {
    await tx.query(`select pg_advisory_xact_lock(${AdvisoryLock.NotificationChannelCount})`);
    return await tx.getRepository(NotificationChannelEntity).countBy(NOT_DELETED);
  }

  async lockById(tx: Tx, id: string): Promise<SealedChannel | undefined> {
    const row = await tx.getRepository(NotificationChannelEntity).findOne({
      where: { id, ...NOT_DELETED },
      lock: { mode: 'pessimistic_write' },
    });
    return row ? channelOf(row) : undefined;
  }

  async insert(
    tx: Tx,
    { id, type, by }: { readonly id: string; readonly type: string; readonly by: string },
    content: ChannelContent,
  ): Promise<SealedChannel> {
    const channels = tx.getRepository(NotificationChannelEntity);
    await channels.insert({ id, type, created_by: by, ...columnsOf(content) });
    return await this.read(tx, id);
  }

  /**
   * Changes a channel that is locked. What went wrong with another configuration says nothing about this one, so what waits
   * after it is tried at once.
   */
  async update(tx: Tx, before: SealedChannel, content: ChannelContent): Promise<SealedChannel> {
    const isSame =
      before.secrets === content.secrets &&
      before.enabled === content.enabled &&
      isDeepStrictEqual(before.config, content.config);
    await tx.getRepository(NotificationChannelEntity).update(before.id, {
      ...columnsOf(content),
      ...(isSame ? {} : WORKS),
      version: () => 'version + 1',
      updated_at: () => 'now()',
    });
    if (!isSame) {
      await this.work.resumeLane(tx, laneOf(before.id), true);
      await this.work.hurryLane(tx, laneOf(before.id));
    }
    return await this.read(tx, before.id);
  }

  /** The row stays, for its deliveries, but its configuration goes: an address may hold a secret, too. */
  async markDeleted(tx: Tx, id: string): Promise<void> {
    await tx.getRepository(NotificationChannelEntity).update(id, {
      deleted_at: () => 'now()',
      enabled: false,
      config: {},
      secrets: null,
      secret_names: [],
      former_secret: null,
      former_secret_until: null,
    });
  }

  /**
   * Returns the channel with the failure, or `undefined` if it is deleted.
   *
   * @param earlier failures in a row before the attempt began. Failures of attempts that run at the same time count once.
   * Without it, each failure counts.
   */
  async noteFailure(
    tx: Tx,
    id: string,
    error: string,
    earlier?: number,
  ): Promise<SealedChannel | undefined> {
    const { affected } = await tx.getRepository(NotificationChannelEntity).update(
      { id, ...NOT_DELETED },
      {
        failures: () =>
          earlier === undefined ? 'failures + 1' : `greatest(failures, ${earlier} + 1)`,
        failing_since: () => 'coalesce(failing_since, now())',
        last_error: error,
      },
    );
    return affected ? await this.read(tx, id) : undefined;
  }

  /** Those that have failed since then and something waits for, and nobody was told so. */
  async lockFailingSince(tx: Tx, before: Date): Promise<SealedChannel[]> {
    const rows = await tx
      .createQueryBuilder(NotificationChannelEntity, 'channel')
      .where({ enabled: true, unhealthy_since: IsNull(), failing_since: LessThanOrEqual(before) })
      .andWhere(
        `exists (select from notification_deliveries where channel_id = channel.id and status = 'pending')`,
      )
      .setLock('pessimistic_write')
      .getMany();
    return rows.map(channelOf);
  }

  async markUnhealthy(tx: Tx, id: string): Promise<void> {
    const channels = tx.getRepository(NotificationChannelEntity);
    await channels.update(id, {
      unhealthy_since: () => 'now()',
      unhealthy_told_at: () => 'coalesce(unhealthy_told_at, now())',
    });
  }

  /** It delivers. Answers how it was before; undefined when it was well. If it is disabled, the others are told only after it is enabled. */
  async markWorking(tx: Tx, id: string): Promise<SealedChannel | undefined> {
    const channels = tx.getRepository(NotificationChannelEntity);
    const row = await channels.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
    if (!row || (row.failing_since === null && row.unhealthy_told_at === null)) return undefined;
    const told = row.enabled ? { unhealthy_told_at: null } : {};
    await channels.update(id, { ...WORKS, ...told });
    return channelOf(row);
  }

  private async read(tx: Tx, id: string): Promise<SealedChannel> {
    return channelOf(await tx.getRepository(NotificationChannelEntity).findOneByOrFail({ id }));
  }
}

function columnsOf(content: ChannelContent) {
  return {
    name: content.name,
    name_key: nameKey(content.name),
    enabled: content.enabled,
    events: [...content.events],
    min_severity: content.minSeverity,
    new_incident_min_severity: content.newIncidentMinSeverity ?? null,
    config: content.config,
    secrets: content.secrets,
    secret_names: [...content.secret_names],
    former_secret: content.formerSecret ?? null,
    former_secret_until: content.formerSecretUntil ?? null,
  };
}

function channelOf(row: NotificationChannelEntity): SealedChannel {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    enabled: row.enabled,
    events: row.events,
    minSeverity: row.min_severity,
    newIncidentMinSeverity: row.new_incident_min_severity ?? undefined,
    config: row.config,
    secrets: row.secrets,
    secret_names: row.secret_names,
    formerSecret: row.former_secret ?? undefined,
    formerSecretUntil: row.former_secret_until ?? undefined,
    version: row.version,
    failures: row.failures,
    failingSince: row.failing_since ?? undefined,
    lastError: row.last_error ?? undefined,
    pausedUntil: row.paused_until ?? undefined,
    unhealthySince: row.unhealthy_since ?? undefined,
    unhealthyToldAt: row.unhealthy_told_at ?? undefined,
    // A number is infinity: it lasts until the channel works.
    isSlowedDown: row.narrow_until instanceof Date && row.narrow_until > new Date(presentTime()),
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
