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

export interface ClaimRequest {
  /** How many deliveries of each channel this replica tries now; those that it tries none of may be left out. */
  readonly underWay: ReadonlyMap<string, number>;
  readonly placesPerChannel: number;
  /** A channel with so many failures in a row has a single place. */
  readonly failuresUntilProbing: number;
  readonly leaseMs: number;
}

/** Urgency goes from 0, the kill switch and approvals, over the severities to this (see the migration). */
const LEAST_URGENT = 4;

/** What people read takes about a message a second: an urgent one waits for few that are under way. */
const PLACES_OF_PEOPLE = 2;

const COLUMNS = DELIVERY_COLUMNS.map((column) => `delivery.${column}`).join(', ');

/** Deliveries of one line go one after the other, as the index has it: of an incident, or of what else an event is about, such as a connector. */
const lineOf = (row: string): string =>
  `left(coalesce(${row}.incident_id::text, ${row}.subject_id), 100)`;

/** The first one that is open and about the same. The limit keeps PostgreSQL from a join that reads all that waits. */
export const firstOf = (row: string, columns: string, condition = 'true'): string => `(
                 select ${columns} from notification_deliveries earlier
                  where earlier.channel_id = ${row}.channel_id and ${lineOf('earlier')} = ${lineOf(row)}
                    and earlier.status = 'pending' and ${condition}
                  order by earlier.position limit 1)`;

/** It waits for others that are alike. */
const isHeld = (row: string): string =>
  `(${row}.held_until is not null and ${row}.held_until > now())`;

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
 * restored, is left to the clean-up.
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
                   where wanted.channel_id = place.id and wanted.status = 'pending' and wanted.urgency = level.urgency
                     and not ${isHeld('wanted')}
                     and wanted.position = ${firstOf('wanted', 'earlier.position', `earlier.urgency = wanted.urgency and not ${isHeld('earlier')}`)}
                     and ${isFree('first')}
                   order by wanted.id limit 2 * greatest(0, place.free)) as found
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

const OF_CLAIM = `where id = $1 and fence = $2 and status = 'pending'`;

const DELIVERED: Statement = {
  name: 'notification_deliveries_delivered',
  text: `
    update notification_deliveries
       set status = 'delivered', ended_at = now(), lease_until = null, last_error = null ${OF_CLAIM} returning id`,
};

const AGAIN: Statement = {
  name: 'notification_deliveries_again',
  text: `
    update notification_deliveries
       set lease_until = null, last_error = $3, due_at = now() + $4::float8 * interval '1 millisecond' ${OF_CLAIM} returning id`,
};

const DEAD: Statement = {
  name: 'notification_deliveries_dead',
  text: `
    update notification_deliveries
       set status = 'dead', ended_at = now(), lease_until = null, last_error = $3 ${OF_CLAIM} returning id`,
};

const RELEASE: Statement = {
  name: 'notification_deliveries_release',
  text: `
    update notification_deliveries set lease_until = null, attempts = greatest(0, attempts - 1) ${OF_CLAIM}`,
};

const TRY_NOW: Statement = {
  name: 'notification_deliveries_try_now',
  text: `
    update notification_deliveries set due_at = now()
     where channel_id = $1 and status = 'pending' and due_at > now() and (lease_until is null or lease_until <= now())`,
};

const REOPEN: Statement = {
  name: 'notification_deliveries_reopen',
  text: `
    update notification_deliveries delivery
       set status = 'pending', ended_at = null, attempts = 0, due_at = now(), expires_at = now() + interval '1 day',
           group_key = null, carried_by = null
     where channel_id = $1 and id = $2
    returning ${COLUMNS}`,
};

/** Those that ended since then, the first ones first. */
const REOPEN_DEAD: Statement = {
  name: 'notification_deliveries_reopen_dead',
  text: `
    update notification_deliveries
       set status = 'pending', ended_at = null, attempts = 0, due_at = now(), expires_at = now() + interval '1 day',
           group_key = null, carried_by = null
     where id in (
       select id from notification_deliveries
        where channel_id = $1 and status = 'dead' and ended_at >= $2
        order by ended_at limit $3 for update)
    returning 1`,
};

const LATE = 'It could not be tried before its day was over.';

/** Those that nobody can claim: their channel is disabled, gone, or was paused for the whole day. */
const EXPIRE: Statement = {
  name: 'notification_deliveries_expire',
  text: `
    update notification_deliveries
       set status = 'dead', ended_at = now(), lease_until = null, last_error = coalesce(last_error, '${LATE}')
     where id in (
       select id from notification_deliveries
        where channel_id = $1 and status = 'pending' and expires_at <= now() - interval '30 minutes'
          and (lease_until is null or lease_until <= now())
        order by id limit $2 for update skip locked)
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

/** Every change of a delivery after its insertion, which a trigger does (see the migration). */
@Injectable()
export class DeliveryWritesRepository {
  constructor(private readonly statements: Statements) {}

  async claim(tx: Tx, request: ClaimRequest): Promise<ClaimedDelivery[]> {
    const { underWay, placesPerChannel, failuresUntilProbing, leaseMs } = request;
    const rows = await this.statements.rowsIn<ClaimedRow>(tx, CLAIM, [
      [...underWay.keys()],
      [...underWay.values()],
      placesPerChannel,
      failuresUntilProbing,
      leaseMs,
    ]);
    return rows.map(claimedOf);
  }

  /** This and the two after it answer false when the claim has lapsed, and somebody else claimed the delivery. */
  async delivered(tx: Tx, { id, fence }: Claim): Promise<boolean> {
    return await this.end(tx, DELIVERED, [id, fence]);
  }

  async again(tx: Tx, { id, fence }: Claim, error: string, waitMs: number): Promise<boolean> {
    return await this.end(tx, AGAIN, [id, fence, error, waitMs]);
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
