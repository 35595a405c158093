// SQL: claims and ends of many rows in one statement.
import { Injectable } from '@nestjs/common';
import { Statements, type Statement } from '../database/statements.js';
import type { Tx } from '../database/transactions.js';
import { type Again, type Claimed, type Kind, LostClaims, type NewWork } from './kind.js';
import type { WorkEntity } from './work.entity.js';

/** A lane with a pause, or with places of its own. */
export interface OwnLane {
  readonly lane: string;
  /** Null: the lane has no kind of its own. */
  readonly kind: string | null;
  /** Null: as many as its kind has. */
  readonly places: number | null;
}

/** Free places of a lane on this replica. */
export interface Room {
  readonly lane: string;
  readonly free: number;
  readonly places: number;
  readonly busy: number;
  readonly leaseMs: number;
  /** Claims that lapsed are taken one at a time: if one of them ends the process, it fails alone. */
  readonly takesLapsed: boolean;
  /** For each urgency: nothing older waits. The scan of the index starts here instead of stepping over removed rows. */
  readonly since: readonly (Date | undefined)[];
}

export type ClaimedRow = Pick<
  WorkEntity,
  | 'id'
  | 'kind'
  | 'ref'
  | 'lane'
  | 'fence'
  | 'attempts'
  | 'data'
  | 'state'
  | 'traceparent'
  | 'added_at'
> & {
  readonly lapsed: boolean;
  /** When the row became ready, and its urgency. Null for a row that lapsed. */
  readonly ready_at: Date | null;
  readonly urgency: number | null;
};

interface Look {
  readonly claimed: readonly ClaimedRow[];
  /** Whether rows became ready that the next look can claim. */
  readonly hasLifted: boolean;
  readonly at: Date;
  /** Lanes that the rooms do not have, that have other places, or that are paused or narrow. */
  readonly lanes: readonly OwnLane[];
  /** Gated lanes with work that may be claimed behind their gates. */
  readonly ready: readonly string[];
}

/** How the work of a claim ends: done, to be tried again, or dead. */
export interface Ending {
  readonly row: Pick<Claimed, 'id' | 'fence'>;
  readonly again?: Again;
  readonly diedOf?: string;
}

/** A row that was added again while it is worked on is worked on again afterwards. */
const IN_WORK = '(work.worker is not null and not work.ready)';

