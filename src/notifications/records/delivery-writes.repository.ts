// SQL: a claim looks for the next deliveries of every channel in one statement, and what follows is conditional on it.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { ClaimedDelivery, Delivery } from '../delivery.js';
import {
  type ClaimedRow,
  claimedOf,
  DELIVERY_COLUMNS,
  deliveryOf,
  type DeliveryRow,
} from './delivery-rows.js';

/** Names one claim of a delivery. */
export type Claim = Pick<ClaimedDelivery, 'id' | 'fence'>;

/** The next attempt after one that failed. */
export interface Retry {
  readonly error: string;
  readonly waitMs: number;
  /** The recipients who have the message, after an attempt that reached only some of them. */
  readonly holders?: readonly string[];
}

export interface ClaimRequest {
  /** How many deliveries of each channel this replica tries now; those that it tries none of may be left out. */
  readonly underWay: ReadonlyMap<string, number>;
  readonly placesPerChannel: number;
  /** A channel with so many failures in a row has a single place. */
  readonly failuresUntilProbing: number;
  readonly leaseMs: number;
}

/** Urgency goes from 0, the kill switch and approvals, over the severities to this (is_in_growing_wave). */
const LEAST_URGENT = 4;

/** What people read takes about a message a second: an urgent one waits for few that are under way. */
const PLACES_OF_PEOPLE = 2;

const COLUMNS = DELIVERY_COLUMNS.map((column) => `delivery.${column}`).join(', ');

/** Deliveries of one line go one after the other, as the index has it: of an incident, or of what else an event is about, such as a connector. */
export const lineOf = (row: string): string =>
  `left(coalesce(${row}.incident_id::text, ${row}.subject_id), 100)`;

/** The first one that is open and about the same. The limit keeps PostgreSQL from a join that reads all that waits. */
export const firstOf = (row: string, columns: string, condition = 'true'): string => `(
                 select ${columns} from notification_deliveries earlier
                  where earlier.channel_id = ${row}.channel_id and ${lineOf('earlier')} = ${lineOf(row)}
                    and earlier.status = 'pending' and ${condition}
                  order by earlier.position limit 1)`;

/** It waits for others that are alike, and waits on while more of them arrive (is_in_growing_wave). */
const isHeld = (row: string): string =>
  `(${row}.held_until is not null and (${row}.held_until > now()
     or is_in_growing_wave(${row}.channel_id, ${row}.group_key, ${row}.type, ${row}.occurred_at, ${row}.payload)))`;

/** It goes with the message of another one, as long as that is open. */
export const isCarried = (row: string): string =>
  `(${row}.carried_by is not null and exists (
                   select from notification_deliveries other where other.id = ${row}.carried_by and other.status = 'pending'))`;

const isFree = (row: string): string => `${row}.due_at <= now()
                 and not ${isCarried(row)}
                 and ${row}.expires_at > now() - interval '1 hour'
                 and (${row}.lease_until is null or ${row}.lease_until <= now())`;

/**
 * Each channel has places of its own, so that one that hangs takes none from another. Of an incident, and of what else events are
 * about, only the first delivery that is still open is chosen: the later ones wait for it, whichever replica has it. What is urgent
 * goes first, level by level, and with it what has to go before it, also when that is held. More are found than there are places
 * for, because another replica may take some of them at the same time. What expired long ago, such as in an old backup that was
 * restored, is left to the clean-up. The urgency is a range so that only the index of urgency has the order that is asked for.
 */
