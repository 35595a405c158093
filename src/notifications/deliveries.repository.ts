// SQL: claims of work in the same statements, many rows in one statement, and lists with their exact total.
import { Injectable } from '@nestjs/common';
import { BY_ID, countedList, countOf, readPage } from '../platform/counting/counted-list.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import { shownStart } from '../platform/text.js';
import type { Claimed } from '../platform/work/kind.js';
import { Work } from '../platform/work/work.js';
import {
  type Delivery,
  type DeliveryStatus,
  type Ending,
  MAX_ERROR,
  MAX_REDELIVERED,
  NOTIFICATION,
  type Outcome,
  workOf,
} from './delivery.js';

export interface DeliveryListRequest extends PageRequest {
  readonly channelId: string;
  readonly status?: readonly DeliveryStatus[];
  readonly sort: 'created_at' | '-created_at';
}

interface LoadedDelivery extends Delivery {
  readonly left_ms: number;
  readonly has_carried: boolean;
}

/** Message of a delivery. A summary message also contains the `carried` deliveries. */
export interface FoldedDelivery {
  readonly delivery: Delivery & Pick<LoadedDelivery, 'left_ms'>;
  readonly carried: readonly Delivery[];
}

export interface EndedAttempt extends FoldedDelivery {
  readonly outcome: Outcome;
  readonly ending: Ending;
}

const statement =
  (name: string) =>
  (text: TemplateStringsArray, ...values: readonly unknown[]): Statement => ({
    name: `notification_deliveries_${name}`,
    text: String.raw(text, ...values),
  });

/**
 * Columns of a Delivery. If two columns have the same name, the later column wins. So `attempts` are those of the work.
 */
const deliveryColumns = (row: string): string => {
  const ofWork = (expression: string) =>
    `(select ${expression} from work where kind = '${NOTIFICATION.name}' and ref = ${row}.id)`;
  const dueAt = `case when due_at < 'infinity' and (ready or worker is null) then due_at end`;
  return `${row}.*, coalesce(${ofWork('attempts')}, ${row}.attempts) as attempts,
           coalesce(${ofWork(dueAt)}, ${row}.occurred_at) as next_attempt_at`;
};

const MAX_CARRIED = 500;
/**
 * Maximum waiting deliveries that are read to build a summary message, so that many deliveries do not delay each
 * message.
 */
const MAX_CANDIDATES = 2_000;
const COLUMNS = deliveryColumns('delivery');

const LOAD = statement('load')`
    with claimed as materialized (
      select id, ref from work
       where id = any($1::bigint[]) and worker is not null and not ready
         and fence = ($2::integer[])[array_position($1::bigint[], id)]
       order by id for no key update)
    select ${COLUMNS}, (extract(epoch from expires_at - now()) * 1000)::float8 as left_ms,
           exists (select from notification_deliveries other where other.carried_by = delivery.id) as has_carried
      from claimed
     cross join lateral (
       select * from notification_deliveries where id = claimed.ref offset 0) as delivery
     where status = 'pending' and carried_by is null`;

const canJoin = (row: string): string => `${row}.carried_by is null and ${row}.attempts = 0`;
const isFree = (work: string): string =>
  `(${work}.worker is null or ${work}.ref = any($2::uuid[]))`;

/**
 * Adds waiting deliveries to the message of another delivery, the `carrier`. A carrier about a new incident takes other
 * new incidents of its source (if critical, of its group). Any other carrier takes deliveries of its group. Only the
 * first attempt adds deliveries, so that each attempt sends the same message. If an earlier delivery about the same
 * incident is waiting, a delivery is added only together with it. Carried deliveries keep their work, so that later
 * events wait. Pagers and programs get each event.
 */
const FOLD = statement('fold')`
    with candidate as materialized (
      select waiting.id
        from notification_deliveries carrier
       cross join lateral (
         select * from notification_deliveries pending
          where channel_id = carrier.channel_id and status = 'pending' and type = carrier.type
            and ${canJoin('pending')} and group_key is not null and id <> carrier.id
            and case when carrier.type = 'incident.created'
                then (urgency = 1) = (carrier.urgency = 1) and payload ->> 'source' = carrier.payload ->> 'source'
                  and (carrier.urgency > 1 or group_key = carrier.group_key)
                else group_key = carrier.group_key end
          order by id limit ${MAX_CANDIDATES}) as alike
       cross join lateral (
         select id, line from work
          where kind = '${NOTIFICATION.name}' and ref = alike.id and ${isFree('work')} limit 1) as waiting
       where carrier.id = $1 and carrier.group_key is not null and carrier.attempts = 0
         and exists (select from notification_channels where id = carrier.channel_id and audience = 'people')
         -- A scalar subquery with the order of an index: a join may read all work for each candidate.
         and (select earlier.id from work earlier
                join notification_deliveries other on other.id = earlier.ref
               where earlier.kind = '${NOTIFICATION.name}' and earlier.line between waiting.line and waiting.line
                 and earlier.died_at is null and earlier.id < waiting.id and earlier.ref <> carrier.id
                 and not (other.group_key is not distinct from alike.group_key and ${canJoin('other')} and ${isFree('earlier')})
               order by earlier.line, earlier.id limit 1) is null
       order by alike.id limit $3),
    free as materialized (
      select id as work, ref from work
       where id = any(array(select id from candidate)) and ${isFree('work')}
       order by id for no key update skip locked),
    taken as materialized (
      select id from notification_deliveries alike
       where id = any(array(select ref from free)) and status = 'pending' and ${canJoin('alike')}
       order by id for no key update skip locked),
    begun as (
      update notification_deliveries set attempts = 1 where id = $1 and group_key is not null and attempts = 0),
    parked as (
      update work set ready = false, worker = null, fence = fence + 1, attempts = 0, due_at = 'infinity'
       where id = any(array(select work from free join taken on taken.id = free.ref))),
    joined as (
      update notification_deliveries delivery set carried_by = $1
       where id = any(array(select id from taken)) returning ${COLUMNS})
    select * from joined
    union all
    select ${COLUMNS} from notification_deliveries delivery where carried_by = $1 and status = 'pending'`;

