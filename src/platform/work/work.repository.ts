// SQL: claims and ends many rows in one statement.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../database/statements.js';
import type { Tx } from '../database/transactions.js';
import { type Again, type Claimed, LostClaims, type NewWork } from './kind.js';

export interface LaneRequest {
  readonly lane: string;
  readonly free: number;
  readonly places: number;
  readonly busy: number;
  readonly leaseMs: number;
  /** A lane takes over only one expired claim at a time, so that work that kills the process fails alone. */
  readonly takesLapsed: boolean;
  /** For each urgency, a lower bound of the times of ready work. The index scan begins there, to skip removed rows. */
  readonly since: readonly (Date | undefined)[];
}

export interface ClaimedRow extends Omit<Claimed, 'permit' | 'signal' | 'note'> {
  readonly traceparent: string | null;
  /** Time at which the row became ready. Null, like `urgency`, if the row comes from an expired claim. */
  readonly ready_at: Date | null;
  readonly urgency: number | null;
}

/** Lane in `work_lanes` with a pause, a limit of one place, or a number of places that the worker does not know. */
export interface LimitedLane {
  readonly lane: string;
  readonly kind: string | null;
  readonly places: number | null;
}

export interface Look {
  readonly claimed: readonly ClaimedRow[];
  readonly free: readonly number[];
  readonly at: Date;
  /** True if the poll made due rows ready. The next poll can claim these rows. */
  readonly made_ready: boolean;
  readonly lanes: readonly LimitedLane[];
  /** Lanes with a permit check that have work for `claimIn`. */
  readonly ready: readonly string[];
}

export type ClaimId = Pick<Claimed, 'id' | 'fence'>;

export interface Ending {
  readonly row: ClaimId;
  readonly again?: Again;
  readonly diedOf?: string;
}

interface Renewal {
  readonly row: ClaimId;
  readonly kind: { readonly leaseMs: number };
  readonly state?: object;
}

export interface Removed {
  readonly id: string;
  readonly kind: string;
  readonly ref: string;
  readonly line: string | null;
}

const SINCE_EVER = '-infinity';
export const LEVEL_COUNT = 5;
export const NORMAL = 2;

export const IS_CLAIMED = '(work.worker is not null and not work.ready)';

const ROW = `
  work.id, work.kind, work.ref, work.lane, work.fence, work.attempts as attempt, work.data, work.state, work.traceparent,
  work.added_at`;

