// SQL: adds or changes many rows in one statement.
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { type Statement, Statements } from '../database/statements.js';
import { afterCommit, Transactions, type Tx } from '../database/transactions.js';
import { presentSpan } from '../tracing/tracing.js';
import { AgainOutcome, DEFAULTS, type DefinedKind, type Kind, type NewWork } from './kind.js';
import { WorkWorker } from './work-worker.js';
import { IS_CLAIMED, NORMAL, type Removed, WorkRepository } from './work.repository.js';

const GRACE_MARGIN_MS = 500;
/** Interval at which timers and lanes are registered again, because a restore may remove their rows. */
const REGISTERED_FOR_MS = 60_000;
const TIMER_LIMIT_MS = 900_000;
export const TIMERS = 'every.';
/** `ref` of the only row of a timer. */
const ONLY_REF = '00000000-0000-0000-0000-000000000000';

/** Adds rows, or updates existing rows. Claimed work is repeated after its attempt. */
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
           case when waits then 'infinity' else greatest(added.due_at, now()) end
      from added left join before on before.line = added.line
     cross join lateral (
       select added.line is not null and (before.line is not null or added.in_line > 1) as waits) as turn
     order by added.place
    on conflict (kind, ref) do update set
      data = excluded.data, traceparent = excluded.traceparent, died_at = null, dead_id = null,
      attempts = case when work.died_at is null then work.attempts else 0 end,
      added_at = case when work.died_at is null then work.added_at else now() end,
      woken = ${IS_CLAIMED},
      ready = case when ${IS_CLAIMED} then false when work.line is null then work.ready or excluded.ready
                   else true end,
      due_at = case when ${IS_CLAIMED} then work.due_at when work.died_at is not null then excluded.due_at
                    when work.line is null then least(work.due_at, excluded.due_at)
                    else least(work.due_at, now()) end`,
};

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
       set paused_until = null, reason = null, narrow_until = null
     where lane = $1 and (paused_until is not null or narrow_until is not null)`,
};

const HURRY_LANE: Statement = {
  name: 'work_hurry_lane',
  text: `
    update work set ready = true, due_at = now()
     where id = any(array(
       select id from work
        where lane = $1 and not ready and died_at is null and worker is null and due_at > now() and due_at < 'infinity'
        order by id for update))`,
};

const CANCEL: Statement = {
  name: 'work_cancel',
  text: `
    delete from work
     where id = any(array(select id from work where kind = $1 and ref = any($2::uuid[]) order by id for update))
       and (not $3 or not ${IS_CLAIMED})
    returning id, kind, ref, line`,
};

