// SQL: every change of an action pays for it, and it is one statement for three tables.
// SQL: requests are a hot path, one statement for all that are made together, with all that is recorded of them.
import { Injectable } from '@nestjs/common';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/audit-log.js';
import {
  type Statement,
  Statements,
  type InsertedColumn,
  namesOf,
  valuesOfRows,
} from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { insertTimeline, TIMELINE_PARAMETERS } from '../../incidents/timeline/timeline-entry.js';
import type { DomainEvent } from '../../platform/jobs/events/domain-event.js';
import { eventRows, insertEvents } from '../../platform/jobs/events/event-outbox.js';
import { targetHash } from '../../action-catalogue/target-hash.js';
import { type Action, reportedSender } from '../action.js';

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
    of: (row) => targetHash(row.action_type, row.parameters, reportedSender(row)) ?? null,
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
