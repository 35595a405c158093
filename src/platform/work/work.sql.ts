// SQL: claims and ends of many rows in one statement.
import type { Statement } from '../database/statements.js';

/** A row that was added again while it is worked on is worked on again afterwards. */
const IN_WORK = '(work.worker is not null and not work.ready)';

export const ADD: Statement = {
  name: 'work_add',
  text: `
    with added as materialized (
      select *, row_number() over (partition by line order by place) as in_line
        from jsonb_to_recordset($2::jsonb) as added (
          place int, ref uuid, lane text, line text, urgency smallint, data jsonb, due_at timestamptz)),
    -- Holds the end of the last row of each line until this transaction ends, so that the end sees the added rows. Ends
    -- lock their rows in the order of the ids, too.
    before as materialized (
      select line from work
       where died_at is null and id = any(array(
         select last.id
           from (select distinct line from added where line is not null) as added
          cross join lateral (
            select id from work
             where kind = $1 and line between added.line and added.line and died_at is null
             order by line desc, id desc limit 1) as last))
       order by id for key share)
    insert into work (kind, ref, lane, line, urgency, data, traceparent, ready, due_at)
    select $1, added.ref, coalesce(added.lane, $1), added.line, added.urgency, added.data, $3,
           not waits and coalesce(added.due_at <= now(), true),
           case when waits then 'infinity' else greatest(added.due_at, now()) end
      from added left join before on before.line = added.line
     cross join lateral (
       select added.line is not null and (before.line is not null or added.in_line > 1) as waits) as turn
     order by added.place
    on conflict (kind, ref) do update set
      data = excluded.data, traceparent = excluded.traceparent, died_at = null, dead_id = null,
      attempts = case when work.died_at is null then work.attempts else 0 end,
      added_at = case when work.died_at is null then work.added_at else now() end,
      woken = ${IN_WORK},
      ready = case when ${IN_WORK} then false when work.line is null then work.ready or excluded.ready
                   else true end,
      due_at = case when ${IN_WORK} then work.due_at when work.died_at is not null then excluded.due_at
                    when work.line is null then least(work.due_at, excluded.due_at)
                    else least(work.due_at, now()) end`,
};

const ROW = `
  work.id, work.kind, work.ref, work.lane, work.fence, work.attempts, work.data, work.state, work.traceparent,
  work.added_at`;