/** Work is added in the caller's transaction and processed at least once. The row of dead work is kept. */
@Injectable()
export class Work
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly log = new Logger('Work');
  private readonly kinds = new Map<string, DefinedKind>();
  private readonly worker: WorkWorker;
  private registeredAt = -Infinity;
  private deadline = Infinity;

  constructor(
    private readonly statements: Statements,
    private readonly repository: WorkRepository,
    transactions: Transactions,
    private readonly settings: Settings,
  ) {
    this.worker = new WorkWorker(repository, transactions, this.kinds, () => this.register());
  }

  define<D, R>(kind: Kind<D, R>): void {
    if (this.kinds.has(kind.name)) throw new Error(`${kind.name} is already defined.`);
    this.kinds.set(kind.name, { ...DEFAULTS, ...(kind as Kind) });
  }

  /** Calls `handler` once per period on one replica. A failed call is not repeated before the next period. */
  every(name: string, seconds: number, handler: (signal: AbortSignal) => Promise<unknown>): void {
    const one: Kind['one'] = async ({ signal }) => {
      const begun = performance.now();
      try {
        await handler(signal);
      } catch (err) {
        this.log.warn({ err, timer: name }, 'A timer failed.');
      }
      const inMs = seconds * 1_000 - (performance.now() - begun);
      return new AgainOutcome({ inMs, countsAsAttempt: false });
    };
    const timer = { name: TIMERS + name, places: 1, timeLimitMs: TIMER_LIMIT_MS, one };
    this.define({ ...timer, mostAttempts: Infinity });
  }

  /** The work starts after the commit. Waiting work gets the new data, and claimed work is repeated. */
  async add<D>(
    tx: Tx,
    kind: Pick<Kind<D>, 'name'>,
    ...added: readonly NewWork<D>[]
  ): Promise<void> {
    if (added.length === 0) return;
    const rows = added.map(({ ref, data, lane, line, urgency = NORMAL, dueAt }, place) => {
      return { place, ref, data, lane, line, urgency, due_at: dueAt };
    });
    const values = [kind.name, JSON.stringify(rows), presentSpan()?.traceparent];
    await this.change(tx, ADD, values);
  }

  /** Adds work that this replica starts for a waiting request, beyond the places of the lane, with the caller's permit. */
  async addClaimed<D>(
    tx: Tx,
    kind: Pick<Kind<D>, 'name'>,
    added: readonly NewWork<D>[],
    permit?: object,
  ): Promise<ReadonlyMap<string, Promise<void>>> {
    return await this.worker.addClaimed(tx, this.kinds.get(kind.name)!, added, permit);
  }

  /** A worker that later ends a removed claim gets an error. Returns the refs of the removed rows. */
  async cancel(
    tx: Tx,
    kind: Pick<Kind, 'name'>,
    refs: readonly string[],
    which: 'all' | 'waiting' = 'all',
  ): Promise<readonly string[]> {
    if (refs.length === 0) return [];
    const values = [kind.name, refs, which === 'waiting'];
    const removed = await this.statements.rowsIn<Removed>(tx, CANCEL, values);
    await this.repository.advanceLines(tx, removed);
    return removed.map(({ ref }) => ref);
  }

  /** For `pauseMs`, the lane claims nothing. For `narrowMs`, which can be Infinity, the lane has only one place. */
  async slowLane(
    tx: Tx,
    lane: string,
    pauseMs: number,
    narrowMs: number,
    reason?: object,
  ): Promise<void> {
    await this.statements.rowsIn(tx, SLOW_LANE, [lane, pauseMs, narrowMs, reason]);
  }

  async resumeLane(tx: Tx, lane: string): Promise<void> {
    await this.change(tx, RESUME_LANE, [lane]);
  }

  async hurryLane(tx: Tx, lane: string): Promise<void> {
    await this.change(tx, HURRY_LANE, [lane]);
  }

  /** False until the service has registered its timers and lanes, for example while the database is unreachable. */
  get started(): boolean {
    return this.registeredAt > -Infinity;
  }

  /** True if `gaveUp` stores the failure of dead work, so that another attempt would do nothing. */
  endsGivenUp(kind: string): boolean {
    return this.kinds.get(kind)?.gaveUp !== undefined;
  }

  wake(): void {
    this.worker.wake();
  }

  /** Lanes must exist before the first event. If the database is unavailable, the worker registers them later. */
  async onApplicationBootstrap(): Promise<void> {
    await this.register().catch(() => undefined);
    this.worker.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.deadline = Date.now() + this.settings.shutdownGraceMs - GRACE_MARGIN_MS;
    await this.worker.pause();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.worker.stop(Math.max(0, this.deadline - Date.now()));
  }

  private async change(tx: Tx, statement: Statement, values: unknown[]): Promise<void> {
    await this.statements.rowsIn(tx, statement, values);
    afterCommit(tx, () => this.wake());
  }

  private async register(): Promise<void> {
    if (performance.now() - this.registeredAt < REGISTERED_FOR_MS) return;
    const kinds = [...this.kinds.values()];
    const lanes = kinds
      .filter(({ events, hasOwnGauges }) => events ?? hasOwnGauges)
      .map(({ name: lane, events, hasOwnGauges }) => {
        return { lane, types: events?.types, payload: events?.where, kind: hasOwnGauges && lane };
      });
    await this.statements.rows(ENSURE_LANES, [JSON.stringify(lanes)]);
    const timers = [...this.kinds.keys()].filter((name) => name.startsWith(TIMERS));
    await this.statements.rows(ENSURE, [timers, ONLY_REF, NORMAL]);
    this.registeredAt = performance.now();
  }
}