/** Adds work and claims it for the worker. Does not change work that is already claimed. */
const ADD_CLAIMED: Statement = {
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

/** Makes due rows ready. Its locks do not block transactions that add rows to the line (see ADD in work.ts). */
const MAKE_READY = `
    update work set ready = true, due_at = now(),
           lane = case when worker is null then lane else coalesce($2::jsonb ->> kind, lane) end
     where id = any(array(
       select id from work
        where not ready and died_at is null and due_at <= now() and due_at >= $3
        order by due_at limit 1000 for no key update skip locked))
    returning id`;

const LEVELS = `unnest(array[0, 1, 2, 3, 4]::smallint[]) as level (urgency)`;

/** Later statements find the rows by arrays of ids, because a join with old statistics may read the whole table. */
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

/** A row in `work_lanes` may reduce the free places of a lane: fewer places, a pause or a limit of one place. */
const FREE = `
    free as materialized (
      select request.lane, request.lease_ms, request.takes_lapsed, request.places, request.n,
             case when own.paused_until > now() then 0
                  else greatest(0, least(request.free, own.places - request.busy,
                                         case when own.narrow_until > now() then 1 end - request.busy)) end as free
        from unnest($4::text[], $5::int[], $6::int[], $7::bool[], $8::int[], $9::int[])
             with ordinality as request (lane, free, lease_ms, takes_lapsed, places, busy, n)
        left join work_lanes own on own.lane = request.lane)`;

/** Makes due rows ready, and claims rows that were ready before. The next poll claims the rows that became ready. */
const LOOK: Statement = {
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

const END: Statement = {
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

/** A separate statement, because it must see the rows that other transactions have committed in the meantime. */
const NEXT_IN_LINE: Statement = {
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

const RENEW: Statement = {
  name: 'work_renew',
  text: `
    update work set due_at = now() + claim.lease_ms * interval '1 ms', state = coalesce(claim.state, work.state)
      from unnest($2::bigint[], $3::int[], $4::int[], $5::jsonb[]) as claim (id, fence, lease_ms, state)
     where work.id = any($2::bigint[]) and work.id = claim.id and work.fence = claim.fence
       and work.worker = $1 and not work.ready
    returning work.id`,
};

/** Claims of work: each statement changes only claims that the worker still has. */
@Injectable()
export class WorkRepository {
  constructor(private readonly statements: Statements) {}

  async addClaimed(
    tx: Tx,
    worker: string,
    kind: string,
    leaseMs: number,
    added: readonly NewWork[],
  ): Promise<readonly ClaimedRow[]> {
    const rows = added.map(({ ref, data, lane, urgency = NORMAL, span }, place) => {
      return { place, ref, data, lane, urgency, traceparent: span?.traceparent };
    });
    const values = [worker, kind, leaseMs, JSON.stringify(rows)];
    return await this.statements.rowsIn(tx, ADD_CLAIMED, values);
  }

  /** @param lapsedLanes lanes of lapsed claims, by kind; @param dueSince minimum due time; @param gated see `ready` */
  async look(
    worker: string,
    requests: readonly LaneRequest[],
    {
      lapsedLanes = {},
      dueSince = SINCE_EVER,
      gated = [],
    }: {
      readonly lapsedLanes?: Readonly<Record<string, string>>;
      readonly dueSince?: Date | string | undefined;
      readonly gated?: readonly Pick<LaneRequest, 'lane' | 'since'>[];
    } = {},
    tx?: Tx,
  ): Promise<Look> {
    const rows = await this.statements.rowsIn<ClaimedRow & Omit<Look, 'claimed'>>(tx, LOOK, [
      worker,
      JSON.stringify(lapsedLanes),
      dueSince,
      requests.map(({ lane }) => lane),
      requests.map(({ free }) => free),
      requests.map(({ leaseMs }) => leaseMs),
      requests.map(({ takesLapsed }) => takesLapsed),
      requests.map(({ places }) => places),
      requests.map(({ busy }) => busy),
      requests.map(sinceOf),
      gated.map(({ lane }) => lane),
      gated.map(sinceOf),
    ]);
    // If the poll claims nothing, the statement returns one row of nulls.
    const claimed = rows.filter(({ id }) => id !== null);
    return { ...rows[0]!, claimed: claimed.sort((a, b) => Number(a.id) - Number(b.id)) };
  }

  /** Claims rows in a transaction that has passed the permit check of the lanes. Does not make due rows ready. */
  async claimIn(tx: Tx, worker: string, requests: readonly LaneRequest[]): Promise<Look> {
    return await this.look(worker, requests, { dueSince: 'infinity' }, tx);
  }

  /** Must be the last statement of the transaction of the work. Throws LostClaims if a claim was lost. */
  async end(tx: Tx, worker: string, endings: readonly Ending[]): Promise<void> {
    const ended = await this.statements.rowsIn<Removed>(tx, END, [
      worker,
      endings.map(({ row }) => row.id),
      endings.map(({ row }) => row.fence),
      endings.map(({ again }) => again && Math.max(0, Math.round(again.inMs))),
      endings.map(({ diedOf }) => diedOf),
      endings.map(({ again }) => again?.why),
      endings.map(({ again }) => again?.state),
      endings.map(({ again }) => again?.countsAsAttempt !== false),
      endings.map(({ again }) => again?.lane),
    ]);
    if (ended.length < endings.length) {
      const mine = new Set(ended.map(({ id }) => id));
      throw new LostClaims(new Set(endings.map(({ row }) => row.id).filter((id) => !mine.has(id))));
    }
    await this.advanceLines(tx, ended);
  }

  async advanceLines(tx: Tx, ended: readonly Removed[]): Promise<void> {
    const inLine = ended.filter(({ line }) => line !== null);
    if (inLine.length === 0) return;
    const lines = inLine.map(({ line }) => line);
    await this.statements.rowsIn(tx, NEXT_IN_LINE, [inLine.map(({ kind }) => kind), lines]);
  }

  /** Renews leases and stores the states that are given. Returns the ids of the claims that the worker still has. */
  async renew(worker: string, claims: readonly Renewal[], tx?: Tx): Promise<ReadonlySet<string>> {
    const rows = await this.statements.rowsIn<ClaimId>(tx, RENEW, [
      worker,
      claims.map(({ row }) => row.id),
      claims.map(({ row }) => row.fence),
      claims.map(({ kind }) => kind.leaseMs),
      claims.map(({ state }) => state),
    ]);
    return new Set(rows.map(({ id }) => id));
  }
}

const sinceOf = ({ since }: Pick<LaneRequest, 'since'>) =>
  Array.from({ length: LEVEL_COUNT }, (_, urgency) => since[urgency] ?? SINCE_EVER);