/**
 * Locks all rows in the table work that the end of a delivery removes, in the order of ids: see the statement that adds
 * work.
 */
const LOCK = statement('lock')`
    select from work where kind = '${NOTIFICATION.name}' and ref = any($1::uuid[]) order by id for update`;

/**
 * Excludes each delivery that was redelivered since the claim: the message that was sent does not contain it.
 */
const END = statement('end')`
    update notification_deliveries delivery
       set status = ended.status, ended_at = case when ended.status <> 'pending' then now() end,
           last_error = ended.error, attempts = ended.attempts
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::integer[])
           as ended (id, carrier, status, error, attempts)
     where delivery.id = any($1::uuid[]) and delivery.id = ended.id and delivery.status = 'pending'
       and delivery.carried_by is not distinct from ended.carrier
    returning delivery.id, delivery.carried_by`;

const WAITING = statement('waiting')`
    select greatest(0, ${countOf('notification_delivery', [`status = 'pending'`, `channel_id in (select id from notification_channels where enabled)`])})::integer as n`;

const ANEW = `status = 'pending', ended_at = null, attempts = 0, expires_at = now() + interval '1 day',
           group_key = null, held_until = null`;

/**
 * Also reopens the carried deliveries, so that the message stays the same. The group key is removed, so that no further
 * delivery is added.
 */
const reopen = (name: string, which: string) => statement(name)`
    with carrier as (
      update notification_deliveries delivery set ${ANEW}, carried_by = null
       where id = any(array(
         select id from notification_deliveries where channel_id = $1 and ${which} for update)) returning *),
    carried as (
      update notification_deliveries set ${ANEW}
       where carried_by in (select id from carrier) and id not in (select id from carrier)),
    waits_short as (
      update work set attempts = 0 where kind = '${NOTIFICATION.name}' and ref in (select id from carrier) and worker is null)
    select ${deliveryColumns('carrier')} from carrier order by position`;
const REOPEN = reopen('reopen', 'id = $2');
const REOPEN_DEAD = reopen(
  'reopen_dead',
  `status = 'dead' and ended_at >= $2 order by ended_at limit ${MAX_REDELIVERED}`,
);

const LATE = 'It expired after 24 hours, while the channel was paused, disabled or deleted.';

/** Ends deliveries that expired before a worker claimed them, because their channel was disabled, deleted or paused. */
const EXPIRE = statement('expire')`
    with late as (
      update notification_deliveries delivery
         set status = 'dead', ended_at = now(), last_error = '${LATE}',
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
    select late.id, channel.type
      from late left join notification_channels channel on channel.id = late.channel_id and channel.deleted_at is null`;

const PRUNE = statement('prune')`
    delete from notification_deliveries
     where id = any(array(
       select id from notification_deliveries where id < $1 and status <> 'pending' order by id limit $2))
    returning 1`;

const deliveryList = countedList({
  table: 'notification_deliveries',
  columns: deliveryColumns('notification_deliveries'),
  counts: 'notification_delivery',
  counted: {
    channel_id: { filter: 'channelId', type: 'uuid', with: 'status' },
    status: { filter: 'status', type: 'text' },
  },
  sorts: { created_at: BY_ID },
});

@Injectable()
export class DeliveriesRepository {
  constructor(
    private readonly statements: Statements,
    private readonly work: Work,
  ) {}

  async list(request: DeliveryListRequest): Promise<Page<Delivery>> {
    return await readPage(this.statements, deliveryList(request));
  }

  async waiting(): Promise<number> {
    return (await this.statements.rows<{ n: number }>(WAITING))[0]!.n;
  }

