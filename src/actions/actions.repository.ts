// SQL: every change of an action pays for it, and it is one statement for three tables.
// SQL: requests are a hot path, one statement for all that are made together, with all that is recorded of them.
// SQL to read and lock an action: every action pays for that, and it comes with what is said of its incident.
import { Injectable } from '@nestjs/common';
import { AUDIT_PARAMETERS, insertAuditRows } from '../audit/audit-log.js';
import {
  type Statement,
  Statements,
  type InsertedColumn,
  namesOf,
  valuesOfRows,
} from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { insertTimeline, TIMELINE_PARAMETERS } from '../incidents/timeline/timeline-entry.js';
import type { DomainEvent } from '../platform/jobs/events/domain-event.js';
import { eventRows, insertEvents } from '../platform/jobs/events/event-outbox.js';
import { targetHash } from './action-twins.js';
import {
  type Action,
  reportedSender,
  type ActionPreview,
  type ActionResult,
  SYSTEM,
} from './action.js';
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
import type { ApprovalLevel } from '../platform/access/roles.js';
import { ACTION_COLUMNS, ActionEntity, actionOf, type ActionRow } from './action.entity.js';
export interface ChangeRecords {
  /** See AuditLog.valuesOfAll. */
  readonly audit: readonly unknown[];
  /** See IncidentTimeline.valuesOf. */
  readonly timeline: readonly unknown[];
  readonly events: readonly DomainEvent[];
}

const INSERT: Statement = {
  name: 'action_records_insert',
  text: `
    with record as (${insertAuditRows()}),
    entry as (${insertTimeline(1 + AUDIT_PARAMETERS)})
    ${insertEvents(`$${1 + AUDIT_PARAMETERS + TIMELINE_PARAMETERS}`)}`,
};

/** Writes all records of a change in one round trip: see ActionRecorder. */
@Injectable()
export class ActionRecordsRepository {
  constructor(private readonly statements: Statements) {}

  async insert(tx: Tx, { audit, timeline, events }: ChangeRecords): Promise<void> {
    await this.statements.rowsIn(tx, INSERT, [...audit, ...timeline, eventRows(events)]);
  }
}

export interface NewAction {
  readonly action: Action;
  /** Where it is claimed, its lease; else how long whoever requested it has to begin it. */
  readonly leaseMs: number;
}

const json = (value: object | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value);

const COLUMNS: readonly InsertedColumn<Action>[] = [
  { name: 'id', type: 'uuid', of: ({ id }) => id },
  { name: 'incident_id', type: 'uuid', of: ({ incident_id }) => incident_id ?? null },
  { name: 'action_type', type: 'text', of: ({ action_type }) => action_type },
  { name: 'parameters', type: 'json', of: ({ parameters }) => json(parameters) },
  { name: 'status', type: 'text', of: ({ status }) => status },
  {
    name: 'approval_level',
    type: 'text',
    of: ({ approval_level }) => approval_level ?? null,
  },
  { name: 'requested_by', type: 'text', of: ({ requested_by }) => requested_by },
  { name: 'requested_at', type: 'timestamptz', of: (row) => row.requested_at.toISOString() },
  {
    name: 'playbook_run_id',
    type: 'uuid',
    of: ({ playbook_run_id }) => playbook_run_id ?? null,
  },
  { name: 'on_behalf_of', type: 'text', of: ({ on_behalf_of }) => on_behalf_of ?? null },
  { name: 'authors', type: 'json', of: ({ authors }) => json(authors) },
  { name: 'rollback_of', type: 'uuid', of: ({ rollback_of }) => rollback_of ?? null },
  { name: 'reason', type: 'text', of: ({ reason }) => reason ?? null },
  { name: 'result', type: 'json', of: ({ result }) => json(result) },
  { name: 'executed_by', type: 'text', of: ({ executed_by }) => executed_by ?? null },
  {
    name: 'executed_at',
    type: 'timestamptz',
    of: ({ executed_at }) => executed_at?.toISOString() ?? null,
  },
  {
    name: 'connector_id',
    type: 'text',
    of: ({ connector_id }) => connector_id ?? null,
  },
  { name: 'phase', type: 'text', of: ({ phase }) => phase ?? null },
  {
    name: 'target_hash',
    type: 'bytea',
    of: (row) => targetHash(row.action_type, row.parameters, reportedSender(row)),
  },
  { name: 'fence', type: 'integer', of: ({ fence }) => String(fence) },
];

const NAMES = namesOf(COLUMNS);
const ARRAYS = COLUMNS.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');
const LEASES = COLUMNS.length + 1;
const AFTER_AUDIT = LEASES + 1 + AUDIT_PARAMETERS;

/** A lease begins when its action is inserted, by the clock of the database. */
export const INSERT_ACTIONS: Statement = {
  name: 'actions_insert',
  text: `
    with record as (${insertAuditRows(LEASES + 1)}),
    entry as (${insertTimeline(AFTER_AUDIT)}),
    event as (${insertEvents(`$${AFTER_AUDIT + TIMELINE_PARAMETERS}`)})
    insert into actions (${NAMES}, lease_until)
    select ${NAMES}, case when status = 'pending' then now() + lease_ms * interval '1 millisecond' end
      from unnest(${ARRAYS}, $${LEASES}::integer[]) as added (${NAMES}, lease_ms)`,
};

