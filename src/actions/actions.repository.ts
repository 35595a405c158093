// SQL: reads and locks of hot paths. The other changes use TypeORM.
import { Injectable } from '@nestjs/common';
import { Any, type FindOptionsWhere, In, Raw } from 'typeorm';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { Principal } from '../auth/principal.js';
import {
  credentialsStillValid,
  credentialsStillValidValues,
} from '../auth/principals/credentials-still-valid.js';
import { LOCKED_COLUMNS, type LockedIncident } from '../incidents/incident.js';
import { pageOf, type WithTotal } from '../platform/counting/counted-list.sql.js';
import { firstIdAt } from '../platform/ids.js';
import type { Page } from '../platform/paging/page.js';
import { type Action, ActionEntity, type ActionPreview } from './action.js';
import { actionList, type ActionListRequest } from './action-list.js';
import { ACTION_COLUMNS, withoutNulls } from './action-rows.js';

/** An incident that another transaction is changing is skipped, so that one request waits for that change and not the batch. */
const ENTER: Statement = {
  name: 'actions_enter_together',
  text: `
    with incident as materialized (
      select ${LOCKED_COLUMNS} from incidents
       where id = any($1::uuid[]) and deleted_at is null order by id for share skip locked)
    select caller.valid, incident.*
      from (select ${credentialsStillValid(2)} as valid) as caller left join incident on true`,
};

type EnteredRow = { readonly valid: boolean } & (LockedIncident | { readonly id: null });

const FIND: Statement = {
  name: 'actions_find',
  text: `select ${ACTION_COLUMNS} from actions where actions.id = $1`,
};

