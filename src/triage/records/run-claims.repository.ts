// SQL for what many runs write in one statement.
import { Injectable } from '@nestjs/common';
import {
  DataSource,
  type FindOptionsWhere,
  LessThan,
  LessThanOrEqual,
  MoreThanOrEqual,
  Not,
  Raw,
} from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { SetOf } from '../../platform/concurrency/joint-transactions.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { ProviderName, ToolCall } from '../model/triage-model.port.js';
import type { Asked, TokenUse } from '../model/token-use.js';
import type { UnavailableReason } from '../model/model.errors.js';
import type { RunError, TriageRun } from '../triage-run.js';
import {
  LISTED_COLUMNS,
  runOf,
  type RunRow,
  TriageRunEntity,
  WHOLE_COLUMNS,
} from './triage-run.entity.js';
import type { NewRun } from './triage-runs.repository.js';

/** Names one claim of a run. */
export type Fenced = Pick<TriageRun, 'id' | 'fence'>;

type Changes = QueryDeepPartialEntity<TriageRunEntity>;

/** What an attempt used, whatever came of it. */
export interface Used {
  readonly tokens?: TokenUse;
  /** Undefined when it ended before anybody was asked. */
  readonly asked?: Asked;
}

/** What a run leaves behind, beside the time. */
export type Ending = Partial<
  Pick<
    TriageRunEntity,
    | 'status'
    | 'verdict'
    | 'recommended_actions'
    | 'not_applied'
    | 'notes'
    | 'model'
    | 'prompt_hash'
    | 'points'
    | 'error'
    | 'failures'
    | 'duration_ms'
  >
> &
  Used & {
    readonly toolCalls?: readonly ToolCall[];
  };

interface NewClaim extends Fenced {
  readonly leaseMs: number;
  readonly provider: ProviderName;
}

interface EndedClaim extends Fenced {
  readonly ending: object;
  readonly tokens: TokenUse | undefined;
}

/** The columns that an ending may change; what it does not name stays. */
const ENDING_COLUMNS = [
  'status',
  'verdict',
  'recommended_actions',
  'not_applied',
  'notes',
  'model',
  'prompt_hash',
  'points',
  'tool_calls',
  'error',
  'failures',
  'duration_ms',
] as const satisfies (keyof TriageRunEntity)[];

const DUE_RUNS: Statement = {
  name: 'triage_runs_due',
  text: `
    select ${LISTED_COLUMNS} from triage_runs run
     where run.status = 'queued' and run.lease_until < now() and run.id <> all($2::uuid[])
     order by run.lease_until, run.id limit $1`,
};

/** A run that another replica is just claiming, or a person takes over, is left to them. */
const CLAIM: Statement = {
  name: 'triage_runs_claim',
  text: `
    with free as materialized (
      select run.id, claim.lease_ms, claim.provider
        from triage_runs run
        join unnest($1::uuid[], $2::integer[], $3::integer[], $4::text[]) as claim (id, fence, lease_ms, provider)
          on run.id = claim.id and run.fence = claim.fence
       where run.status = 'queued' order by run.id for update of run skip locked)
    update triage_runs run
       set status = 'running', fence = run.fence + 1, provider = free.provider, started_at = now(),
           lease_until = now() + free.lease_ms * interval '1 millisecond'
      from free where run.id = free.id
    returning ${LISTED_COLUMNS}`,
};

const END: Statement = {
  name: 'triage_runs_end',
  text: `
    update triage_runs run
       set (${ENDING_COLUMNS.join(', ')}) = (
             select ${ENDING_COLUMNS.map((name) => `after.${name}`).join(', ')} from jsonb_populate_record(run, ended.ending) as after),
           lease_until = null, completed_at = now(),
           input_tokens = run.input_tokens + coalesce(ended.input, 0),
           output_tokens = run.output_tokens + coalesce(ended.output, 0),
           cached_input_tokens = run.cached_input_tokens + coalesce(ended.cached_input, 0),
           tokens_at = case when ended.input + ended.output > 0 then now() else run.tokens_at end
      from jsonb_to_recordset($1::jsonb) as ended (
        id uuid, fence integer, ending jsonb, input integer, output integer, cached_input integer)
     where run.id = ended.id and run.fence = ended.fence and run.status = 'running'
    returning ${WHOLE_COLUMNS}`,
};

