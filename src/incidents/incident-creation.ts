// SQL: creation is a hot path. One statement inserts a whole batch with its audit records and events.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import type { AuditEntry } from '../audit/audit-entry.js';
import { AUDIT_PARAMETERS, AuditLog, insertAuditRows } from '../audit/audit-log.js';
import type { Principal } from '../auth/principal.js';
import { credentialsStillValid, credentialsStillValidValues } from '../auth/credentials.js';
import { Clock } from '../platform/clock.js';
import { RowInsert, type Statement, Statements } from '../platform/database/statements.js';
import { newId } from '../platform/ids.js';
import {
  afterCommit,
  type Participant,
  takesPart,
  Transactions,
  type Tx,
} from '../platform/database/transactions.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import { beginAtZero } from '../platform/metrics/metrics.js';
import { DomainEvents, eventOf, eventRows, insertEvents } from '../platform/work/domain-events.js';
import { eventsOfCreation, INCIDENT_EVENTS } from './change-records.js';
import {
  type CreatedIncident,
  IncidentEntity,
  KNOWN_INCIDENT_TYPES,
  type NewIncident,
  SEVERITIES,
} from './incident.js';

const INSERTED_COLUMNS = [
  'id',
  'incident_type',
  'severity',
  'status',
  'source',
  'title',
  'raw_data',
  'fields',
  'created_by',
  'created_at',
  'updated_at',
  'source_status',
] as const;
/** `id` begins with the time of `created_at` in milliseconds. */
export type InsertedIncident = NewIncident &
  Pick<IncidentEntity, 'id' | 'status' | 'created_by' | 'created_at' | 'updated_at'>;

const INCIDENT_ROWS = new RowInsert(IncidentEntity, INSERTED_COLUMNS);

/** Number of parameters of `insertIncidents`: the columns, the events and the audit records. */
export const INCIDENT_PARAMETERS = INCIDENT_ROWS.parameters + 1 + AUDIT_PARAMETERS;

/** `condition` maps the SQL of an incident id to SQL that restricts the insert. `incident` returns ids and numbers. */
export function insertIncidents(
  firstParameter: number,
  condition: (id: string) => string = () => '',
): string {
  const events = firstParameter + INCIDENT_ROWS.parameters;
  return `
    incident as (
      ${INCIDENT_ROWS.text(firstParameter)} ${condition('id')}
      returning id, incident_number),
    event as (${insertEvents(`$${events}`, condition('subject_id::uuid'))}),
    audit_record as (${insertAuditRows(events + 1)} ${condition('subject_id::uuid')})`;
}

const NUMBERS = `select id, incident_number from incident`;

const INSERT: Statement = {
  name: 'incidents_insert',
  text: `with ${insertIncidents(1)} ${NUMBERS}`,
};

/** Inserts no incident unless the credentials of all callers are valid and have the required roles. */
const INSERT_FOR: Statement = {
  name: 'incidents_insert_for',
  text: `
    with callers as materialized (select ${credentialsStillValid(1 + INCIDENT_PARAMETERS)} as valid),
    ${insertIncidents(1, () => 'where (select valid from callers)')}
    ${NUMBERS}`,
};

interface Creation {
  readonly caller: Principal;
  readonly incident: NewIncident;
}

/** Creates incidents. This is a hot path: concurrent creations share one statement, which is its own transaction. */
@Injectable()
export class IncidentCreation implements OnModuleInit {
  private readonly batches = new Batcher<Creation, CreatedIncident>((rows) =>
    this.createTogether(rows),
  );

  constructor(
    private readonly transactions: Transactions,
    private readonly statements: Statements,
    private readonly audit: AuditLog,
    private readonly events: DomainEvents,
    @InjectMetric('incidents_total') private readonly created: Counter<'type' | 'severity'>,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    beginAtZero(this.created, { type: KNOWN_INCIDENT_TYPES, severity: SEVERITIES });
  }

