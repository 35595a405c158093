// SQL: every change of an action pays for it, and it is one statement for three tables.
import { Injectable } from '@nestjs/common';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/writing/audit-insert.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { insertTimeline, TIMELINE_PARAMETERS } from '../../incidents/timeline/timeline-insert.js';
import type { DomainEvent } from '../../platform/jobs/events/domain-event.js';
import { eventRows, insertEvents } from '../../platform/jobs/events/event-outbox.js';

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
