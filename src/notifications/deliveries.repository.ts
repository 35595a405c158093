// SQL: a list is one statement with its exact total, and the work of deliveries changes with them.
import { Injectable } from '@nestjs/common';
import {
  byId,
  choiceOf,
  countOf,
  idsInOrder,
  isChosen,
  listStatement,
  pageOf,
  StatementValues,
  type WithTotal,
} from '../platform/counting/counted-list.sql.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import { Work } from '../platform/work/work.js';
import { NO_HOLDERS } from './delivery-claims.repository.js';
import {
  type Delivery,
  DELIVERY_STATUSES,
  deliveryColumns,
  type DeliveryStatus,
  NOTIFICATION,
  workOf,
} from './delivery.entity.js';

export interface DeliveryListRequest extends PageRequest {
  readonly channelId: string;
  readonly status?: readonly DeliveryStatus[];
  readonly sort: 'created_at' | '-created_at';
}

/** Maximum deliveries per redelivery. Limits the time for which a transaction holds its locks. */
export const MAX_REDELIVERED = 10_000;

const TABLE = 'notification_deliveries';

const WAITING: Statement = {
  name: 'notification_deliveries_waiting',
  text: `
    select greatest(0, ${countOf('notification_delivery', [`status = 'pending'`, `channel_id in (select id from notification_channels where enabled)`])})::integer as n`,
};

const ANEW = `status = 'pending', ended_at = null, attempts = 0, expires_at = now() + interval '1 day',
           group_key = null, held_until = null, ${NO_HOLDERS}`;

/** Also reopens the carried deliveries, so that the message stays the same. Without group key, no further delivery is added. */
const REOPEN: Statement = {
  name: 'notification_deliveries_reopen',
  text: `
    with carrier as (
      update notification_deliveries delivery set ${ANEW}, carried_by = null
       where channel_id = $1 and id = $2 returning *),
    carried as (update notification_deliveries set ${ANEW} where carried_by in (select id from carrier)),
    waits_short as (
      update work set attempts = 0 where kind = '${NOTIFICATION.name}' and ref in (select id from carrier) and worker is null)
    select ${deliveryColumns('carrier')} from carrier`,
};

const REOPEN_DEAD: Statement = {
  name: 'notification_deliveries_reopen_dead',
  text: `
    update notification_deliveries delivery
       set ${ANEW}, carried_by = null
     where id = any(array(
       select id from notification_deliveries
        where channel_id = $1 and status = 'dead' and ended_at >= $2
        order by ended_at limit $3 for update))
    returning ${deliveryColumns('delivery')}`,
};

const LATE = 'It expired after 24 hours, while the channel was paused, disabled or deleted.';

/** Deliveries that expired without a claim, because their channel was disabled, deleted or paused. */
const EXPIRE: Statement = {
  name: 'notification_deliveries_expire',
  text: `
    with late as (
      update notification_deliveries delivery
         set status = 'dead', ended_at = now(), last_error = '${LATE}', ${NO_HOLDERS},
             attempts = coalesce((select attempts from work where kind = '${NOTIFICATION.name}' and ref = delivery.id), attempts)
       where id = any(array(
         select waiting.id
           from notification_channels channel
          cross join lateral (
            select id from notification_deliveries late
             where channel_id = channel.id and status = 'pending'
               and expires_at <= now() - interval '30 minutes'
               and not exists (
                 select from work where kind = '${NOTIFICATION.name}' and ref = late.id and worker is not null and not ready)
             order by id limit $1 for update skip locked) as waiting
          limit $1))
      returning id, channel_id)
    select late.id, channel.name, channel.type
      from late left join notification_channels channel on channel.id = late.channel_id and channel.deleted_at is null`,
};

const PRUNE: Statement = {
  name: 'notification_deliveries_prune',
  text: `
    delete from notification_deliveries
     where id = any(array(
       select id from notification_deliveries where id < $1 and status <> 'pending' order by id limit $2))
    returning 1`,
};

