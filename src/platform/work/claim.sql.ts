// SQL: claims and ends of many rows in one statement.
import type { Statement } from '../database/statements.js';

export const IS_CLAIMED = '(work.worker is not null and not work.ready)';

const ROW = `
  work.id, work.kind, work.ref, work.lane, work.fence, work.attempts as attempt, work.data, work.state, work.traceparent,
  work.added_at`;

/** Adds work that the worker claims. Does not change claimed work. */
export const ADD_CLAIMED: Statement = {
  name: 'work_add_claimed',
  text: `
    insert into work (kind, ref, lane, urgency, data, traceparent, ready, due_at, worker, fence, attempts)
    select $2, ref, coalesce(lane, $2), urgency, data, traceparent, false, now() + $3::int * interval '1 ms', $1, 1, 1
      from jsonb_to_recordset($4::jsonb) as added (
        place int, ref uuid, lane text, urgency smallint, data jsonb, traceparent text)
     order by place
    on conflict (kind, ref) do update set
      data = excluded.data, traceparent = excluded.traceparent, ready = false, due_at = excluded.due_at,
      worker = excluded.worker, fence = work.fence + 1, woken = false,
      attempts = case when work.died_at is null then work.attempts + 1 else 1 end,
      died_at = null, dead_id = null
     where not ${IS_CLAIMED}
    returning ${ROW}, false as lapsed, null as ready_at, null as urgency`,
};

/** Makes due rows ready. The locks do not block transactions that add rows to the line (see ADD in work.ts). */
const MAKE_READY = `
    update work set ready = true, due_at = now(),
           lane = case when worker is null then lane else coalesce($2::jsonb ->> kind, lane) end
     where id = any(array(
       select id from work
        where not ready and died_at is null and due_at <= now() and due_at >= $3
        order by due_at limit 1000 for no key update skip locked))
    returning id`;

const LEVELS = `unnest(array[0, 1, 2, 3, 4]::smallint[]) as level (urgency)`;

/** Rows to claim. Statements find rows by arrays of ids: a join may read the whole table if the statistics are old. */
const NEXT = `
    select head.id, request.lease_ms, false as lapsed, head.due_at as ready_at, head.urgency
      from free as request
     cross join lateral (
       select one.id, one.due_at, level.urgency
         from ${LEVELS}
        cross join lateral (
          select id, due_at from work
           where lane = request.lane and ready and urgency = level.urgency
             and due_at >= ($10::timestamptz[])[request.n][level.urgency + 1] and worker is null
             and (line is null or id = (
               select first.id from work first
                where first.kind = work.kind and first.line between work.line and work.line
                  and first.died_at is null
                order by first.line, first.id limit 1))
           order by due_at, id limit request.free for no key update skip locked) as one
        limit request.free) as head
    union all
    select lapsed.id, request.lease_ms, true, null, null
      from free as request
     cross join lateral (
       select id from work
        where lane = request.lane and ready and worker is not null
        order by due_at, id limit 1 for no key update skip locked) as lapsed
     where request.takes_lapsed and request.free > 0`;

const CLAIMED = `
    update work set ready = false, woken = false, worker = $1, fence = fence + 1, attempts = attempts + 1,
           due_at = now() + next.lease_ms * interval '1 ms'
      from next
     where work.id = any(array(select id from next)) and work.id = next.id
    returning ${ROW}, next.lapsed, next.ready_at, next.urgency`;

/** Free places of each lane, reduced if the row of the lane sets fewer places, a pause or a single place. */
const FREE = `
    free as materialized (
      select request.lane, request.lease_ms, request.takes_lapsed, request.places, request.n,
             case when own.paused_until > now() then 0
                  else greatest(0, least(request.free, own.places - request.busy,
                                         case when own.narrow_until > now() then 1 end - request.busy)) end as free
        from unnest($4::text[], $5::int[], $6::int[], $7::bool[], $8::int[], $9::int[])
             with ordinality as request (lane, free, lease_ms, takes_lapsed, places, busy, n)
        left join work_lanes own on own.lane = request.lane)`;

