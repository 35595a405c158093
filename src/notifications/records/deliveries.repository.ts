// SQL: claims of work in the same statements, and many rows in one statement.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Claimed } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import type { ApprovalWave, Delivery } from '../delivery.js';
import {
  deliveryColumns,
  deliveryOf,
  type DeliveryRow,
  type LoadedRow,
  NOTIFICATION,
  workOf,
} from './delivery-rows.js';

const KIND = { name: NOTIFICATION };
const COLUMNS = deliveryColumns('delivery');

/** A held delivery waits while more of its group arrive, so that a wave is one message; critical ones do not. */
const heldUntil = (row: string) => `
           greatest(${row}.held_until, case when ${row}.group_key is not null and ${row}.payload ->> 'severity' is distinct from 'critical'
             then least(${row}.occurred_at + wave_limit(${row}.type), (
               select max(later.held_until) from notification_deliveries later
                where later.channel_id = ${row}.channel_id and later.group_key = ${row}.group_key
                  and later.occurred_at > now() - interval '2 minutes' and later.status = 'pending'
                  and later.carried_by is null)) end)`;

/** Only claims that still count, which no other replica takes over before the end of the transaction. */
const LOAD: Statement = {
  name: 'notification_deliveries_load',
  text: `
    with claimed as materialized (
      select id, ref, line from work
       where kind = '${NOTIFICATION}' and ref = any($1::uuid[]) and worker is not null and not ready
         and fence = (select fence from unnest($1::uuid[], $2::integer[]) as claim (id, fence) where claim.id = work.ref)
       order by id for no key update)
    select ${COLUMNS}, (extract(epoch from expires_at - now()) * 1000)::float8 as left_ms,
           case when held_until is not null and attempts = 0 then (
             select extract(epoch from min(case when wanted.held_until is null then now() else ${heldUntil('wanted')} end) - now()) * 1000
               from work later join notification_deliveries wanted on wanted.id = later.ref
              where later.kind = '${NOTIFICATION}' and later.line between claimed.line and claimed.line
                and later.id >= claimed.id and later.died_at is null)::float8 end as held_ms,
           exists (select from notification_deliveries other where other.carried_by = delivery.id) as has_carried
      from claimed join notification_deliveries delivery on delivery.id = claimed.ref
     where delivery.id = any($1::uuid[]) and status = 'pending' and carried_by is null`,
};

const canJoin = (row: string): string => `${row}.carried_by is null and ${row}.attempts = 0`;
const isFree = (work: string): string =>
  `(${work}.worker is null or ${work}.ref = any($2::uuid[]))`;

/**
 * A carrier takes the new incidents of its source that wait, held ones too: critical ones only with a critical one of the same
 * group. Of approvals it takes those that the same playbook asks for. It takes them in its first attempt, so that each attempt
 * has the same message. It takes no delivery that has to wait for an earlier one of its incident, unless that joins, too. The
 * work of what it takes stays, so that later events of these incidents wait for the message.
 */
const FOLD: Statement = {
  name: 'notification_deliveries_fold',
  text: `
    with taken as materialized (
      select alike.id, waiting.id as work
        from notification_deliveries carrier
        join notification_deliveries alike on alike.channel_id = carrier.channel_id and alike.status = 'pending'
         and ${canJoin('alike')} and alike.group_key is not null and alike.id <> carrier.id and alike.type = carrier.type
         and case when carrier.type = 'incident.created'
               then (alike.urgency = 1) = (carrier.urgency = 1) and alike.payload ->> 'source' = carrier.payload ->> 'source'
                 and (carrier.urgency > 1 or alike.group_key = carrier.group_key)
               else alike.group_key = carrier.group_key end
       cross join lateral (
         select id, line from work
          where kind = '${NOTIFICATION}' and ref = alike.id and ${isFree('work')}
          limit 1 for no key update skip locked) as waiting
       where carrier.id = $1 and carrier.group_key is not null and carrier.attempts = 0
         and not exists (
           select from work earlier
             join notification_deliveries other on other.id = earlier.ref
            where earlier.kind = '${NOTIFICATION}' and earlier.line between waiting.line and waiting.line
              and earlier.id < waiting.id and earlier.ref <> carrier.id
              and not (other.group_key is not distinct from alike.group_key and ${canJoin('other')} and ${isFree('earlier')}))
       order by alike.position limit $3
         for no key update of alike skip locked),
    begun as (
      update notification_deliveries set attempts = 1 where id = $1 and group_key is not null and attempts = 0),
    parked as (
      update work set ready = false, worker = null, fence = fence + 1, attempts = 0, due_at = 'infinity'
       where id = any(array(select work from taken))),
    joined as (
      update notification_deliveries delivery set carried_by = $1
       where id = any(array(select id from taken)) returning ${COLUMNS})
    select * from joined
    union all
    select ${COLUMNS} from notification_deliveries delivery where carried_by = $1 and status = 'pending'`,
};