const FIND_ALL: Statement = {
  name: 'actions_find_all',
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

type Where = FindOptionsWhere<ActionEntity>;
type Rejection = Pick<
  Action,
  'rejected_by' | 'rejected_at' | 'rejection_reason' | 'rejection_code'
>;

export const WAITING = { status: 'pending_approval' } as const satisfies Where;

/** Work of actions that no replica works on, and that waits for no answer of a vendor. */
const IS_HELD = `work.kind = 'action' and work.lane like 'action.%' and work.worker is null`;

const COUNT_WORK: Statement = {
  name: 'actions_count_work',
  text: `
    select count(*) filter (where ${IS_HELD})::integer as held,
           count(*) filter (where not (${IS_HELD}))::integer as in_flight
      from work where kind = 'action'`,
};

/** A call that may have been sent is withdrawn only with $3. */
const WITHDRAW: Statement = {
  name: 'actions_withdraw',
  text: `
    delete from work using actions
     where ${IS_HELD} and actions.id = work.ref
       and ($1::uuid is null or actions.id = $1) and ($2::uuid is null or actions.incident_id = $2)
       and ($3 or work.state ->> 'sent_to' is null)
    returning work.ref as id, work.state ->> 'sent_to' is not null as sent`,
};

/** Actions whose work is withdrawn: one, those of an incident, or all. */
export interface Withdrawal {
  readonly id?: string;
  readonly incident_id?: string;
  /** Includes actions whose call may have been sent. */
  readonly sent?: true;
}

/** Whether the approval window is over. Uses the clock of the database when the row is locked, because clocks of replicas differ. */
const isLate = (requestedAt: string): string =>
  `${requestedAt} + :ttlMinutes * interval '1 minute' <= clock_timestamp()`;

/** Shares of the approval window after which approvers are reminded, once each. */
const REMINDED_AFTER = [0.5, 0.9];

const IS_REMINDER_DUE = REMINDED_AFTER.map((share) => {
  const at = `requested_at + ${share} * :ttlMinutes * interval '1 minute'`;
  return `${at} <= clock_timestamp() and (reminded_at is null or reminded_at < ${at})`;
}).join(' or ');

/**
 * Reads actions, and makes every change of a status outside the execution (see ActionEndings). Each change is
 * conditional on the earlier status.
 */
@Injectable()
export class ActionsRepository {
  constructor(private readonly statements: Statements) {}

  /**
   * Locks the incidents that exist and that no transaction is changing. `undefined` if the credential of a caller has ended.
   */
  async enter(
    tx: Tx,
    callers: readonly Principal[],
    incidentIds: readonly string[],
  ): Promise<ReadonlyMap<string, LockedIncident> | undefined> {
    const rows = await this.statements.rowsIn<EnteredRow>(tx, ENTER, [
      incidentIds,
      ...credentialsStillValidValues(callers),
    ]);
    if (!rows.every(({ valid }) => valid)) return undefined;
    return new Map(rows.flatMap((row) => (row.id === null ? [] : [[row.id, row]])));
  }

  async findById(id: string): Promise<Action | undefined> {
    const [row] = await this.statements.rows<Action>(FIND, [id]);
    return row && withoutNulls(row);
  }

  async list(request: ActionListRequest): Promise<Page<Action>> {
    const { statement, values } = actionList(request);
    return pageOf(await this.statements.rows<Action & WithTotal>(statement, values), withoutNulls);
  }

  /** Actions after the given id, oldest first. */
  async listAfter(id: string | null, limit: number): Promise<Action[]> {
    const rows = await this.statements.rows<Action>(LIST_AFTER, [id ?? firstIdAt(0), limit]);
    return rows.map(withoutNulls);
  }

  async findAll(ids: readonly string[]): Promise<Action[]> {
    return (await this.statements.rows<Action>(FIND_ALL, [ids])).map(withoutNulls);
  }

  async lockById(tx: Tx, id: string): Promise<Action | undefined> {
    return (await this.lockAll(tx, [id]))[0];
  }

  async lockAll(tx: Tx, ids: readonly string[]): Promise<Action[]> {
    return (await this.statements.rowsIn<Action>(tx, LOCK, [ids])).map(withoutNulls);
  }

  /** Counts the pending actions that have not begun, and those that a replica or a vendor works on. */
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
    ids: readonly string[],
  ): Promise<Pick<ActionEntity, 'id' | 'preview'>[]> {
    return await tx.getRepository(ActionEntity).find({
      select: { id: true, preview: true },
      where: { id: Any([...ids]), ...WAITING },
    });
  }

  /**
   * `undefined` if the action does not wait for approval, or waited too long. The window has no end if `ttlMinutes` is 0.
   */
  async approve(
    tx: Tx,
    id: string,
    approval: Pick<Action, 'approved_by' | 'approved_at' | 'comment' | 'approval_level'>,
    ttlMinutes: number,
  ): Promise<Action | undefined> {
    const update = updateOf(tx)
      .set({ status: 'pending', ...approval })
      .where({ id, ...WAITING });
    if (ttlMinutes > 0) update.andWhere(`not (${isLate('requested_at')})`, { ttlMinutes });
    return (await changedBy(update))[0];
  }

  /** @param where actions that wait for approval, or whose work this transaction ends */
  async reject(tx: Tx, where: Where, rejection: Rejection): Promise<Action[]> {
    return await changedBy(
      updateOf(tx)
        .set({ status: 'rejected', ...rejection })
        .where(where),
    );
  }

  /** Ends the work of actions that no replica works on. The caller ends the actions, whose ids are returned. */
  async withdraw(
    tx: Tx,
    { id, incident_id, sent }: Withdrawal,
  ): Promise<{ readonly id: string; readonly sent: boolean }[]> {
    return await this.statements.rowsIn(tx, WITHDRAW, [id, incident_id, sent ?? false]);
  }

  /** Rejects at most `limit` actions that waited too long. Skips actions on which another transaction decides. */
  async rejectExpired(
    tx: Tx,
    ttlMinutes: number,
    rejection: Rejection,
    limit: number,
  ): Promise<Action[]> {
    const late = await tx.getRepository(ActionEntity).find({
      select: { id: true },
      where: { ...WAITING, requested_at: Raw(isLate, { ttlMinutes }) },
      order: { id: 'asc' },
      take: limit,
      lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
    });
    if (late.length === 0) return [];
    return await this.reject(tx, { id: In(late.map(({ id }) => id)), ...WAITING }, rejection);
  }

  /** Marks at most `limit` actions whose reminder is due, and returns them. */
  async remind(tx: Tx, ttlMinutes: number, limit: number): Promise<Action[]> {
    const due = await tx
      .createQueryBuilder(ActionEntity, 'actions')
      .select('actions.id')
      .where(WAITING)
      .andWhere(`(${IS_REMINDER_DUE}) and not (${isLate('requested_at')})`, { ttlMinutes })
      .orderBy('actions.id')
      .limit(limit)
      .setLock('pessimistic_write')
      .setOnLocked('skip_locked')
      .getMany();
    if (due.length === 0) return [];
    const update = updateOf(tx).set({ reminded_at: () => 'clock_timestamp()' });
    return await changedBy(update.where({ id: In(due.map(({ id }) => id)) }));
  }

  async keepPreview(tx: Tx, id: string, preview: ActionPreview): Promise<void> {
    await tx.getRepository(ActionEntity).update({ id, ...WAITING }, { preview });
  }
}

function updateOf(tx: Tx) {
  return tx.getRepository(ActionEntity).createQueryBuilder().update();
}

/** Returns the actions after the update. */
async function changedBy(update: ReturnType<typeof updateOf>): Promise<Action[]> {
  const result = await update.returning(ACTION_COLUMNS).execute();
  return (result.raw as Action[]).map(withoutNulls);
}
