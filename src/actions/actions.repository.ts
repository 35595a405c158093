// SQL: reads and locks of hot paths. The other changes use TypeORM.
import { Injectable } from '@nestjs/common';
import {
  Any,
  DataSource,
  type FindOptionsWhere,
  In,
  IsNull,
  Not,
  type QueryDeepPartialEntity,
  Raw,
} from 'typeorm';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { Principal } from '../auth/principal.js';
import {
  credentialsStillValid,
  credentialsStillValidValues,
} from '../auth/principals/credentials-still-valid.js';
import type { LockedIncident } from '../incidents/incident.js';
import {
  LOCKED_COLUMNS,
  lockedIncidentOf,
  type LockedRow,
} from '../incidents/records/incident.sql.js';
import {
  type Action,
  ActionEntity,
  type ActionPreview,
  type ActionResult,
  SYSTEM,
} from './action.js';
import {
  ACTION_COLUMNS,
  actionOf,
  type ActionRow,
  type ChangeRecords,
  INSERT_ACTIONS,
  type NewAction,
  newActionValues,
  withoutNulls,
} from './action-rows.js';

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

type EnteredRow = { readonly valid: boolean } & (LockedRow | { readonly id: null });

/** The fields of an action that never change. */
export type ActionRoute = Pick<Action, 'id' | 'action_type' | 'incident_id' | 'rollback_of'>;

const FIND_ROUTE: Statement = {
  name: 'actions_find_route',
  text: `select id, action_type, incident_id, rollback_of from actions where id = $1`,
};

const FIND: Statement = {
  name: 'actions_find',
  text: `select ${ACTION_COLUMNS} from actions where actions.id = $1`,
};

const LOCK: Statement = {
  name: 'actions_lock',
  text: `select ${ACTION_COLUMNS} from actions where actions.id = $1 for no key update of actions`,
};

type Where = FindOptionsWhere<ActionEntity>;
type Update = QueryDeepPartialEntity<ActionEntity>;
type Rejection = Pick<
  Action,
  'rejected_by' | 'rejected_at' | 'rejection_reason' | 'rejection_code'
>;

const WAITING = { status: 'pending_approval' } as const;
const UNCLAIMED = { status: 'pending', phase: IsNull() } as const;

/** Actions that a rejection can end. A sent action may have happened, so it cannot be rejected. */
export const REJECTABLE = {
  waiting: WAITING,
  unclaimed: { ...UNCLAIMED, sent: false },
  any: { status: In(['pending', 'pending_approval']), phase: IsNull(), sent: false },
} as const satisfies Readonly<Record<string, Where>>;

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
 * Inserts and reads actions, and makes every change of a status outside the execution (see ClaimRepository). Each change is
 * conditional on the earlier status.
 */
@Injectable()
export class ActionsRepository {
  constructor(
    private readonly statements: Statements,
    private readonly dataSource: DataSource,
  ) {}

  async insertAll(tx: Tx, actions: readonly NewAction[], records: ChangeRecords): Promise<void> {
    await this.statements.rowsIn(tx, INSERT_ACTIONS, newActionValues(actions, records));
  }

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
    return new Map(
      rows.flatMap((row) => (row.id === null ? [] : [[row.id, lockedIncidentOf(row)]])),
    );
  }

  async findRoute(id: string): Promise<ActionRoute | undefined> {
    const [row] = await this.statements.rows<ActionRoute>(FIND_ROUTE, [id]);
    return row && withoutNulls(row);
  }

  async findById(id: string): Promise<Action | undefined> {
    const [row] = await this.statements.rows<ActionRow>(FIND, [id]);
    return row && actionOf(row);
  }

  async lockById(tx: Tx, id: string): Promise<Action | undefined> {
    const [row] = await this.statements.rowsIn<ActionRow>(tx, LOCK, [id]);
    return row && actionOf(row);
  }

  /** Counts claims whose lease holds: their calls may be under way. */
  async countUnderWay(): Promise<number> {
    return await this.dataSource.getRepository(ActionEntity).countBy({
      status: 'pending',
      phase: Not(IsNull()),
      lease_until: Raw((lease) => `${lease} >= now()`),
    });
  }

  async countUnclaimed(): Promise<number> {
    return await this.dataSource.getRepository(ActionEntity).countBy(UNCLAIMED);
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
   * Approves the action and, if there is a connector, claims it. Without one, `leaseMs` is the time until recovery begins it.
   * `undefined` if the action does not wait for approval, or waited too long. The window has no end if `ttlMinutes` is 0.
   */
  async approve(
    tx: Tx,
    id: string,
    approval: Pick<Action, 'approved_by' | 'approved_at' | 'comment' | 'approval_level'>,
    options: {
      readonly connectorId?: string;
      readonly leaseMs: number;
      readonly ttlMinutes: number;
    },
  ): Promise<Action | undefined> {
    const { connectorId, leaseMs, ttlMinutes } = options;
    const update = updateOf(tx)
      .set({
        status: 'pending',
        ...approval,
        ...(connectorId !== undefined && {
          phase: 'claimed' as const,
          fence: () => 'fence + 1',
          connector_id: connectorId,
        }),
        lease_until: () => `now() + :leaseMs * interval '1 millisecond'`,
      })
      .where({ id, ...WAITING })
      .setParameters({ leaseMs });
    if (ttlMinutes > 0) update.andWhere(`not (${isLate('requested_at')})`, { ttlMinutes });
    return (await changedBy(update))[0];
  }

  /** @param where an entry of REJECTABLE, perhaps with an id */
  async reject(tx: Tx, where: Where, rejection: Rejection): Promise<Action[]> {
    return await this.end(tx, where, { status: 'rejected', ...rejection });
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

  /** Fails unclaimed actions that may have happened, because an earlier run sent them. */
  async failSent(tx: Tx, result: ActionResult, at: Date): Promise<Action[]> {
    // As text, because TypeORM's type of an update has no room for JSON of any content.
    const failed = { status: 'failed', result: () => ':result', executed_at: at } as const;
    return await this.end(
      tx,
      { ...UNCLAIMED, sent: true },
      { ...failed, executed_by: SYSTEM },
      { result: JSON.stringify(result) },
    );
  }

  private async end(
    tx: Tx,
    where: Where,
    changes: Update,
    parameters: Readonly<Record<string, unknown>> = {},
  ): Promise<Action[]> {
    const update = updateOf(tx).set({ ...changes, lease_until: () => 'null' });
    return await changedBy(update.where(where).setParameters(parameters));
  }
}

function updateOf(tx: Tx) {
  return tx.getRepository(ActionEntity).createQueryBuilder().update();
}

/** Returns the actions after the update. */
async function changedBy(update: ReturnType<typeof updateOf>): Promise<Action[]> {
  const result = await update.returning(ACTION_COLUMNS).execute();
  return (result.raw as ActionRow[]).map(actionOf);
}