  /** Reopens one delivery, or the dead deliveries since a time. Returns them in the order of their insertion. */
  async reopen(tx: Tx, channelId: string, which: string | Date): Promise<Delivery[]> {
    const statement = typeof which === 'string' ? REOPEN : REOPEN_DEAD;
    const rows = await this.statements.rowsIn<Delivery>(tx, statement, [channelId, which]);
    await this.work.add(tx, NOTIFICATION, ...rows.map(workOf));
    return rows.map((row) => ({ ...row, attempts: 0 }));
  }

  /** Ends deliveries that expired before a claim. Returns the types of their channels; null for a deleted channel. */
  async expire(tx: Tx, most: number): Promise<(string | null)[]> {
    type Late = { id: string; type: string | null };
    const rows = await this.statements.rowsIn<Late>(tx, EXPIRE, [most]);
    await this.work.cancel(tx, NOTIFICATION, idsOf(rows));
    return rows.map(({ type }) => type);
  }

  async prune(before: string, most: number): Promise<number> {
    return (await this.statements.rows(PRUNE, [before, most])).length;
  }

  async messages(
    tx: Tx,
    claims: readonly Pick<Claimed, 'id' | 'fence'>[],
  ): Promise<ReadonlyMap<string, FoldedDelivery>> {
    const messages = new Map<string, FoldedDelivery>();
    const loaded = await this.load(tx, claims);
    const waiting = new Map(loaded.map((row) => [row.id, row]));
    for (const row of waiting.values()) {
      waiting.delete(row.id);
      const { id, group_key, has_carried } = row;
      const isAlone = group_key === null && !has_carried;
      const carried = isAlone ? [] : await this.fold(tx, id, [...waiting.keys()]);
      for (const one of carried) waiting.delete(one.id);
      messages.set(id, { delivery: row, carried });
    }
    return messages;
  }

  async load(tx: Tx, claims: readonly Pick<Claimed, 'id' | 'fence'>[]): Promise<LoadedDelivery[]> {
    const fences = claims.map(({ fence }) => fence);
    return await this.statements.rowsIn(tx, LOAD, [idsOf(claims), fences]);
  }

  async fold(tx: Tx, id: string, own: readonly string[]): Promise<Delivery[]> {
    return await this.statements.rowsIn(tx, FOLD, [id, own, MAX_CARRIED]);
  }

  async drop(tx: Tx, dropped: readonly FoldedDelivery[], last_error: string): Promise<void> {
    const rows = dropped.flatMap(membersOf);
    if (rows.length === 0) return;
    await this.end(
      tx,
      rows.map((row) => ({ ...row, status: 'delivered', attempts: 0, last_error })),
    );
    await this.work.cancel(tx, NOTIFICATION, idsOf(rows));
  }

  async write(tx: Tx, attempts: readonly EndedAttempt[]): Promise<void> {
    if (attempts.some(({ carried }) => carried.length > 0)) {
      await this.statements.rowsIn(tx, LOCK, [idsOf(attempts.flatMap(membersOf))]);
    }
    const ended = attempts.flatMap(({ delivery, carried, ending, outcome }): Delivery[] => {
      const last_error = ending.error === undefined ? null : shownStart(ending.error, MAX_ERROR);
      if (ending.kind === 'again') return [{ ...delivery, last_error }];
      const { kind: status } = ending;
      // The message has arrived, even if its delivery is dead because one of several recipients rejected it.
      const end =
        outcome.kind === 'delivered'
          ? ({ status: 'delivered', last_error: null } as const)
          : { status, last_error };
      const others = carried.map((row) => ({ ...row, ...end, attempts: 0 }));
      return [{ ...delivery, status, last_error }, ...others];
    });
    const rows = await this.end(tx, ended);
    const carried = rows.filter(({ carried_by }) => carried_by !== null);
    await this.work.cancel(tx, NOTIFICATION, idsOf(carried));
  }

  private async end(
    tx: Tx,
    ended: readonly Delivery[],
  ): Promise<Pick<Delivery, 'id' | 'carried_by'>[]> {
    if (ended.length === 0) return [];
    return await this.statements.rowsIn(tx, END, [
      idsOf(ended),
      ended.map(({ carried_by }) => carried_by),
      ended.map(({ status }) => status),
      ended.map(({ last_error }) => last_error),
      ended.map(({ attempts }) => attempts),
    ]);
  }
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

export const membersOf = ({ delivery, carried }: FoldedDelivery): Delivery[] => [
  delivery,
  ...carried,
];

/** Ends pending deliveries of a backup without sending them, because people may already have read their messages. */
export async function endDeliveriesOfBackup(tx: Tx): Promise<number> {
  const [, unsent] = await tx.query<[unknown, number]>(
    `update notification_deliveries
        set status = 'dead', ended_at = now(), last_error = 'Not sent: the database was restored from a backup.'
      where status = 'pending'`,
  );
  await tx.query('delete from work where kind = $1', [NOTIFICATION.name]);
  return unsent;
}

export async function disableChannels(tx: Tx): Promise<number> {
  const [, disabled] = await tx.query<[unknown, number]>(
    `update notification_channels set enabled = false, version = version + 1 where enabled`,
  );
  return disabled;
}