export const CLAIM: Statement = {
  name: 'notification_deliveries_claim',
  text: `
    with place as (
      select channel.id,
             case when channel.failures >= $4 or channel.one_by_one_until > now() then 1
                  when channel.type = 'webhook' then $3
                  else least($3, ${PLACES_OF_PEOPLE}) end - coalesce(busy.n, 0) as free
        from notification_channels channel
        left join unnest($1::uuid[], $2::integer[]) as busy (id, n) on busy.id = channel.id
       where channel.enabled and (channel.paused_until is null or channel.paused_until <= now())),
    chosen as materialized (
      select next.id
        from place cross join lateral (
          select delivery.id
            from (
              select found.id, min(level.urgency) as turn
                from generate_series(0, ${LEAST_URGENT}) as level (urgency) cross join lateral (
                  select first.id
                    from notification_deliveries wanted
                   cross join lateral ${firstOf('wanted', 'earlier.*')} as first
                   where wanted.channel_id = place.id and wanted.status = 'pending'
                     and wanted.urgency between level.urgency and level.urgency
                     and not ${isHeld('wanted')}
                     and wanted.position = ${firstOf('wanted', 'earlier.position', `earlier.urgency = wanted.urgency and not ${isHeld('earlier')}`)}
                     and ${isFree('first')}
                   order by wanted.urgency, wanted.id limit 2 * greatest(0, place.free)) as found
               group by found.id) as wanted
            join notification_deliveries delivery on delivery.id = wanted.id
           where delivery.status = 'pending' and ${isFree('delivery')}
           order by wanted.turn, delivery.id limit greatest(0, place.free)
             for update of delivery skip locked) as next)
    update notification_deliveries delivery
       set fence = fence + 1, attempts = attempts + 1, carried_by = null, lease_until = now() + $5::integer * interval '1 millisecond'
     where id = any(array(select id from chosen))
    returning ${COLUMNS}, (extract(epoch from expires_at - now()) * 1000)::float8 as left_ms`,
};

/**
 * For the transaction of a claim. Before the statistics tell of a backlog, PostgreSQL would sort all of it to find the first ones,
 * instead of walking along the index that has them in order: 80 000 rows read for 4 of 20 000.
 */
export const ALONG_INDEXES: Statement = {
  name: 'notification_deliveries_along_indexes',
  text: `select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true)`,
};

const OF_CLAIM = `where id = $1 and fence = $2 and status = 'pending'`;

/** For a delivery that ends: a later redelivery goes to all recipients. */
const NOBODY_HAS_IT = `holders = '{}', partial_attempts = 0`;

const DELIVERED: Statement = {
  name: 'notification_deliveries_delivered',
  text: `
    update notification_deliveries delivery
       set status = 'delivered', ended_at = now(), lease_until = null, last_error = null, ${NOBODY_HAS_IT}
      from unnest($1::uuid[], $2::integer[]) as claim (id, fence)
     where delivery.id = claim.id and delivery.fence = claim.fence and delivery.status = 'pending'
    returning delivery.id`,
};

const AGAIN: Statement = {
  name: 'notification_deliveries_again',
  text: `
    update notification_deliveries
       set lease_until = null, last_error = $3, due_at = now() + $4::float8 * interval '1 millisecond',
           holders = coalesce($5::text[], holders), partial_attempts = partial_attempts + case when $5::text[] is null then 0 else 1 end
     ${OF_CLAIM} returning id`,
};

const DEAD: Statement = {
  name: 'notification_deliveries_dead',
  text: `
    update notification_deliveries
       set status = 'dead', ended_at = now(), lease_until = null, last_error = $3, ${NOBODY_HAS_IT} ${OF_CLAIM} returning id`,
};

/** A message that may have others in it keeps its attempt: only a first attempt takes others, and this one may have been sent. */
const RELEASE: Statement = {
  name: 'notification_deliveries_release',
  text: `
    update notification_deliveries
       set lease_until = null, attempts = case when group_key is null then greatest(0, attempts - 1) else attempts end ${OF_CLAIM}`,
};

const TRY_NOW: Statement = {
  name: 'notification_deliveries_try_now',
  text: `
    update notification_deliveries set due_at = now()
     where channel_id = $1 and status = 'pending' and due_at > now() and (lease_until is null or lease_until <= now())`,
};

const ANEW = `status = 'pending', ended_at = null, attempts = 0, due_at = now(), expires_at = now() + interval '1 day',
           group_key = null, ${NOBODY_HAS_IT}`;

/** Also what the message had in it, so that it is the same message. Without a group key it takes no more. */
const REOPEN: Statement = {
  name: 'notification_deliveries_reopen',
  text: `
    with carrier as (
      update notification_deliveries delivery set ${ANEW}, carried_by = null
       where channel_id = $1 and id = $2
      returning ${COLUMNS}),
    carried as (
      update notification_deliveries set ${ANEW} where carried_by in (select id from carrier))
    select * from carrier`,
};

/** Those that ended since then, the first ones first. */
const REOPEN_DEAD: Statement = {
  name: 'notification_deliveries_reopen_dead',
  text: `
    update notification_deliveries
       set ${ANEW}, carried_by = null
     where id = any(array(
       select id from notification_deliveries
        where channel_id = $1 and status = 'dead' and ended_at >= $2
        order by ended_at limit $3 for update))
    returning 1`,
};