  /** Creates an incident. A creation with an Idempotency-Key has its own transaction, so it is not batched. */
  async create(
    caller: Principal,
    incident: NewIncident,
    idempotency: Participant<CreatedIncident>,
  ): Promise<CreatedIncident> {
    return takesPart(idempotency)
      ? await this.createAlone(caller, incident, idempotency)
      : await this.batches.submit({ caller, incident });
  }

  async insertRows(tx: Tx, rows: readonly InsertedIncident[]): Promise<CreatedIncident[]> {
    if (rows.length === 0) return [];
    const numbers = await this.statements.rowsIn<NumberRow>(tx, INSERT, this.valuesOf(rows));
    afterCommit(tx, () => this.inserted(rows));
    return createdOf(rows, numbers);
  }

  /** Assigns id, status and times. For modules with their own insert statement: see insertIncidents. */
  prepare(created_by: string, incident: NewIncident): InsertedIncident {
    const now = this.clock.now();
    const times = { created_at: now, updated_at: now };
    return { ...incident, id: newId(now.getTime()), status: 'open', created_by, ...times };
  }

  valuesOf(rows: readonly InsertedIncident[]): unknown[] {
    const events = rows.flatMap((row) =>
      eventsOfCreation(row).map((event) => eventOf(event, row.created_at)),
    );
    const audit = this.audit.valuesOfAll(rows.map(auditEntryOf));
    return [...INCIDENT_ROWS.values(rows), eventRows(events), ...audit];
  }

  /** Must run after the commit of the statement with `insertIncidents`, with the inserted rows. */
  inserted(rows: readonly InsertedIncident[]): void {
    this.events.wake();
    for (const row of rows) this.count(row);
  }

  /** If the credential of a caller is invalid, inserts nothing. The batcher then retries each creation alone. */
  private async createTogether(creations: readonly Creation[]): Promise<CreatedIncident[]> {
    const callers = creations.map(({ caller }) => caller);
    const rows = creations.map(({ caller, incident }) => this.prepare(caller.name, incident));
    const numbers = await this.statements.rows<NumberRow>(INSERT_FOR, [
      ...this.valuesOf(rows),
      ...credentialsStillValidValues(callers),
    ]);
    if (numbers.length > 0) {
      this.inserted(rows);
      return createdOf(rows, numbers);
    }
    const [first, ...others] = creations;
    if (!first || others.length > 0)
      throw new Error('A caller of the batch is not allowed to create incidents.');
    return [await this.createAlone(first.caller, first.incident)];
  }

  private async createAlone(
    caller: Principal,
    incident: NewIncident,
    ...participants: Participant<CreatedIncident>[]
  ): Promise<CreatedIncident> {
    return await this.transactions.run<CreatedIncident>(
      async (tx) => (await this.insertRows(tx, [this.prepare(caller.name, incident)]))[0]!,
      caller,
      ...participants,
    );
  }

  private count({ incident_type, severity }: NewIncident): void {
    const known = KNOWN_INCIDENT_TYPES.some((type) => type === incident_type);
    this.created.inc({ type: known ? incident_type : 'other', severity });
  }
}

function auditEntryOf(row: InsertedIncident): AuditEntry {
  const { incident_type, severity, source } = row;
  return {
    actor: row.created_by,
    action: INCIDENT_EVENTS.created,
    subject: { type: 'incident', id: row.id },
    details: { incident_type, severity, source },
  };
}

type NumberRow = Pick<CreatedIncident, 'id' | 'incident_number'>;

function createdOf(
  rows: readonly InsertedIncident[],
  numbers: readonly NumberRow[],
): CreatedIncident[] {
  const numberOf = new Map(numbers.map(({ id, incident_number }) => [id, incident_number]));
  return rows.map(({ id, created_at }) => ({
    id,
    incident_number: numberOf.get(id)!,
    status: 'open',
    created_at,
  }));
}