/** Adds work that the worker has claimed. Work that is being done stays as it is. */
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
     where not ${IN_WORK}
    returning ${ROW}, false as lapsed, null as ready_at, null as urgency`,
};

/** The locks let transactions pass that add rows to the line (see ADD). */
const LIFTED = `
    update work set ready = true, due_at = now(),
           lane = case when worker is null then lane else coalesce($2::jsonb ->> kind, lane) end
     where id = any(array(
       select id from work
        where not ready and died_at is null and due_at <= now() and due_at >= $3
        order by due_at limit 1000 for no key update skip locked))
    returning id`;

const LEVELS = `unnest(array[0, 1, 2, 3, 4]::smallint[]) as level (urgency)`;

/** Statements find their rows by arrays of ids: a join may read the whole table if the statistics are old. */
const NEXT = (since: string) => `
    select head.id, room.lease_ms, false as lapsed, head.due_at as ready_at, head.urgency
      from free as room
     cross join lateral (
       select one.id, one.due_at, level.urgency
         from ${LEVELS}
        cross join lateral (
          select id, due_at from work
           where lane = room.lane and ready and urgency = level.urgency
             and due_at >= ${since}[room.n][level.urgency + 1] and worker is null
             and (line is null or id = (
               select first.id from work first
                where first.kind = work.kind and first.line between work.line and work.line
                  and first.died_at is null
                order by first.line, first.id limit 1))
           order by due_at, id limit room.free for no key update skip locked) as one
        limit room.free) as head
    union all
    select lapsed.id, room.lease_ms, true, null, null
      from free as room
     cross join lateral (
       select id from work
        where lane = room.lane and ready and worker is not null
        order by due_at, id limit 1 for no key update skip locked) as lapsed
     where room.takes_lapsed and room.free > 0`;

const CLAIMED = `
    update work set ready = false, woken = false, worker = $1, fence = fence + 1, attempts = attempts + 1,
           due_at = now() + next.lease_ms * interval '1 ms'
      from next
     where work.id = any(array(select id from next)) and work.id = next.id
    returning ${ROW}, next.lapsed, next.ready_at, next.urgency`;

const ROOMS = (first: number) => {
  const types = ['text', 'int', 'int', 'bool', 'int', 'int'];
  const arrays = types.map((type, at) => `$${first + at}::${type}[]`).join(', ');
  return `unnest(${arrays}) with ordinality as room (lane, free, lease_ms, takes_lapsed, places, busy, n)`;
};

/** Rooms without the places that lanes of their own do not give now. */
const FREE = (first: number) => `
    free as materialized (
      select room.lane, room.lease_ms, room.takes_lapsed, room.places, room.n,
             case when own.paused_until > now() then 0
                  else greatest(0, least(room.free, own.places - room.busy,
                                         case when own.narrow_until > now() then 1 end - room.busy)) end as free
        from ${ROOMS(first)} left join work_lanes own on own.lane = room.lane)`;

const FREE_PLACES = `array(select free from free order by n) as free`;

/** Makes due rows ready and claims ready rows. What it made ready is claimed by the next look. */
export const LOOK: Statement = {
  name: 'work_look',
  text: `
    with lifted as materialized (${LIFTED}), ${FREE(4)},
         next as materialized (${NEXT('($10::timestamptz[])')}),
         claimed as materialized (${CLAIMED})
    select claimed.*, look.*
      from (select count(*) > 0 as has_lifted, now() as at, ${FREE_PLACES},
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
              from lifted) as look
      left join claimed on true`,
};

export const CLAIM: Statement = {
  name: 'work_claim',
  text: `
    with ${FREE(2)}, next as materialized (${NEXT('($8::timestamptz[])')}), claimed as (${CLAIMED})
    select claimed.*, look.* from (select now() as at, ${FREE_PLACES}) as look left join claimed on true`,
};

/** Ends the claims that still count. Without its claim, a worker changes nothing. */
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

/** The next row of each line may be claimed. A statement of its own, so that it sees rows of other transactions. */
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

/** A row that is always there, as of a timer. */
export const ENSURE: Statement = {
  name: 'work_ensure',
  text: `
    insert into work (kind, ref, lane, urgency, ready, due_at)
    select kind, $2, kind, $3, true, now() from unnest($1::text[]) as wanted (kind)
    on conflict (kind, ref) do nothing`,
};

export const ENSURE_LANES: Statement = {
  name: 'work_ensure_lanes',
  text: `
    insert into work_lanes (lane, types, payload, kind)
    select lane, coalesce(types, '{}'), payload, kind
      from jsonb_to_recordset($1::jsonb) as wanted (lane text, types text[], payload text, kind text) order by lane
    on conflict (lane) do update set types = excluded.types, payload = excluded.payload, kind = excluded.kind
     where (work_lanes.types, work_lanes.payload, work_lanes.kind)
        is distinct from (excluded.types, excluded.payload, excluded.kind)`,
};

export const SLOW_LANE: Statement = {
  name: 'work_slow_lane',
  text: `
    insert into work_lanes (lane, paused_until, narrow_until, reason)
    select $1, now() + nullif($2::float8, 0) * interval '1 ms',
           case when $3::float8 = 'infinity' then 'infinity' else now() + nullif($3::float8, 0) * interval '1 ms' end,
           $4::jsonb
    on conflict (lane) do update set
      paused_until = greatest(work_lanes.paused_until, excluded.paused_until),
      narrow_until = greatest(work_lanes.narrow_until, excluded.narrow_until),
      reason = coalesce(excluded.reason, work_lanes.reason)`,
};

export const RESUME_LANE: Statement = {
  name: 'work_resume_lane',
  text: `
    update work_lanes
       set paused_until = null, reason = null, narrow_until = case when $2 then null else narrow_until end
     where lane = $1 and (paused_until is not null or $2 and narrow_until is not null)`,
};

export const HURRY_LANE: Statement = {
  name: 'work_hurry_lane',
  text: `
    update work set ready = true, due_at = now()
     where id = any(array(
       select id from work
        where not ready and died_at is null and due_at < 'infinity' and lane = $1 and worker is null
        order by id for update))`,
};

export const HURRY: Statement = {
  name: 'work_hurry',
  text: `
    update work set ready = $3::float8 = 0, due_at = now() + $3 * interval '1 ms'
     where id = any(array(
       select id from work
        where kind = $1 and ref = any($2::uuid[]) and not ready and died_at is null and worker is null
          and due_at > now() + $3 * interval '1 ms' and due_at < 'infinity'
        order by id for update))`,
};

export const LIMIT_LOCK_WAITS: Statement = {
  name: 'work_limit_lock_waits',
  text: `select set_config('lock_timeout', $1, true)`,
};

export const RENEW: Statement = {
  name: 'work_renew',
  text: `
    update work set due_at = now() + claim.lease_ms * interval '1 ms'
      from (select * from unnest($2::bigint[], $3::int[], $4::int[]) as claim (id, fence, lease_ms)) as claim
     where work.id = any($2::bigint[]) and work.id = claim.id and work.fence = claim.fence
       and work.worker = $1 and not work.ready
    returning work.id`,
};

export const NOTE: Statement = {
  name: 'work_note',
  text: `
    update work set state = note.state
      from unnest($2::bigint[], $3::int[], $4::jsonb[]) as note (id, fence, state)
     where work.id = any($2::bigint[]) and work.id = note.id and work.fence = note.fence
       and work.worker = $1 and not work.ready
    returning work.id`,
};

export const CANCEL: Statement = {
  name: 'work_cancel',
  text: `
    delete from work
     where id = any(array(select id from work where kind = $1 and ref = any($2::uuid[]) order by id for update))
       and (not $3 or not ${IN_WORK})
    returning id, kind, ref, line`,
};