/** Name and type of the channel of an expired delivery; null if the channel is deleted. */
interface ExpiredDelivery {
  readonly id: string;
  readonly name: string | null;
  readonly type: string | null;
}

/** Reads and changes deliveries that are not claimed. */
@Injectable()
export class DeliveriesRepository {
  constructor(
    private readonly statements: Statements,
    private readonly work: Work,
  ) {}

  /** Lists deliveries. An index has the ids of each status in order, and a list of several statuses merges them. */
  async list(request: DeliveryListRequest): Promise<Page<Delivery>> {
    const { channelId, status: statuses = DELIVERY_STATUSES, sort, page, per_page } = request;
    const values = new StatementValues();
    const ofChannel = `channel_id = ${values.add(channelId, 'uuid')}`;
    const chosen = choiceOf(statuses, 'text', values)!;
    const direction = sort === '-created_at' ? 'desc' : 'asc';
    const offset = (page - 1) * per_page;
    const ranges = chosen.each.map((status) => [ofChannel, `status = ${status}`]);
    const first = idsInOrder(TABLE, ranges, direction, offset + per_page);
    const text = listStatement({
      total: countOf('notification_delivery', [ofChannel, isChosen('status', chosen)]),
      ids: `
    select id from (${first}) as candidate order by id ${direction}
    offset ${values.add(offset, 'bigint')} limit ${per_page}`,
      columns: deliveryColumns(TABLE),
      table: TABLE,
      order: byId(direction),
    });
    const rows = await this.statements.rows<Delivery & WithTotal>({ name: '', text }, [
      ...values.all,
    ]);
    return pageOf(rows, (row) => row);
  }

  async waiting(): Promise<number> {
    return (await this.statements.rows<{ n: number }>(WAITING))[0]!.n;
  }

  async reopen(tx: Tx, channelId: string, id: string): Promise<Delivery | undefined> {
    const [row] = await this.statements.rowsIn<Delivery>(tx, REOPEN, [channelId, id]);
    if (!row) return undefined;
    await this.work.add(tx, NOTIFICATION, workOf(row));
    return { ...row, attempts: 0 };
  }

  /** Makes dead deliveries pending again, in the order of their insertion. Returns their number. */
  async reopenDead(tx: Tx, channelId: string, since: Date): Promise<number> {
    const values = [channelId, since, MAX_REDELIVERED];
    const rows = await this.statements.rowsIn<Delivery>(tx, REOPEN_DEAD, values);
    rows.sort((one, other) => Number(one.position) - Number(other.position));
    await this.work.add(tx, NOTIFICATION, ...rows.map(workOf));
    return rows.length;
  }

  async expire(tx: Tx, most: number): Promise<ExpiredDelivery[]> {
    const rows = await this.statements.rowsIn<ExpiredDelivery>(tx, EXPIRE, [most]);
    const ids = rows.map(({ id }) => id);
    await this.work.cancel(tx, NOTIFICATION, ids);
    return rows;
  }

  async prune(before: string, most: number): Promise<number> {
    return (await this.statements.rows(PRUNE, [before, most])).length;
  }
}

/**
 * Ends the pending deliveries of a restored backup without sending them, because people may have read them already. They can be
 * redelivered. Returns the number of ended deliveries.
 */
export async function endDeliveriesOfBackup(tx: Tx): Promise<number> {
  const [, unsent] = await tx.query<[unknown, number]>(
    `update notification_deliveries
        set status = 'dead', ended_at = now(), last_error = 'Not sent: the database was restored from a backup.'
      where status = 'pending'`,
  );
  await tx.query('delete from work where kind = $1', [NOTIFICATION.name]);
  return unsent;
}

/** Disables all channels, so that a drill on another machine sends no notification. */
export async function disableChannels(tx: Tx): Promise<number> {
  const [, disabled] = await tx.query<[unknown, number]>(
    `update notification_channels set enabled = false, version = version + 1 where enabled`,
  );
  return disabled;
}