const COUNT_ALIKE: Statement = {
  name: 'notification_deliveries_alike',
  text: `
    select count(*)::integer as n from notification_deliveries
     where channel_id = $1 and group_key = $2 and occurred_at > now() - interval '10 minutes'`,
};

/** The approval that an event of an action follows, or the one whose message had that approval in it, with all of its message. */
const WAVES: Statement = {
  name: 'notification_deliveries_waves',
  text: `
    select event.id, carrier.subject_id as first,
           array(select member.subject_id from notification_deliveries member where member.carried_by = carrier.id) as carried
      from notification_deliveries event
      join notification_deliveries asked on asked.channel_id = event.channel_id and asked.incident_id = event.incident_id
       and asked.type = 'action.pending_approval' and asked.subject_id = event.subject_id
      join notification_deliveries carrier on carrier.id = coalesce(asked.carried_by, asked.id)
     where event.id = any($1::uuid[])`,
};

/** For a delivery that ends: a later redelivery goes to all recipients. */
const NOBODY_HAS_IT = `holders = '{}', partial_attempts = 0`;

const END: Statement = {
  name: 'notification_deliveries_end',
  text: `
    update notification_deliveries delivery
       set status = ended.status, ended_at = now(), last_error = ended.error, attempts = ended.attempts, ${NOBODY_HAS_IT}
      from unnest($1::uuid[], $2::text[], $3::text[], $4::integer[]) as ended (id, status, error, attempts)
     where delivery.id = any($1::uuid[]) and delivery.id = ended.id and delivery.status = 'pending'`,
};

/** All rows of work that an end removes, in the order of the ids: see the statement that adds work. */
const LOCK: Statement = {
  name: 'notification_deliveries_lock',
  text: `
    select from work
     where kind = '${NOTIFICATION}' and ref = any(array(
       select unnest($1::uuid[]) union all select id from notification_deliveries where carried_by = any($1::uuid[])))
     order by id for update`,
};

const END_CARRIED: Statement = {
  name: 'notification_deliveries_end_carried',
  text: `
    update notification_deliveries set status = 'delivered', ended_at = now(), last_error = null
     where carried_by = any($1::uuid[]) and status = 'pending' returning id`,
};

const DROP: Statement = {
  name: 'notification_deliveries_drop',
  text: `
    update notification_deliveries set status = 'delivered', ended_at = now(), attempts = 0, last_error = $2
     where id = any($1::uuid[]) and status = 'pending'`,
};

const FREE_CARRIED: Statement = {
  name: 'notification_deliveries_free_carried',
  text: `
    update notification_deliveries delivery set carried_by = null
     where carried_by = any($1::uuid[]) and status = 'pending' returning ${COLUMNS}`,
};

const UNFOLD: Statement = {
  name: 'notification_deliveries_unfold',
  text: `
    update notification_deliveries delivery
       set group_key = null, carried_by = null, held_until = null, last_error = $2, ${NOBODY_HAS_IT}
     where (id = $1 or carried_by = $1) and status = 'pending' returning ${COLUMNS}`,
};

