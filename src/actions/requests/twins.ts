// SQL: requests are a hot path, and the look-up has a condition on other rows of the same table.
import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { oppositeOf, targetHash } from '../../action-catalogue/target-hash.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Action, Parameters, RequiredLevel } from '../action.js';

/** An action of the same type on the same target as a requested one, recent enough that the request repeats it. */
export type Twin = Pick<Action, 'id' | 'type' | 'requestedBy' | 'requestedAt'> & {
  readonly status: 'pending' | 'pending_approval' | 'completed';
  readonly approvalLevel?: RequiredLevel;
  readonly executedAt?: Date;
};

export interface PossibleRepeat {
  readonly type: ActionTypeName;
  readonly parameters: Parameters;
  /** The caller wants the action all the same. */
  readonly repeat?: boolean;
  /** A run may do the same in several of its steps. */
  readonly playbookRunId?: string;
}

const LOCK: Statement = {
  name: 'actions_lock_targets',
  text: `select pg_advisory_xact_lock(target) from unnest($1::bigint[]) as target`,
};

/** An action whose effect was undone since, by a rollback or by hand, is no twin, nor is one that waited too long. */
const FIND: Statement = {
  name: 'actions_find_twins',
  text: `
    select wanted.n::integer, twin.*
      from unnest($1::bytea[], $2::text[], $3::text[], $4::uuid[]) with ordinality
             as wanted (target_hash, action_type, opposite, run_id, n)
     cross join lateral (
       select id, status, approval_level, requested_by, requested_at, executed_at from actions
        where target_hash = wanted.target_hash and action_type = wanted.action_type
          and (wanted.run_id is null or playbook_run_id is distinct from wanted.run_id)
          and (status = 'pending'
               or status = 'pending_approval'
                  and ($6 = 0 or requested_at + $6 * interval '1 minute' > clock_timestamp())
               or status = 'completed' and executed_at > $5::timestamptz and not exists (
                    select from actions undo
                     where undo.target_hash = actions.target_hash and undo.action_type = wanted.opposite
                       and undo.status = 'completed' and undo.executed_at >= actions.executed_at))
        order by id desc limit 1) as twin`,
};

interface TwinRow {
  readonly n: number;
  readonly approval_level: RequiredLevel | null;
  readonly id: string;
  readonly status: Twin['status'];
  readonly requested_by: string;
  readonly requested_at: Date;
  readonly executed_at: Date | null;
}

interface Judged {
  readonly at: number;
  readonly type: ActionTypeName;
  readonly hash: Buffer;
  readonly runId: string | undefined;
}

const MINUTE = 60_000;

/** Finds out whether a request repeats what was requested before, anywhere in the service. */
@Injectable()
export class Twins {
  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  async of(tx: Tx, wanted: PossibleRepeat): Promise<Twin | undefined> {
    return (await this.ofAll(tx, [wanted])).get(0);
  }

  /** Whether each request repeats neither an action nor an earlier request of the same list. */
  async areNew(tx: Tx, wanted: readonly PossibleRepeat[]): Promise<boolean[]> {
    const twins = await this.ofAll(tx, wanted);
    const seen = new Set<string>();
    for (const { at, type, hash } of this.judged(wanted)) {
      const same = `${type} ${hash.toString('hex')}`;
      if (seen.has(same)) twins.set(at, undefined);
      seen.add(same);
    }
    return wanted.map((_, at) => !twins.has(at));
  }

  /**
   * The twins by the positions of the requests. The targets stay locked until the transaction ends, so that of two equal
   * requests the second one sees the action of the first. Incidents are locked before targets, by every transaction.
   */
  private async ofAll(
    tx: Tx,
    wanted: readonly PossibleRepeat[],
  ): Promise<Map<number, Twin | undefined>> {
    const judged = this.judged(wanted);
    if (judged.length === 0) return new Map();
    await this.statements.rowsIn(tx, LOCK, [locksOf(judged)]);
    const { actionRepeatMinutes, approvalTtlMinutes } = this.settings;
    const rows = await this.statements.rowsIn<TwinRow>(tx, FIND, [
      judged.map(({ hash }) => hash),
      judged.map(({ type }) => type),
      judged.map(({ type }) => oppositeOf(type) ?? null),
      judged.map(({ runId }) => runId ?? null),
      new Date(this.clock.now().getTime() - actionRepeatMinutes * MINUTE),
      approvalTtlMinutes,
    ]);
    return new Map(
      rows.map(({ n, ...row }) => {
        const { at, type } = judged[n - 1]!;
        return [at, twinOf(type, row)];
      }),
    );
  }

  private judged(wanted: readonly PossibleRepeat[]): Judged[] {
    if (this.settings.actionRepeatMinutes === 0) return [];
    return wanted.flatMap(({ type, parameters, repeat, playbookRunId: runId }, at) => {
      const hash = repeat ? undefined : targetHash(type, parameters);
      return hash ? [{ at, type, hash, runId }] : [];
    });
  }
}

/** In one order, so that transactions with several targets never wait for each other. */
function locksOf(judged: readonly Judged[]): string[] {
  return [...new Set(judged.map(({ hash }) => hash.readBigInt64BE()))]
    .sort((a, b) => (a < b ? -1 : 1))
    .map(String);
}

function twinOf(type: ActionTypeName, row: Omit<TwinRow, 'n'>): Twin {
  return {
    id: row.id,
    type,
    status: row.status,
    requestedBy: row.requested_by,
    requestedAt: row.requested_at,
    ...(row.approval_level && { approvalLevel: row.approval_level }),
    ...(row.executed_at && { executedAt: row.executed_at }),
  };
}