/** Makes due rows ready and claims rows that were ready before. The next look claims the rows that became ready. */
export const LOOK: Statement = {
  name: 'work_look',
  text: `
    with made_ready as materialized (${MAKE_READY}), ${FREE},
         next as materialized (${NEXT}),
         claimed as materialized (${CLAIMED})
    select claimed.*, look.*
      from (select count(*) > 0 as made_ready, now() as at, array(select free from free order by n) as free,
                   (select coalesce(jsonb_agg(jsonb_build_object(
                             'lane', own.lane, 'kind', own.kind, 'places', own.places)), '[]')
                      from work_lanes own left join free on free.lane = own.lane
                     where own.paused_until > now() or own.narrow_until > now()
                        or own.kind is not null and own.places <> coalesce(free.places, -1)) as lanes,
                   array(select gated.lane from unnest($11::text[]) with ordinality as gated (lane, n)
                          where exists (
                              select from ${LEVELS}
                               cross join lateral (
                                 select from work
                                  where lane = gated.lane and ready and urgency = level.urgency
                                    and due_at >= ($12::timestamptz[])[gated.n][level.urgency + 1] limit 1) as one)
                            and not exists (
                              select from work_lanes own where own.lane = gated.lane and own.paused_until > now())) as ready
              from made_ready) as look
      left join claimed on true`,
};

export const END: Statement = {
  name: 'work_end',
  text: `
    with mine as materialized (
      select work.id, work.kind, work.line, ending.died_of, ending.why, ending.new_state, ending.is_counted,
             ending.new_lane,
             case when woken and not ending.is_counted then 0 else ending.again_ms end as again_ms,
             case when ending.again_ms is not null then 'again' when woken then 'woken'
                  when ending.died_of is not null then 'dead' else 'done' end as outcome
        from work
       cross join lateral (
         select ($4::int[])[at] as again_ms, ($5::text[])[at] as died_of, ($6::text[])[at] as why,
                ($7::jsonb[])[at] as new_state, ($8::bool[])[at] as is_counted, ($9::text[])[at] as new_lane
           from (select array_position($2::bigint[], work.id) as at) as place
          where ($3::int[])[at] = work.fence) as ending
       where work.id = any($2::bigint[]) and work.worker = $1
       order by work.id for update of work),
    done as (delete from work where id = any(array(select id from mine where outcome = 'done'))),
    open as (
      update work set
             ready = mine.outcome = 'woken' or mine.outcome = 'again' and mine.again_ms = 0,
             due_at = now() + coalesce(mine.again_ms, 0) * interval '1 ms',
             worker = null, woken = false, lane = coalesce(mine.new_lane, lane),
             attempts = case when mine.outcome = 'woken' then 0 when mine.is_counted then attempts
                             else greatest(0, attempts - 1) end,
             state = case when mine.outcome = 'woken' then null else coalesce(mine.new_state, state) end,
             error = coalesce(mine.died_of, mine.why),
             died_at = case when mine.outcome = 'dead' then now() end,
             dead_id = case when mine.outcome = 'dead' then gen_random_uuid() end
        from mine
       where work.id = any(array(select id from mine)) and work.id = mine.id and mine.outcome <> 'done')
    select id, kind, case when outcome in ('done', 'dead') then line end as line from mine`,
};

/** Makes the next row of each line ready. A separate statement, so that it sees rows of other transactions. */
export const NEXT_IN_LINE: Statement = {
  name: 'work_next_in_line',
  text: `
    update work set ready = true, due_at = now()
     where id = any(array(
       select next.id
         from (select distinct kind, line from unnest($1::text[], $2::text[]) as ended (kind, line)) as ended
        cross join lateral (
          select id, ready, due_at from work
           where kind = ended.kind and line between ended.line and ended.line and died_at is null
           order by line, id limit 1) as next
        where next.ready or next.due_at = 'infinity'))`,
};

export const RENEW: Statement = {
  name: 'work_renew',
  text: `
    update work set due_at = now() + claim.lease_ms * interval '1 ms', state = coalesce(claim.state, work.state)
      from unnest($2::bigint[], $3::int[], $4::int[], $5::jsonb[]) as claim (id, fence, lease_ms, state)
     where work.id = any($2::bigint[]) and work.id = claim.id and work.fence = claim.fence
       and work.worker = $1 and not work.ready
    returning work.id`,
};