type Where = FindOptionsWhere<TriageRunEntity>;
type Manager = Pick<DataSource['manager'], 'getRepository'>;

const OVER = Raw((lease) => `${lease} < now()`);
const HOLDS = Raw((lease) => `${lease} >= now()`);
const IN_MS = () => `now() + :ms * interval '1 millisecond'`;
const DUE: Where = { status: 'queued', lease_until: OVER };
const WAITS: Where = { status: 'queued', lease_until: HOLDS };
const ENDED: Changes = { lease_until: null, completed_at: () => 'now()' };

type Taker = Pick<NewRun, 'claimForMs' | 'requestedBy' | 'force' | 'playbook' | 'provider'>;

/** For what runs wait, who was to be asked, and until when. */
interface Postponed {
  readonly error: RunError;
  readonly provider: ProviderName;
  readonly until: Date;
}

/** The writes of runs. Each is conditional on what it leaves: undefined says that somebody else was faster. */
@Injectable()
export class RunClaimsRepository {
  private readonly claimed = new SetOf<NewClaim, TriageRun | undefined>((tx, claims) =>
    this.claimAll(tx, claims),
  );
  private readonly ended = new SetOf<EndedClaim, TriageRun | undefined>((tx, all) =>
    this.endAll(tx, all),
  );

  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  /** Runs that may be begun now, those first whose time came first. */
  async due(limit: number, except: readonly string[]): Promise<TriageRun[]> {
    return (await this.statements.rows<RunRow>(DUE_RUNS, [limit, except])).map(runOf);
  }

  /** @param by who is asked now: since the run was made, the settings may have changed */
  async claim(
    tx: Tx,
    { id, fence }: Fenced,
    by: { readonly leaseMs: number; readonly provider: ProviderName },
  ): Promise<TriageRun | undefined> {
    return await this.claimed.submit(tx, { id, fence, ...by });
  }

  /** One that waits is somebody's from now on: claimed for them, or due at once. */
  async takeOver(
    tx: Tx,
    { id, fence }: Fenced,
    { claimForMs, requestedBy, force, playbook, provider }: Taker,
  ): Promise<TriageRun | undefined> {
    const running = { status: 'running', fence: fence + 1, started_at: () => 'now()' } as const;
    const changes: Changes = {
      ...(claimForMs !== undefined && running),
      requested_by: requestedBy,
      force,
      playbook: playbook ?? null,
      provider,
      lease_until: IN_MS,
    };
    const where = { id, fence, status: 'queued' } as const;
    return (await change(tx, where, changes, { ms: claimForMs ?? 0 }))[0];
  }

  async renew(run: Fenced, leaseMs: number): Promise<boolean> {
    return await renewedBy(this.dataSource.manager, run, leaseMs);
  }

  async renewIn(tx: Tx, run: Fenced, leaseMs: number): Promise<boolean> {
    return await renewedBy(tx, run, leaseMs);
  }

  /** It waits again, for any replica. */
  async release(
    tx: Tx,
    run: Fenced,
    { afterMs, tokens, asked, ...changes }: Changes & Used & { afterMs: number },
  ): Promise<TriageRun | undefined> {
    const used = columnsOf({ tokens, asked });
    const waits = { status: 'queued', lease_until: IN_MS, ...changes, ...used.changes } as const;
    const values = { ms: afterMs, ...used.values };
    return (await change(tx, ours(run), waits, values))[0];
  }

  async end(
    tx: Tx,
    run: Fenced,
    { tokens, asked, toolCalls, ...changes }: Ending,
  ): Promise<TriageRun | undefined> {
    const who = asked && { model: asked.model, prompt_hash: asked.promptHash };
    const calls = toolCalls && { tool_calls: toolCalls };
    const ending = { ...who, ...changes, ...calls };
    return await this.ended.submit(tx, { id: run.id, fence: run.fence, ending, tokens });
  }