export function newActionValues(actions: readonly NewAction[], records: ChangeRecords): unknown[] {
  return [
    ...valuesOfRows(
      COLUMNS,
      actions.map(({ action }) => action),
    ),
    actions.map(({ leaseMs }) => leaseMs),
    ...records.audit,
    ...records.timeline,
    eventRows(records.events),
  ];
}

export interface Approval {
  readonly by: string;
  readonly at: Date;
  /** What it had to be approved at in the end: never below what it was requested at. */
  readonly level: ApprovalLevel;
  readonly comment?: string;
  /** The connector that it is claimed for; absent where none provides it. */
  readonly connectorId?: string;
  /** Of its claim; without one, how long whoever approved it has to begin it. */
  readonly leaseMs: number;
  /** How long it may have waited; 0 for any time. */
  readonly ttlMinutes: number;
}

export interface Rejection {
  readonly by: string;
  readonly at: Date;
  readonly reason: string;
  readonly code?: Action['rejection_code'];
}

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

const UNCLAIMED = { status: 'pending', phase: IsNull() } as const;

/**
 * Whether an action waited too long for approval: by the clock of the database, whatever a replica takes for the time, and
 * as it is when the row is had.
 */
const isLate = (requestedAt: string): string =>
  `${requestedAt} + :ttlMinutes * interval '1 minute' <= clock_timestamp()`;

/** Shares of its time for approval after which the approvers are reminded, once each. */
const REMINDED_AFTER = [0.5, 0.9];

/** Whether a reminder is due that was not sent. */
const IS_REMINDER_DUE = REMINDED_AFTER.map((share) => {
  const at = `requested_at + ${share} * :ttlMinutes * interval '1 minute'`;
  return `${at} <= clock_timestamp() and (reminded_at is null or reminded_at < ${at})`;
}).join(' or ');

type Where = FindOptionsWhere<ActionEntity>;
type Update = QueryDeepPartialEntity<ActionEntity>;

/**
 * Inserts and reads actions, and makes every change of a status outside the execution (see ClaimRepository). Each change is
 * conditional on the status that it leaves.
 */
@Injectable()
export class ActionsRepository {
  constructor(
    private readonly statements: Statements,
    private readonly dataSource: DataSource,
  ) {}

  /** With what is recorded of that. */
  async insertAll(tx: Tx, actions: readonly NewAction[], records: ChangeRecords): Promise<void> {
    await this.statements.rowsIn(tx, INSERT_ACTIONS, newActionValues(actions, records));
  }

  /**
   * Locks those of the incidents that are there, and that nobody is changing, until the transaction ends. Undefined when the
   * credential of one of the callers is not valid any more.
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
    type Row = Pick<ActionEntity, 'id' | 'action_type' | 'incident_id' | 'rollback_of'>;
    const [row] = await this.statements.rows<Row>(FIND_ROUTE, [id]);
    if (!row) return undefined;
    const { action_type, incident_id, rollback_of } = row;
    return {
      id,
      action_type,
      incident_id: incident_id ?? undefined,
      rollback_of: rollback_of ?? undefined,
    };
  }

  async findById(id: string): Promise<Action | undefined> {
    const [row] = await this.statements.rows<ActionRow>(FIND, [id]);
    return row && actionOf(row);
  }

  async lockById(tx: Tx, id: string): Promise<Action | undefined> {
    const [row] = await this.statements.rowsIn<ActionRow>(tx, LOCK, [id]);
    return row && actionOf(row);
  }

  /** Claims whose lease holds: their calls may be on their way. */
  async countUnderWay(): Promise<number> {
    return await this.dataSource.getRepository(ActionEntity).countBy({
      status: 'pending',
      phase: Not(IsNull()),
      lease_until: Raw((lease) => `${lease} >= now()`),
    });
  }

  /** What may run, and nobody has claimed. */
  async countUnclaimed(): Promise<number> {
    return await this.dataSource.getRepository(ActionEntity).countBy(UNCLAIMED);
  }

  /** Undefined when it did not wait for approval any more, or had waited too long. */
  async approve(tx: Tx, id: string, approval: Approval): Promise<Action | undefined> {
    const { by, at, level, comment, connectorId, leaseMs, ttlMinutes } = approval;
    const update = updateOf(tx)
      .set({
        status: 'pending',
        approved_by: by,
        approved_at: at,
        comment: comment ?? null,
        approval_level: level === 'none' ? null : level,
        ...(connectorId !== undefined && {
          phase: 'claimed' as const,
          fence: () => 'fence + 1',
          connector_id: connectorId,
        }),
        lease_until: () => `now() + :leaseMs * interval '1 millisecond'`,
      })
      .where({ id, status: 'pending_approval' })
      .setParameters({ leaseMs });
    if (ttlMinutes > 0) update.andWhere(`not (${isLate('requested_at')})`, { ttlMinutes });
    return (await changedBy(update))[0];
  }

