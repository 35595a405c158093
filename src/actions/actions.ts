// SQL: lists, reads, locks and inserts of hot paths. The other changes use TypeORM.
import { Injectable } from '@nestjs/common';
import { Any, type FindOptionsWhere, type QueryDeepPartialEntity } from 'typeorm';
import { RowInsert, type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import {
  after,
  BY_ID,
  countedList,
  createdAfter,
  createdBefore,
  equal,
  readPage,
} from '../platform/counting/counted-list.js';
import { columnsOf } from '../platform/database/columns.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import { firstIdAt } from '../platform/ids.js';
import type { Page } from '../platform/paging/page.js';
import {
  type Action,
  ACTION_FEED_EVENTS,
  ActionEntity,
  actionIdOf,
  type ActionPreview,
  reportedSender,
  shownActionId,
  withExpiry,
} from './action.js';
import { Settings } from '../platform/config/settings.js';
import { targetHash } from './duplicate-actions.js';

const OWN_COLUMNS = columnsOf(ActionEntity, ['target_hash']).map((column) => `actions.${column}`);

const ACTION_COLUMNS = `${OWN_COLUMNS.join(', ')},
  (select back.id from actions back
    where back.rollback_of = actions.id and back.status not in ('failed', 'rejected')) as rolled_back_by,
  (select json_build_object('incident_number', incidents.incident_number,
                            'incident_type', incidents.incident_type,
                            'title', incidents.title, 'severity', incidents.severity,
                            'status', incidents.status,
                            'message_id', incidents.fields->>'message_id', 'sender', incidents.fields->>'sender')
     from incidents where incidents.id = actions.incident_id and incidents.deleted_at is null) as incident`;

const SORTS = {
  requested_at: BY_ID,
  created_at: BY_ID,
  updated_at: { column: 'updated_at' },
  executed_at: { column: 'executed_at', nullable: true },
  status: { column: 'status' },
  action_type: { column: 'action_type' },
} as const;
export const SORT_FIELDS = Object.keys(SORTS) as (keyof typeof SORTS)[];

const actionList = countedList({
  table: 'actions',
  columns: ACTION_COLUMNS,
  counts: 'action',
  counted: {
    status: { filter: 'status', type: 'text' },
    action_type: { filter: 'action_type', type: 'text' },
    approval_level: { filter: 'approval_level', type: 'text' },
  },
  filters: {
    incident_id: equal('incident_id', 'uuid'),
    requested_by: equal('requested_by', 'text'),
    approved_by: equal('approved_by', 'text'),
    created_after: createdAfter,
    created_before: createdBefore,
    executed_after: after('executed_at'),
    updated_after: after('updated_at'),
  },
  sorts: SORTS,
});
type ActionListRequest = Parameters<typeof actionList>[0];

/** A trigger writes `updated_at`. */
const ROWS = new RowInsert(ActionEntity, columnsOf(ActionEntity, ['updated_at']));

const INSERT: Statement = { name: 'actions_insert', text: ROWS.text() };

const FIND: Statement = {
  name: 'actions_find',
  text: `select ${ACTION_COLUMNS} from actions where actions.id = any($1::uuid[])`,
};

const LIST_AFTER: Statement = {
  name: 'actions_list_after',
  text: `select ${ACTION_COLUMNS} from actions where actions.id > $1 order by actions.id limit $2`,
};

const LOCK: Statement = {
  name: 'actions_lock',
  text: `
    select ${ACTION_COLUMNS} from actions where actions.id = any($1::uuid[])
     order by actions.id for no key update of actions`,
};

const END: Statement = {
  name: 'actions_end',
  text: `
    update actions set status = run.status, result = run.result, executed_at = run.at, executed_by = run.by,
                       connector_id = coalesce(run.connector_id, actions.connector_id)
      from unnest($1::uuid[], $2::text[], $3::json[], $4::timestamptz[], $5::text[], $6::text[])
        as run (id, status, result, at, by, connector_id)
     where actions.id = run.id and actions.status = 'pending' returning ${ACTION_COLUMNS}`,
};

type Where = FindOptionsWhere<ActionEntity>;
type Rejection = Pick<
  Action,
  'rejected_by' | 'rejected_at' | 'rejection_reason' | 'rejection_code'
>;

export const WAITING = { status: 'pending_approval' } as const satisfies Where;

/** SQL condition: no replica executes the action, and the action does not wait for an answer of a vendor. */
const IS_HELD = `work.kind = 'action' and work.lane like 'action.%' and work.worker is null`;

const COUNT_WORK: Statement = {
  name: 'actions_count_work',
  text: `
    select count(*) filter (where ${IS_HELD})::integer as held,
           count(*) filter (where not (${IS_HELD}))::integer as in_flight
      from work where kind = 'action'`,
};

/** Deletes the work of held actions. If $3 is false, keeps work whose call may have been sent. */
const WITHDRAW: Statement = {
  name: 'actions_withdraw',
  text: `
    delete from work using actions
     where ${IS_HELD} and actions.id = work.ref
       and ($1::uuid is null or actions.id = $1) and ($2::uuid is null or actions.incident_id = $2)
       and ($3 or work.state ->> 'sent_to' is null)
    returning work.ref as id, work.state ->> 'sent_to' is not null as sent`,
};

type End = Pick<Action, 'id' | 'status' | 'result' | 'executed_by' | 'connector_id'>;

export interface Withdrawal {
  readonly id?: string;
  readonly incident_id?: string;
  /** Includes actions whose call may have been sent. */
  readonly sent?: true;
}

/** SQL condition: the approval window is over at the row lock. Uses the database clock: clocks of replicas differ. */
const IS_LATE = `requested_at + :approvalTtlMinutes * interval '1 minute' <= clock_timestamp()`;

const REMINDED_AFTER = [0.5, 0.9];

const IS_REMINDER_DUE = REMINDED_AFTER.map((share) => {
  const at = `requested_at + ${share} * :approvalTtlMinutes * interval '1 minute'`;
  return `${at} <= clock_timestamp() and (reminded_at is null or reminded_at < ${at})`;
}).join(' or ');

@Injectable()
export class Actions {
  readonly type = 'action';
  readonly events = ACTION_FEED_EVENTS;

  constructor(
    private readonly statements: Statements,
    private readonly settings: Settings,
  ) {}

  async insert(tx: Tx, actions: readonly Action[]): Promise<void> {
    if (actions.length === 0) return;
    const rows = actions.map((action) => ({
      ...action,
      target_hash: targetHash(action.action_type, action.parameters, reportedSender(action)),
    }));
    await this.statements.rowsIn(tx, INSERT, ROWS.values(rows));
  }

  async get(id: string): Promise<Action> {
    const action = await this.findById(id);
    if (!action) throw new NotFoundError('Action');
    return action;
  }

  async findById(id: string): Promise<Action | undefined> {
    return (await this.findAll([id]))[0];
  }

  async findAll(ids: readonly string[]): Promise<Action[]> {
    return await this.rows(undefined, FIND, [ids]);
  }

  async list(request: ActionListRequest): Promise<Page<Action>> {
    const { total, items } = await readPage<Action>(this.statements, actionList(request));
    return { total, items: items.map((row) => this.actionOf(row)) };
  }

  async listAfter(id: string | null, limit: number): Promise<ReadonlyMap<string, Action>> {
    return byShownId(await this.rows(undefined, LIST_AFTER, [id ?? firstIdAt(0), limit]));
  }

  async findBySubject(shownIds: readonly string[]): Promise<ReadonlyMap<string, Action>> {
    return byShownId(await this.findAll(shownIds.map(actionIdOf)));
  }

  async lock(tx: Tx, ids: readonly string[]): Promise<Action[]> {
    return await this.rows(tx, LOCK, [ids]);
  }

  async countWork(): Promise<{ readonly held: number; readonly in_flight: number }> {
    const [counted] = await this.statements.rows<{ held: number; in_flight: number }>(COUNT_WORK);
    return counted!;
  }

  async countWaitingOf(tx: Tx, incidentId: string): Promise<number> {
    const waiting = { incident_id: incidentId, ...WAITING };
    return await tx.getRepository(ActionEntity).countBy(waiting);
  }

  async waitingAmong(
    tx: Tx,
    shownIds: readonly string[],
  ): Promise<ReadonlyMap<string, string | undefined>> {
    const waiting = await tx.getRepository(ActionEntity).find({
      select: { id: true, preview: true },
      where: { id: Any(shownIds.map(actionIdOf)), ...WAITING },
    });
    return new Map(waiting.map(({ id, preview }) => [shownActionId(id), preview?.message]));
  }

  /** Returns `undefined` if the action does not wait for approval, or if its approval window is over. */
  async approve(
    tx: Tx,
    id: string,
    approval: Pick<Action, 'approved_by' | 'approved_at' | 'comment' | 'approval_level'>,
  ): Promise<Action | undefined> {
    const update = updateOf(tx)
      .set({ status: 'pending', ...approval })
      .where({ id, ...WAITING });
    const { approvalTtlMinutes } = this.settings;
    if (approvalTtlMinutes > 0) update.andWhere(`not (${IS_LATE})`, { approvalTtlMinutes });
    return (await this.changedBy(update))[0];
  }

  /** @param where actions that wait for approval, or whose work this transaction ends */
  async reject(tx: Tx, where: Where, rejection: Rejection): Promise<Action[]> {
    return await this.changedBy(
      updateOf(tx)
        .set({ status: 'rejected', ...rejection })
        .where(where),
    );
  }

  /** Deletes the work of actions that no replica executes, and returns their ids. The caller ends the actions. */
  async withdraw(
    tx: Tx,
    { id, incident_id, sent }: Withdrawal,
  ): Promise<{ readonly id: string; readonly sent: boolean }[]> {
    return await this.statements.rowsIn(tx, WITHDRAW, [id, incident_id, sent ?? false]);
  }

  async end(tx: Tx, ends: readonly End[], at: Date): Promise<Action[]> {
    if (ends.length === 0) return [];
    return await this.rows(tx, END, [
      ends.map(({ id }) => id),
      ends.map(({ status }) => status),
      ends.map(({ result }) => JSON.stringify(result)),
      ends.map(() => at.toISOString()),
      ends.map(({ executed_by }) => executed_by),
      ends.map(({ connector_id }) => connector_id),
    ]);
  }

  async rejectExpired(tx: Tx, rejection: Rejection, limit: number): Promise<Action[]> {
    return await this.changeWaiting(tx, IS_LATE, limit, { status: 'rejected', ...rejection });
  }

  async remind(tx: Tx, limit: number): Promise<Action[]> {
    const isDue = `(${IS_REMINDER_DUE}) and not (${IS_LATE})`;
    return await this.changeWaiting(tx, isDue, limit, { reminded_at: () => 'clock_timestamp()' });
  }

  async keepPreview(tx: Tx, id: string, preview: ActionPreview): Promise<void> {
    await tx.getRepository(ActionEntity).update({ id, ...WAITING }, { preview });
  }

  /** Skips actions that another transaction decides. */
  private async changeWaiting(
    tx: Tx,
    where: string,
    limit: number,
    set: QueryDeepPartialEntity<ActionEntity>,
  ): Promise<Action[]> {
    const ids = `array(
      select id from actions where status = 'pending_approval' and (${where})
       order by id limit :limit for update skip locked)`;
    const { approvalTtlMinutes } = this.settings;
    const update = updateOf(tx).set(set).where(`id = any(${ids})`, { approvalTtlMinutes, limit });
    return await this.changedBy(update);
  }

  private async rows(tx: Tx | undefined, statement: Statement, values: unknown[]) {
    return (await this.statements.rowsIn<Action>(tx, statement, values)).map((row) =>
      this.actionOf(row),
    );
  }

  private async changedBy(update: ReturnType<typeof updateOf>): Promise<Action[]> {
    const result = await update.returning(ACTION_COLUMNS).execute();
    return (result.raw as Action[]).map((row) => this.actionOf(row));
  }

  private actionOf<Row extends Action>(row: Row): Row {
    const present = Object.entries(row).filter(([, value]) => value !== null);
    return withExpiry(Object.fromEntries(present) as Row, this.settings.approvalTtlMinutes);
  }
}

function updateOf(tx: Tx) {
  return tx.getRepository(ActionEntity).createQueryBuilder().update();
}

const byShownId = (actions: readonly Action[]) =>
  new Map(actions.map((action) => [shownActionId(action.id), action]));