const AGAIN: Statement = {
  name: 'notification_deliveries_again',
  text: `
    update notification_deliveries
       set last_error = $2, holders = coalesce($3::text[], holders),
           partial_attempts = partial_attempts + case when $3::text[] is null then 0 else 1 end
     where id = $1 and status = 'pending'`,
};

const ANEW = `status = 'pending', ended_at = null, attempts = 0, expires_at = now() + interval '1 day',
           group_key = null, held_until = null, ${NOBODY_HAS_IT}`;

/** Also what the message had in it, so that it is the same message. Without a group key it takes no more. */
const REOPEN: Statement = {
  name: 'notification_deliveries_reopen',
  text: `
    with carrier as (
      update notification_deliveries delivery set ${ANEW}, carried_by = null
       where channel_id = $1 and id = $2 returning *),
    carried as (update notification_deliveries set ${ANEW} where carried_by in (select id from carrier)),
    waits_short as (
      update work set attempts = 0 where kind = '${NOTIFICATION}' and ref in (select id from carrier) and worker is null)
    select ${deliveryColumns('carrier')} from carrier`,
};

/** Those that ended since then, the first ones first. */
const REOPEN_DEAD: Statement = {
  name: 'notification_deliveries_reopen_dead',
  text: `
    update notification_deliveries delivery
       set ${ANEW}, carried_by = null
     where id = any(array(
       select id from notification_deliveries
        where channel_id = $1 and status = 'dead' and ended_at >= $2
        order by ended_at limit $3 for update))
    returning ${COLUMNS}, position`,
};

const LATE = 'It could not be tried before its day was over.';