const ADD: Statement = {
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
           case when waits then 'infinity' else coalesce(added.due_at, now()) end
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
      due_at = case when ${IN_WORK} then work.due_at when work.line is null then least(work.due_at, excluded.due_at)
                    else least(work.due_at, now()) end`,
};

const ROW = `
  work.id, work.kind, work.ref, work.lane, work.fence, work.attempts, work.data, work.state, work.traceparent,
  work.added_at`;

/** Adds work that the worker has claimed. Work that is being done stays as it is. */
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
      worker = excluded.worker, fence = work.fence + 1, attempts = work.attempts + 1,
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

/** Makes due rows ready and claims ready rows. What it made ready is claimed by the next look. */
const LOOK: Statement = {
  name: 'work_look',
  text: `
    with lifted as materialized (${LIFTED}), ${FREE(4)},
         next as materialized (${NEXT('($10::timestamptz[])')}),
         claimed as materialized (${CLAIMED})
    select claimed.*, look.*
      from (select count(*) > 0 as has_lifted, now() as at,
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

const CLAIM: Statement = {
  name: 'work_claim',
  text: `
    with ${FREE(2)}, next as materialized (${NEXT('($8::timestamptz[])')}), claimed as (${CLAIMED})
    select claimed.*, now() as at from (select 1) as look left join claimed on true`,
};

/** Ends the claims that still count. Without its claim, a worker changes nothing. */
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

/** The next row of each line may be claimed. A statement of its own, so that it sees rows of other transactions. */
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

/** A row that is always there, as of a timer. */
const ENSURE: Statement = {
  name: 'work_ensure',
  text: `
    insert into work (kind, ref, lane, urgency, ready, due_at)
    select kind, $2, kind, $3, true, now() from unnest($1::text[]) as wanted (kind)
    on conflict (kind, ref) do nothing`,
};

const ENSURE_LANES: Statement = {
  name: 'work_ensure_lanes',
  text: `
    insert into work_lanes (lane, types, payload, kind)
    select lane, coalesce(types, '{}'), payload, kind
      from jsonb_to_recordset($1::jsonb) as wanted (lane text, types text[], payload text, kind text) order by lane
    on conflict (lane) do update set types = excluded.types, payload = excluded.payload, kind = excluded.kind
     where (work_lanes.types, work_lanes.payload, work_lanes.kind)
        is distinct from (excluded.types, excluded.payload, excluded.kind)`,
};

const SLOW_LANE: Statement = {
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

const RESUME_LANE: Statement = {
  name: 'work_resume_lane',
  text: `
    update work_lanes
       set paused_until = null, reason = null, narrow_until = case when $2 then null else narrow_until end
     where lane = $1 and (paused_until is not null or $2 and narrow_until is not null)`,
};

const HURRY_LANE: Statement = {
  name: 'work_hurry_lane',
  text: `
    update work set ready = true, due_at = now()
     where id = any(array(
       select id from work
        where not ready and died_at is null and due_at < 'infinity' and lane = $1 and worker is null
        order by id for update))`,
};

const HURRY: Statement = {
  name: 'work_hurry',
  text: `
    update work set ready = $3::float8 = 0, due_at = now() + $3 * interval '1 ms'
     where id = any(array(
       select id from work
        where kind = $1 and ref = any($2::uuid[]) and not ready and died_at is null and worker is null
          and due_at > now() + $3 * interval '1 ms' and due_at < 'infinity'
        order by id for update))`,
};

const LIMIT_LOCK_WAITS: Statement = {
  name: 'work_limit_lock_waits',
  text: `select set_config('lock_timeout', $1, true)`,
};

const RENEW: Statement = {
  name: 'work_renew',
  text: `
    update work set due_at = now() + claim.lease_ms * interval '1 ms'
      from (select * from unnest($2::bigint[], $3::int[], $4::int[]) as claim (id, fence, lease_ms)) as claim
     where work.id = any($2::bigint[]) and work.id = claim.id and work.fence = claim.fence
       and work.worker = $1 and not work.ready
    returning work.id`,
};

const NOTE: Statement = {
  name: 'work_note',
  text: `
    update work set state = note.state
      from unnest($2::bigint[], $3::int[], $4::jsonb[]) as note (id, fence, state)
     where work.id = any($2::bigint[]) and work.id = note.id and work.fence = note.fence
       and work.worker = $1 and not work.ready
    returning work.id`,
};

const CANCEL: Statement = {
  name: 'work_cancel',
  text: `
    delete from work
     where id = any(array(select id from work where kind = $1 and ref = any($2::uuid[]) order by id for update))
       and (not $3 or not ${IN_WORK})
    returning id, kind, ref, line`,
};

type InLine = Pick<WorkEntity, 'id' | 'kind' | 'line'>;

/** Of a kind that has one row. */
const ONLY_REF = '00000000-0000-0000-0000-000000000000';
const SINCE_EVER = '-infinity';
export const LEVEL_COUNT = 5;
const NORMAL = 2;

@Injectable()
export class WorkRepository {
  constructor(private readonly statements: Statements) {}

  /** Adds work. Work that waits already gets the new data. Work that is being done is done again afterwards. */
  async add(
    tx: Tx,
    kind: string,
    added: readonly NewWork[],
    traceparent: string | undefined,
  ): Promise<void> {
    const rows = added.map(({ ref, data, lane, line, urgency = NORMAL, dueAt }, place) => {
      return { place, ref, data, lane, line, urgency, due_at: dueAt };
    });
    await this.statements.rowsIn(tx, ADD, [kind, JSON.stringify(rows), traceparent]);
  }

  /** Returns the claimed rows, without those that are being done already. */
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

  /** Adds a row of each kind if it is not there. */
  async ensure(kinds: readonly string[]): Promise<void> {
    await this.statements.rows(ENSURE, [kinds, ONLY_REF, NORMAL]);
  }

  /** Lets domain events become work of these kinds. */
  async ensureLanes(kinds: readonly Kind[]): Promise<void> {
    const lanes = kinds
      .filter(({ news, isPausable }) => news ?? isPausable)
      .map(({ name, news, isPausable }) => {
        return { lane: name, types: news?.types, payload: news?.where, kind: isPausable && name };
      });
    await this.statements.rows(ENSURE_LANES, [JSON.stringify(lanes)]);
  }

  async limitLockWaits(tx: Tx, ms: number): Promise<void> {
    await this.statements.rowsIn(tx, LIMIT_LOCK_WAITS, [String(ms)]);
  }

  /**
   * @param lapsedLanes where lapsed claims of a kind go on
   * @param since no earlier row became due
   * @param gated lanes whose work claimIn claims
   */
  async look(
    worker: string,
    rooms: readonly Room[],
    lapsedLanes: Readonly<Record<string, string>>,
    since: Date | undefined,
    gated: readonly Pick<Room, 'lane' | 'since'>[] = [],
  ): Promise<Look> {
    const lapsed = JSON.stringify(lapsedLanes);
    const behind = [gated.map(({ lane }) => lane), gated.map(sinceOf)];
    const values = [worker, lapsed, since ?? SINCE_EVER, ...valuesOf(rooms), ...behind];
    const rows = await this.statements.rows<
      ClaimedRow & { readonly has_lifted: boolean } & Pick<Look, 'at' | 'lanes' | 'ready'>
    >(LOOK, values);
    const [{ has_lifted, at, lanes, ready }] = rows as [(typeof rows)[number]];
    return { claimed: claimedOf(rows), hasLifted: has_lifted, at, lanes, ready };
  }

  /** Claims in a transaction that has passed the gate of the lanes. */
  async claimIn(
    tx: Tx,
    worker: string,
    rooms: readonly Room[],
  ): Promise<Pick<Look, 'claimed' | 'at'>> {
    const values = [worker, ...valuesOf(rooms)];
    const rows = await this.statements.rowsIn<ClaimedRow & { readonly at: Date }>(
      tx,
      CLAIM,
      values,
    );
    return { claimed: claimedOf(rows), at: rows[0]!.at };
  }

  /** The last statement of the transaction that does the work. Throws LostClaims if a claim no longer counts. */
  async end(tx: Tx, worker: string, endings: readonly Ending[]): Promise<void> {
    const ended = await this.statements.rowsIn<InLine>(tx, END, [
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
    await this.moveLines(tx, ended);
  }

  /** Returns the ids of the claims that still count. */
  async renew(
    worker: string,
    claims: readonly (Ending['row'] & { readonly leaseMs: number })[],
  ): Promise<ReadonlySet<string>> {
    const rows = await this.statements.rows<{ id: string }>(RENEW, [
      worker,
      claims.map(({ id }) => id),
      claims.map(({ fence }) => fence),
      claims.map(({ leaseMs }) => leaseMs),
    ]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Returns the ids of the claims that still count. */
  async note(
    worker: string,
    notes: readonly { readonly row: Ending['row']; readonly state: object }[],
    tx?: Tx,
  ): Promise<ReadonlySet<string>> {
    const values = [
      worker,
      notes.map(({ row }) => row.id),
      notes.map(({ row }) => row.fence),
      notes.map(({ state }) => state),
    ];
    const rows = await this.statements.rowsIn<{ id: string }>(tx, NOTE, values);
    return new Set(rows.map(({ id }) => id));
  }

  /** Returns the refs of the removed rows. */
  async cancel(tx: Tx, kind: string, refs: readonly string[], isWaiting: boolean) {
    const values = [kind, refs, isWaiting];
    const gone = await this.statements.rowsIn<InLine & { ref: string }>(tx, CANCEL, values);
    await this.moveLines(tx, gone);
    return gone.map(({ ref }) => ref);
  }

  async slowLane(
    tx: Tx,
    lane: string,
    pauseMs: number,
    narrowMs: number,
    reason?: object,
  ): Promise<void> {
    await this.statements.rowsIn(tx, SLOW_LANE, [lane, pauseMs, narrowMs, reason]);
  }

  async resumeLane(tx: Tx, lane: string, widens: boolean): Promise<void> {
    await this.statements.rowsIn(tx, RESUME_LANE, [lane, widens]);
  }

  async hurry(tx: Tx, kind: string, refs: readonly string[], inMs: number): Promise<void> {
    await this.statements.rowsIn(tx, HURRY, [kind, refs, inMs]);
  }

  async hurryLane(tx: Tx, lane: string): Promise<void> {
    await this.statements.rowsIn(tx, HURRY_LANE, [lane]);
  }

  private async moveLines(tx: Tx, ended: readonly InLine[]): Promise<void> {
    const inLine = ended.filter(({ line }) => line !== null);
    if (inLine.length === 0) return;
    const lines = inLine.map(({ line }) => line);
    await this.statements.rowsIn(tx, NEXT_IN_LINE, [inLine.map(({ kind }) => kind), lines]);
  }
}

function valuesOf(rooms: readonly Room[]): unknown[] {
  return [
    rooms.map(({ lane }) => lane),
    rooms.map(({ free }) => free),
    rooms.map(({ leaseMs }) => leaseMs),
    rooms.map(({ takesLapsed }) => takesLapsed),
    rooms.map(({ places }) => places),
    rooms.map(({ busy }) => busy),
    rooms.map(sinceOf),
  ];
}

const sinceOf = ({ since }: Pick<Room, 'since'>) =>
  Array.from({ length: LEVEL_COUNT }, (_, urgency) => since[urgency] ?? SINCE_EVER);

/** Without the row of nulls that stands for nothing. */
function claimedOf(rows: readonly ClaimedRow[]): ClaimedRow[] {
  return rows
    .filter(({ id }) => id !== null)
    .sort((one, other) => Number(one.id) - Number(other.id));
}