  /** Ends runs that wait: all of them, or those of one incident. */
  async failQueued(tx: Tx, error: RunError, of: Where = {}): Promise<TriageRun[]> {
    return await change(tx, { ...of, status: 'queued' }, { ...ENDED, status: 'failed', error });
  }

  /** Those that may be begun, and were made before. */
  async overdue(before: Date, limit: number): Promise<TriageRun[]> {
    const rows = await this.dataSource.getRepository(TriageRunEntity).find({
      where: { ...DUE, created_at: LessThanOrEqual(before) },
      take: limit,
    });
    return rows.map(runOf);
  }

  /**
   * All whose time has come wait on, and show why.
   *
   * @param longestMs from their creation on; undefined where that does not matter
   */
  async postpone({ error, provider, until }: Postponed, longestMs?: number): Promise<void> {
    // The least of a time and of nothing is the time.
    const longest = `created_at + cast(:longestMs as float8) * interval '1 millisecond'`;
    const waits: Changes = { error, provider, lease_until: () => `least(:until, ${longest})` };
    await change(this.dataSource.manager, DUE, waits, { until, longestMs: longestMs ?? null });
  }

  /** All whose time has come show for what they wait, each by one write, and may be begun all the same. */
  async showWaiting(error: RunError, provider: ProviderName): Promise<void> {
    const { reason } = error;
    const where: Where = {
      ...DUE,
      error: Raw((shown) => `${shown} ->> 'reason' is distinct from :reason`, { reason }),
    };
    await change(this.dataSource.manager, where, { error, provider });
  }

  /** Those that wait for one of the reasons wait for that time at most. */
  async bringForward(reasons: readonly UnavailableReason[], ms: number): Promise<void> {
    const where: Where = {
      ...WAITS,
      error: Raw((error) => `${error} ->> 'reason' = any(:reasons)`, { reasons }),
    };
    const due: Changes = { lease_until: () => `least(lease_until, ${IN_MS()})` };
    await change(this.dataSource.manager, where, due, { ms });
  }

  /** Those that wait for another provider than this one need not any more. */
  async bringForwardOfOthers(provider: ProviderName): Promise<void> {
    const where: Where = { ...WAITS, provider: Not(provider) };
    await change(this.dataSource.manager, where, { lease_until: () => 'now()' });
  }

  /** Runs whose replica died once more after `mostLapses` earlier times. */
  async lapsedTooOften(mostLapses: number): Promise<TriageRun[]> {
    const where: Where = { ...LAPSED, lapses: MoreThanOrEqual(mostLapses) };
    return (await this.dataSource.getRepository(TriageRunEntity).findBy(where)).map(runOf);
  }

  /** Ends a run whose replica died; empty when another replica was faster. */
  async failLapsed(tx: Tx, { id, fence }: Fenced, error: RunError): Promise<TriageRun[]> {
    return await change(tx, { ...LAPSED, id, fence }, { ...ENDED, status: 'failed', error });
  }

  /** The other runs whose replica died wait again, and note it the first time. */
  async requeueLapsed(mostLapses: number, note: string): Promise<TriageRun[]> {
    const where: Where = { ...LAPSED, lapses: LessThan(mostLapses) };
    const waits: Changes = {
      status: 'queued',
      lapses: () => 'lapses + 1',
      lease_until: () => 'now()',
      notes: () => 'case lapses when 0 then array_append(notes, :note) else notes end',
    };
    return await change(this.dataSource.manager, where, waits, { note });
  }

  private async claimAll(tx: Tx, claims: readonly NewClaim[]): Promise<(TriageRun | undefined)[]> {
    const rows = await this.statements.rowsIn<RunRow>(tx, CLAIM, [
      claims.map(({ id }) => id),
      claims.map(({ fence }) => fence),
      claims.map(({ leaseMs }) => leaseMs),
      claims.map(({ provider }) => provider),
    ]);
    return foundFor(claims, rows);
  }