/** Those that nobody can claim: their channel is disabled, gone, or was paused for the whole day. */
const EXPIRE: Statement = {
  name: 'notification_deliveries_expire',
  text: `
    with late as (
      update notification_deliveries delivery
         set status = 'dead', ended_at = now(), last_error = '${LATE}', ${NOBODY_HAS_IT},
             attempts = coalesce((select attempts from work where kind = '${NOTIFICATION}' and ref = delivery.id), attempts)
       where id = any(array(
         select id from notification_deliveries waiting
          where status = 'pending' and expires_at <= now() - interval '30 minutes'
            and not exists (
              select from work where kind = '${NOTIFICATION}' and ref = waiting.id and worker is not null and not ready)
          order by expires_at limit $1 for update skip locked))
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

/** How a delivery ends. */
export interface EndedDelivery {
  readonly id: string;
  readonly status: 'delivered' | 'dead';
  readonly error?: string;
  readonly attempts: number;
}

/** Every change of a delivery after its insertion, which a trigger does. */
@Injectable()
export class DeliveriesRepository {
  constructor(
    private readonly statements: Statements,
    private readonly work: Work,
  ) {}

  /** Reads claimed deliveries that are still on their way, if their claims count, and holds these claims. */
  async load(tx: Tx, claims: readonly Pick<Claimed, 'ref' | 'fence'>[]): Promise<LoadedRow[]> {
    const values = [claims.map(({ ref }) => ref), claims.map(({ fence }) => fence)];
    return await this.statements.rowsIn(tx, LOAD, values);
  }

  /**
   * Takes at most `most` into the message of a carrier, also those of `own`, which this replica has claimed. Returns all that
   * the message has in it.
   */
  async fold(tx: Tx, id: string, own: readonly string[], most: number): Promise<Delivery[]> {
    return (await this.statements.rowsIn<DeliveryRow>(tx, FOLD, [id, own, most])).map(deliveryOf);
  }

  /** Counts the new incidents of a group in the last 10 minutes. */
  async countAlike(tx: Tx, channelId: string, groupKey: string): Promise<number> {
    const values = [channelId, groupKey];
    return (await this.statements.rowsIn<{ n: number }>(tx, COUNT_ALIKE, values))[0]!.n;
  }

  /** Finds the approvals that were asked for in one message, by the deliveries of what became of one of them. */
  async wavesOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, ApprovalWave>> {
    const rows = await this.statements.rowsIn<ApprovalWave & { id: string }>(tx, WAVES, [ids]);
    return new Map(rows.map(({ id, first, carried }) => [id, { first, carried }]));
  }

  /** Locks the work of deliveries and of what their messages have in them. */
  async lockWork(tx: Tx, ids: readonly string[]): Promise<void> {
    await this.statements.rowsIn(tx, LOCK, [ids]);
  }

  /** Ends deliveries, but not what their messages have in them. */
  async end(tx: Tx, ended: readonly EndedDelivery[]): Promise<void> {
    await this.statements.rowsIn(tx, END, [
      ended.map(({ id }) => id),
      ended.map(({ status }) => status),
      ended.map(({ error }) => error),
      ended.map(({ attempts }) => attempts),
    ]);
  }

  /** Ends what the messages of the carriers have in them as delivered, with its work. */
  async endCarried(tx: Tx, carriers: readonly string[]): Promise<void> {
    const rows = await this.statements.rowsIn<{ id: string }>(tx, END_CARRIED, [carriers]);
    const ids = rows.map(({ id }) => id);
    await this.work.cancel(tx, KIND, ids);
  }

  /** Lets what the messages of the carriers have in them be sent in other messages. */
  async freeCarried(tx: Tx, carriers: readonly string[]): Promise<void> {
    const rows = await this.statements.rowsIn<DeliveryRow>(tx, FREE_CARRIED, [carriers]);
    await this.work.add(tx, KIND, ...rows.map(workOf));
  }

  /** Ends deliveries that have nothing left to say, with their work, without sending them. */
  async drop(tx: Tx, ids: readonly string[], why: string): Promise<void> {
    if (ids.length === 0) return;
    await this.statements.rowsIn(tx, DROP, [ids, why]);
    await this.work.cancel(tx, KIND, ids);
  }

  /** @param holders the recipients who have the message, after an attempt that reached only some of them */
  async again(tx: Tx, id: string, error: string, holders?: readonly string[]): Promise<void> {
    await this.statements.rowsIn(tx, AGAIN, [id, error, holders ?? null]);
  }

  /** Makes each of them a message of its own: together they are refused, and each may not be. */
  async unfold(tx: Tx, carrier: string, error: string): Promise<void> {
    const rows = await this.statements.rowsIn<DeliveryRow>(tx, UNFOLD, [carrier, error]);
    await this.work.add(tx, KIND, ...rows.filter(({ id }) => id !== carrier).map(workOf));
  }

  /** Begins it anew, whatever became of it; undefined when the channel has no such delivery. */
  async reopen(tx: Tx, channelId: string, id: string): Promise<Delivery | undefined> {
    const [row] = await this.statements.rowsIn<DeliveryRow>(tx, REOPEN, [channelId, id]);
    if (!row) return undefined;
    await this.work.add(tx, KIND, workOf(row));
    return { ...deliveryOf(row), attempts: 0 };
  }

  /** Begins those anew that died since then, in the order in which they were written; returns how many, `most` at most. */
  async reopenDead(tx: Tx, channelId: string, since: Date, most: number): Promise<number> {
    const values = [channelId, since, most];
    const rows = await this.statements.rowsIn<DeliveryRow & { position: string }>(
      tx,
      REOPEN_DEAD,
      values,
    );
    rows.sort((one, other) => Number(one.position) - Number(other.position));
    await this.work.add(tx, KIND, ...rows.map(workOf));
    return rows.length;
  }

  /** Gives up at most `most` that could not be attempted for a day. Returns their channels, unless they are deleted. */
  async expire(tx: Tx, most: number): Promise<{ n: number; channels: ExpiredOf[] }> {
    const rows = await this.statements.rowsIn<ExpiredOf & { id: string }>(tx, EXPIRE, [most]);
    await this.work.cancel(
      tx,
      KIND,
      rows.map(({ id }) => id),
    );
    return { n: rows.length, channels: rows.filter(({ type }) => type !== null) };
  }

  /** Removes ended ones with an id before the given one; returns how many. */
  async prune(before: string, most: number): Promise<number> {
    return (await this.statements.rows(PRUNE, [before, most])).length;
  }
}

interface ExpiredOf {
  readonly name: string;
  readonly type: string;
}
