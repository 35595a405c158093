// SQL: claims of work in the same statements, and many rows in one statement.
import { countOf } from '../platform/counting/counted-list.js';
import type { Statement } from '../platform/database/statements.js';
import { NOTIFICATION } from './delivery.js';

const statement =
  (name: string) =>
  (text: TemplateStringsArray, ...values: readonly unknown[]): Statement => ({
    name: `notification_deliveries_${name}`,
    text: String.raw(text, ...values),
  });

/** Columns of a Delivery. The last column with a name is used, so `attempts` are the attempts of the work. */
export const deliveryColumns = (row: string): string => {
  const ofWork = (expression: string) =>
    `(select ${expression} from work where kind = '${NOTIFICATION.name}' and ref = ${row}.id)`;
  const dueAt = `case when due_at < 'infinity' and (ready or worker is null) then due_at end`;
  return `${row}.*, coalesce(${ofWork('attempts')}, ${row}.attempts) as attempts,
           coalesce(${ofWork(dueAt)}, ${row}.occurred_at) as next_attempt_at`;
};

export const MAX_CARRIED = 500;
/** Maximum waiting deliveries that a carrier reads, so that a flood does not delay each message. */
const MAX_CANDIDATES = 2_000;
const COLUMNS = deliveryColumns('delivery');

export const LOAD = statement('load')`
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
 * Adds waiting deliveries to the message of a carrier: new incidents of the source (if critical, of the group), or other
 * deliveries of the group. Only the first attempt adds, so that each attempt sends the same message. A delivery behind an
 * earlier one about its incident is added only with it. Carried deliveries keep their work, so that later events wait.
 * Pagers and programs get each event.
 */
export const FOLD = statement('fold')`
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

/** Locks all rows of work that an end removes, in the order of the ids: see the statement that adds work. */
export const LOCK = statement('lock')`
    select from work where kind = '${NOTIFICATION.name}' and ref = any($1::uuid[]) order by id for update`;

/** Excludes a delivery that was redelivered since, because the message of its carrier no longer contains it. */
export const END = statement('end')`
    update notification_deliveries delivery
       set status = ended.status, ended_at = case when ended.status <> 'pending' then now() end,
           last_error = ended.error, attempts = ended.attempts
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::integer[])
           as ended (id, carrier, status, error, attempts)
     where delivery.id = any($1::uuid[]) and delivery.id = ended.id and delivery.status = 'pending'
       and delivery.carried_by is not distinct from ended.carrier
    returning delivery.id, delivery.carried_by`;

/** Maximum deliveries per redelivery. Limits the time for which a transaction holds its locks. */
export const MAX_REDELIVERED = 10_000;

export const WAITING = statement('waiting')`
    select greatest(0, ${countOf('notification_delivery', [`status = 'pending'`, `channel_id in (select id from notification_channels where enabled)`])})::integer as n`;

const ANEW = `status = 'pending', ended_at = null, attempts = 0, expires_at = now() + interval '1 day',
           group_key = null, held_until = null`;

/** Also reopens the carried deliveries, so that the message stays the same. Without group key, no further delivery is added. */
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
export const REOPEN = reopen('reopen', 'id = $2');
export const REOPEN_DEAD = reopen(
  'reopen_dead',
  `status = 'dead' and ended_at >= $2 order by ended_at limit ${MAX_REDELIVERED}`,
);

const LATE = 'It expired after 24 hours, while the channel was paused, disabled or deleted.';

/** Deliveries that expired without a claim, because their channel was disabled, deleted or paused. */
export const EXPIRE = statement('expire')`
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

export const PRUNE = statement('prune')`
    delete from notification_deliveries
     where id = any(array(
       select id from notification_deliveries where id < $1 and status <> 'pending' order by id limit $2))
    returning 1`;