const LATE = 'It could not be tried before its day was over.';

/** Those that nobody can claim: their channel is disabled, gone, or was paused for the whole day. */
const EXPIRE: Statement = {
  name: 'notification_deliveries_expire',
  text: `
    update notification_deliveries
       set status = 'dead', ended_at = now(), lease_until = null, last_error = coalesce(last_error, '${LATE}'),
           ${NOBODY_HAS_IT}
     where id = any(array(
       select id from notification_deliveries
        where channel_id = $1 and status = 'pending' and expires_at <= now() - interval '30 minutes'
          and (lease_until is null or lease_until <= now())
        order by id limit $2 for update skip locked))
    returning 1`,
};

const PRUNE: Statement = {
  name: 'notification_deliveries_prune',
  text: `
    delete from notification_deliveries
     where id in (
       select id from notification_deliveries
        where channel_id = $1 and status in ('delivered', 'dead') and id < $2 limit $3)
    returning 1`,
};

/** Every change of a delivery after its insertion, which a trigger does (is_in_growing_wave). */
@Injectable()
export class DeliveryWritesRepository {
  constructor(private readonly statements: Statements) {}

  async claim(tx: Tx, request: ClaimRequest): Promise<ClaimedDelivery[]> {
    const { underWay, placesPerChannel, failuresUntilProbing, leaseMs } = request;
    await this.statements.rowsIn(tx, ALONG_INDEXES, []);
    const rows = await this.statements.rowsIn<ClaimedRow>(tx, CLAIM, [
      [...underWay.keys()],
      [...underWay.values()],
      placesPerChannel,
      failuresUntilProbing,
      leaseMs,
    ]);
    return rows.map(claimedOf);
  }

  /** Answers the ids of those whose claim had not lapsed: nobody else has claimed them. Alone it needs no transaction. */
  async delivered(tx: Tx | undefined, claims: readonly Claim[]): Promise<ReadonlySet<string>> {
    const values = [claims.map(({ id }) => id), claims.map(({ fence }) => fence)];
    const rows = tx
      ? await this.statements.rowsIn<{ id: string }>(tx, DELIVERED, values)
      : await this.statements.rows<{ id: string }>(DELIVERED, values);
    return new Set(rows.map(({ id }) => id));
  }

  /** This and the one after it answer false when the claim has lapsed, and somebody else claimed the delivery. */
  async again(tx: Tx, { id, fence }: Claim, { error, waitMs, holders }: Retry): Promise<boolean> {
    return await this.end(tx, AGAIN, [id, fence, error, waitMs, holders ?? null]);
  }

  async dead(tx: Tx, { id, fence }: Claim, error: string): Promise<boolean> {
    return await this.end(tx, DEAD, [id, fence, error]);
  }

  /** The attempt did not take place. */
  async release({ id, fence }: Claim): Promise<void> {
    await this.statements.rows(RELEASE, [id, fence]);
  }

  /** What waits after a failure waits no longer: its channel works again, or is another one now. */
  async tryNow(tx: Tx, channelId: string): Promise<void> {
    await this.statements.rowsIn(tx, TRY_NOW, [channelId]);
  }

  /** Begins it anew, whatever became of it; undefined when the channel has no such delivery. */
  async reopen(tx: Tx, channelId: string, id: string): Promise<Delivery | undefined> {
    const [row] = await this.statements.rowsIn<DeliveryRow>(tx, REOPEN, [channelId, id]);
    return row && deliveryOf(row);
  }

  /** Begins those anew that died since then; answers how many, `most` at most. */
  async reopenDead(tx: Tx, channelId: string, since: Date, most: number): Promise<number> {
    return (await this.statements.rowsIn(tx, REOPEN_DEAD, [channelId, since, most])).length;
  }

  /** Answers how many those were. */
  async expire(channelId: string, most: number): Promise<number> {
    return (await this.statements.rows(EXPIRE, [channelId, most])).length;
  }

  /** Removes ended ones with an id before the given one; answers how many. */
  async prune(channelId: string, before: string, most: number): Promise<number> {
    return (await this.statements.rows(PRUNE, [channelId, before, most])).length;
  }

  private async end(tx: Tx, statement: Statement, values: unknown[]): Promise<boolean> {
    return (await this.statements.rowsIn(tx, statement, values)).length > 0;
  }
}
