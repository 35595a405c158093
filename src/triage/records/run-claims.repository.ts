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
import type { Tx } from '../../platform/database/transactions.js';
import type { ProviderName, ToolCall } from '../model/triage-model.port.js';
import type { Asked, TokenUse } from '../model/token-use.js';
import type { UnavailableReason } from '../model/model.errors.js';
import type { RunError, TriageRun } from '../triage-run.js';
import { runOf, type RunRow } from './run-rows.js';
import { TriageRunEntity } from './triage-run.entity.js';
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
export type Ending = Omit<Changes, 'tool_calls'> &
  Used & {
    readonly toolCalls?: readonly ToolCall[];
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
  constructor(private readonly dataSource: DataSource) {}

  /** Runs that may be begun now, those first whose time came first. */
  async due(limit: number, except: readonly string[]): Promise<TriageRun[]> {
    const rows = await this.dataSource
      .getRepository(TriageRunEntity)
      .createQueryBuilder('run')
      .where({ status: 'queued', lease_until: OVER })
      .andWhere('run.id <> all(:except)', { except })
      .orderBy('run.lease_until')
      .addOrderBy('run.id')
      .limit(limit)
      .getMany();
    return rows.map(runOf);
  }

  /** @param by who is asked now: since the run was made, the settings may have changed */
  async claim(
    tx: Tx,
    { id, fence }: Fenced,
    { leaseMs, provider }: { readonly leaseMs: number; readonly provider: ProviderName },
  ): Promise<TriageRun | undefined> {
    const running = { status: 'running', fence: fence + 1, provider } as const;
    const started = { ...running, started_at: () => 'now()' } as const;
    const where = { id, fence, status: 'queued' } as const;
    return (await change(tx, where, { ...started, lease_until: IN_MS }, { ms: leaseMs }))[0];
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
    const used = columnsOf({ tokens, asked });
    const calls = toolCalls && {
      // As its text: TypeORM's type of an update has no room for JSON of any content.
      changes: { tool_calls: () => ':toolCalls' },
      values: { toolCalls: JSON.stringify(toolCalls) },
    };
    const ended = { ...ENDED, ...changes, ...used.changes, ...calls?.changes };
    return (await change(tx, ours(run), ended, { ...used.values, ...calls?.values }))[0];
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

  /** Those whose replica died, and that have died too often: they end. */
  async failLapsed(tx: Tx, error: RunError, mostLapses: number): Promise<TriageRun[]> {
    const where: Where = { ...LAPSED, lapses: MoreThanOrEqual(mostLapses) };
    return await change(tx, where, { ...ENDED, status: 'failed', error });
  }

  /** The others wait again, and note it the first time. */
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
