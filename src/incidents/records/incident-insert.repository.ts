// SQL: creation is the hot path, one statement for a whole batch with its audit records and events.
import { Injectable } from '@nestjs/common';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/writing/audit-insert.js';
import type { Principal } from '../../auth/principal.js';
import {
  credentialsStillValid,
  credentialsStillValidValues,
} from '../../auth/principals/credentials-still-valid.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { DomainEvent } from '../../platform/jobs/events/domain-event.js';
import { eventRows, insertEvents } from '../../platform/jobs/events/event-outbox.js';
import type { NewIncident } from '../incident.js';

export interface InsertedIncident extends NewIncident {
  /** Begins with the millisecond of createdAt. */
  readonly id: string;
  readonly createdAt: Date;
  readonly createdBy: string;
}

/** Any number of incidents, with their audit records and events. `condition` is the same for all of them. */
const insertAll = (condition: string): string => `
    incident as (
      insert into incidents (id, incident_type, severity, status, source, raw_data, created_by, created_at, updated_at)
      select id, type, severity, 'open', source, raw_data, created_by, created_at, created_at
        from unnest($1::uuid[], $2::text[], $3::incident_severity[], $4::text[], $5::json[], $6::text[], $7::timestamptz[])
          as added (id, type, severity, source, raw_data, created_by, created_at) ${condition}
      returning id, number),
    event as (${insertEvents('$8')} ${condition}),
    audit_record as (${insertAuditRows(9)} ${condition})
    select id, number from incident`;

const INSERT: Statement = { name: 'incidents_insert', text: `with ${insertAll('')}` };

const INSERT_FOR: Statement = {
  name: 'incidents_insert_for',
  text: `
    with callers as materialized (select ${credentialsStillValid(9 + AUDIT_PARAMETERS)} as valid),
    ${insertAll('where (select valid from callers)')}`,
};

/** The sequence numbers that the database gave to the incidents, by id. */
export type Numbers = ReadonlyMap<string, string>;

export interface Insertion {
  readonly rows: readonly InsertedIncident[];
  readonly events: readonly DomainEvent[];
  readonly audit: readonly unknown[];
}

@Injectable()
export class IncidentInsertRepository {
  constructor(private readonly statements: Statements) {}

  async insertAll(tx: Tx, insertion: Insertion): Promise<Numbers> {
    return numbersOf(await this.statements.rowsIn<NumberRow>(tx, INSERT, valuesOf(insertion)));
  }

  /**
   * A transaction of its own in one round trip. Nothing is inserted unless the credentials of all callers are still
   * valid, and still give the roles that were required of them.
   */
  async insertAllFor(callers: readonly Principal[], insertion: Insertion): Promise<Numbers> {
    const values = [...valuesOf(insertion), ...credentialsStillValidValues(callers)];
    return numbersOf(await this.statements.rows<NumberRow>(INSERT_FOR, values));
  }
}

interface NumberRow {
  readonly id: string;
  readonly number: string;
}

function numbersOf(rows: readonly NumberRow[]): Numbers {
  return new Map(rows.map(({ id, number }) => [id, number]));
}

function valuesOf({ rows, events, audit }: Insertion): unknown[] {
  return [
    rows.map(({ id }) => id),
    rows.map(({ incidentType }) => incidentType),
    rows.map(({ severity }) => severity),
    rows.map(({ source }) => source),
    rows.map(({ rawData }) => rawData),
    rows.map(({ createdBy }) => createdBy),
    rows.map(({ createdAt }) => createdAt.toISOString()),
    eventRows(events),
    ...audit,
  ];
}