  private async endAll(tx: Tx, all: readonly EndedClaim[]): Promise<(TriageRun | undefined)[]> {
    const rows = await this.statements.rowsIn<RunRow>(tx, END, [
      JSON.stringify(all.map(({ tokens, ...one }) => ({ ...one, ...countedTokens(tokens) }))),
    ]);
    return foundFor(all, rows);
  }

  async countUnderWay(): Promise<number> {
    return await this.dataSource
      .getRepository(TriageRunEntity)
      .countBy({ status: 'running', lease_until: HOLDS });
  }

  /**
   * When there will be fewer tokens than the budget in the hour before; undefined when that is so now. Counted from the
   * newest use back, the use that reaches the budget has to become an hour old.
   */
  async budgetFreeAt(budget: number): Promise<Date | undefined> {
    const runs = this.dataSource.getRepository(TriageRunEntity);
    const recent = runs
      .createQueryBuilder('run')
      .select('run.tokens_at', 'at')
      .addSelect(
        'sum(run.input_tokens + run.output_tokens) over (order by run.tokens_at desc, run.id)',
        'tokens',
      )
      .where(`run.tokens_at > now() - interval '1 hour'`);
    const row = await this.dataSource
      .createQueryBuilder()
      .select(`max(recent.at) + interval '1 hour'`, 'free_at')
      .from(`(${recent.getQuery()})`, 'recent')
      .where('recent.tokens >= :budget', { budget })
      .getRawOne<{ free_at: Date | null }>();
    return row?.free_at ?? undefined;
  }
}

const LAPSED: Where = { status: 'running', lease_until: OVER };

function ours({ id, fence }: Fenced): Where {
  return { id, fence, status: 'running' };
}

const NOTHING_USED = { changes: {}, values: {} } as const;

/** More than any attempt uses: the sum of many still fits the column. */
const MOST_TOKENS = 50_000_000;

const counted = (tokens: number): number =>
  Math.min(MOST_TOKENS, Math.max(0, Math.trunc(tokens) || 0));

function foundFor(runs: readonly Fenced[], rows: readonly RunRow[]): (TriageRun | undefined)[] {
  const found = new Map(rows.map((row) => [row.id, runOf(row)]));
  return runs.map(({ id }) => found.get(id));
}

function countedTokens(tokens: TokenUse | undefined) {
  if (!tokens) return {};
  const { input, output, cachedInput = 0 } = tokens;
  return { input: counted(input), output: counted(output), cached_input: counted(cachedInput) };
}

/** The columns that an attempt changes by what it used. */
function columnsOf({ tokens, asked }: Used) {
  const { changes, values } = tokens ? usedTokens(tokens) : NOTHING_USED;
  const who = asked && { model: asked.model, prompt_hash: asked.promptHash };
  return { changes: { ...changes, ...who }, values };
}

function usedTokens({ cachedInput = 0, ...used }: TokenUse) {
  const [input, output] = [counted(used.input), counted(used.output)];
  const changes: Changes = {
    input_tokens: () => 'input_tokens + :input',
    output_tokens: () => 'output_tokens + :output',
    cached_input_tokens: () => 'cached_input_tokens + :cachedInput',
    ...(input + output > 0 && { tokens_at: () => 'now()' }),
  };
  return { changes, values: { input, output, cachedInput: counted(cachedInput) } };
}

async function renewedBy(manager: Manager, run: Fenced, ms: number): Promise<boolean> {
  return (await change(manager, ours(run), { lease_until: IN_MS }, { ms })).length === 1;
}

/** The runs as they are after it. */
async function change(
  manager: Manager,
  where: Where,
  changes: Changes,
  values: Readonly<Record<string, unknown>> = {},
): Promise<TriageRun[]> {
  const result = await manager
    .getRepository(TriageRunEntity)
    .createQueryBuilder()
    .update()
    .set(changes)
    .where(where)
    .setParameters(values)
    .returning('*')
    .execute();
  return (result.raw as RunRow[]).map(runOf);
}