  /** Undefined if the action no longer waits for approval. */
  async reject(tx: Tx, id: string, rejection: Rejection): Promise<Action | undefined> {
    return (await this.rejectAll(tx, { id, status: 'pending_approval' }, rejection))[0];
  }

  /** Of an action that may run and was not begun. */
  async rejectUnclaimed(tx: Tx, id: string, rejection: Rejection): Promise<Action | undefined> {
    return (await this.rejectAll(tx, { id, ...UNCLAIMED, sent: false }, rejection))[0];
  }

  /** What is sent already cannot be called back; everything else of the incident ends here. */
  async rejectOfIncident(tx: Tx, incidentId: string, rejection: Rejection): Promise<Action[]> {
    const status = In(['pending', 'pending_approval']);
    const where = { incident_id: incidentId, status, phase: IsNull(), sent: false } as const;
    return await this.rejectAll(tx, where, rejection);
  }

  async waitingAmong(
    tx: Tx,
    ids: readonly string[],
  ): Promise<Pick<ActionEntity, 'id' | 'preview'>[]> {
    return await tx.getRepository(ActionEntity).find({
      select: { id: true, preview: true },
      where: { id: Any([...ids]), status: 'pending_approval' },
    });
  }

  async countPendingOf(tx: Tx, incidentId: string): Promise<number> {
    return await tx
      .getRepository(ActionEntity)
      .countBy({ incident_id: incidentId, status: 'pending_approval' });
  }

  /** At most `limit` of those that waited too long for approval; what somebody is deciding on is left to them. */
  async rejectExpired(
    tx: Tx,
    ttlMinutes: number,
    rejection: Rejection,
    limit: number,
  ): Promise<Action[]> {
    const late = await tx.getRepository(ActionEntity).find({
      select: { id: true },
      where: { status: 'pending_approval', requested_at: Raw(isLate, { ttlMinutes }) },
      order: { id: 'asc' },
      take: limit,
      lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
    });
    if (late.length === 0) return [];
    const ids = late.map(({ id }) => id);
    return await this.rejectAll(tx, { id: In(ids), status: 'pending_approval' }, rejection);
  }

  /** Marks at most `limit` of those that expire soon and nobody was reminded of; returns them. */
  async remind(tx: Tx, ttlMinutes: number, limit: number): Promise<Action[]> {
    const due = await tx
      .createQueryBuilder(ActionEntity, 'actions')
      .select('actions.id')
      .where({ status: 'pending_approval' })
      .andWhere(`(${IS_REMINDER_DUE}) and not (${isLate('requested_at')})`, { ttlMinutes })
      .orderBy('actions.id')
      .limit(limit)
      .setLock('pessimistic_write')
      .setOnLocked('skip_locked')
      .getMany();
    if (due.length === 0) return [];
    const ids = due.map(({ id }) => id);
    const update = updateOf(tx).set({ reminded_at: () => 'clock_timestamp()' });
    return await changedBy(update.where({ id: In(ids) }));
  }

  /** Keeps what the connector found, if nobody has decided on the action yet. */
  async keepPreview(tx: Tx, id: string, preview: ActionPreview): Promise<void> {
    const waiting = { id, status: 'pending_approval' } as const;
    await tx.getRepository(ActionEntity).update(waiting, { preview });
  }

  /** All that the kill switch holds and nothing of which was sent. */
  async rejectHeld(tx: Tx, rejection: Rejection): Promise<Action[]> {
    return await this.rejectAll(tx, { ...UNCLAIMED, sent: false }, rejection);
  }

  /** What waited to be repeated may have happened: it cannot be called rejected. */
  async failHeld(tx: Tx, result: ActionResult, at: Date): Promise<Action[]> {
    // As its text: TypeORM's type of an update has no room for JSON of any content.
    const failed = { status: 'failed', result: () => ':result', executed_at: at } as const;
    return await this.end(
      tx,
      { ...UNCLAIMED, sent: true },
      { ...failed, executed_by: SYSTEM },
      { result: JSON.stringify(result) },
    );
  }

  private async rejectAll(tx: Tx, where: Where, rejection: Rejection): Promise<Action[]> {
    return await this.end(tx, where, {
      status: 'rejected',
      rejected_by: rejection.by,
      rejected_at: rejection.at,
      rejection_reason: rejection.reason,
      rejection_code: rejection.code ?? null,
    });
  }

  private async end(
    tx: Tx,
    where: Where,
    changes: Update,
    parameters: Readonly<Record<string, unknown>> = {},
  ): Promise<Action[]> {
    const update = updateOf(tx).set({ ...changes, lease_until: null });
    return await changedBy(update.where(where).setParameters(parameters));
  }
}

function updateOf(tx: Tx) {
  return tx.getRepository(ActionEntity).createQueryBuilder().update();
}

/** The actions as they are after it. */
async function changedBy(update: ReturnType<typeof updateOf>): Promise<Action[]> {
  const result = await update.returning(ACTION_COLUMNS).execute();
  return (result.raw as ActionRow[]).map(actionOf);
}
