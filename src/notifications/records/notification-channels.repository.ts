// SQL: an advisory lock, which TypeORM has no words for.
import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { Any, DataSource, IsNull, LessThanOrEqual } from 'typeorm';
import type { Config } from '../../targets/target-config.js';
import type { Severity } from '../../incidents/incident.js';
import { type Page, type PageRequest, sortWords, findOrder } from '../../platform/paging/page.js';
import { AdvisoryLock } from '../../platform/database/advisory-locks.js';
import type { Tx } from '../../platform/database/transactions.js';
import { nameKey } from '../channel-name.js';
import type { NotifiedEvent } from '../notification.js';
import type { ChannelIdentity, SealedChannel } from '../notification-channel.js';
import { DeliveryWritesRepository } from './delivery-writes.repository.js';
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

/** How long nothing is sent, and how long one at a time. */
interface Pause {
  readonly pauseMs: number;
  readonly oneByOneMs: number;
}

export const CHANNEL_SORTS = sortWords('created_at', 'name');
export type ChannelSort = (typeof CHANNEL_SORTS)[number];

const SORT_COLUMNS = { created_at: 'created_at', name: 'name' } as const;

const NOT_DELETED = { deleted_at: IsNull() };
const WORKS = { failures: 0, failing_since: null, last_error: null, unhealthy_since: null };
const AT_ONCE = { paused_until: null, one_by_one_until: null };

@Injectable()
export class NotificationChannelsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly deliveries: DeliveryWritesRepository,
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

  /** Deleted ones, too. */
  async all(): Promise<(ChannelIdentity & { readonly isDeleted: boolean })[]> {
    const channels = this.dataSource.getRepository(NotificationChannelEntity);
    const rows = await channels.find({
      select: { id: true, name: true, type: true, deleted_at: true },
    });
    return rows.map(({ id, name, type, deleted_at }) => {
      return { id, name, type, isDeleted: deleted_at !== null };
    });
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
      ...(isSame ? {} : { ...WORKS, ...AT_ONCE }),
      version: () => 'version + 1',
      updated_at: () => 'now()',
    });
    if (!isSame) await this.deliveries.tryNow(tx, before.id);
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

  async pause(tx: Tx, id: string, { pauseMs, oneByOneMs }: Pause): Promise<void> {
    // Two attempts that end together may ask for different pauses: the longer one counts.
    const later = (column: string, ms: string) =>
      `greatest(${column}, case when :${ms} > 0 then now() + :${ms} * interval '1 millisecond' end)`;
    await tx
      .createQueryBuilder()
      .update(NotificationChannelEntity)
      .set({
        paused_until: () => later('paused_until', 'pauseMs'),
        one_by_one_until: () => later('one_by_one_until', 'oneByOneMs'),
      })
      .where({ id })
      .setParameters({ pauseMs, oneByOneMs })
      .execute();
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
    // One that came through beside others that were too many does not end the pause that the receiver asked for.
    const paused_until = () => 'case when one_by_one_until > now() then paused_until end';
    const told = row.enabled ? { unhealthy_told_at: null } : {};
    await channels.update(id, { ...WORKS, ...told, paused_until });
    return channelOf(row);
  }

  /** The next delivery is tried at once. */
  async resume(tx: Tx, id: string): Promise<void> {
    await tx.getRepository(NotificationChannelEntity).update(id, { paused_until: null });
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
    deadLastDay: row.dead_last_day,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
