import {
  type InsertedColumn,
  insertRows,
  namesOf,
  valuesOfRows,
} from '../../platform/database/insert-rows.js';
import type { AuditRow } from '../audit-entry.js';

// SQL by hand: every change of the service inserts its audit rows with these statements.

const COLUMNS: readonly InsertedColumn<AuditRow>[] = [
  { name: 'id', type: 'uuid', of: (row) => row.id },
  { name: 'at', type: 'timestamptz', of: (row) => row.at.toISOString() },
  { name: 'actor', type: 'text', of: (row) => row.actor },
  { name: 'action', type: 'text', of: (row) => row.action },
  { name: 'subject_type', type: 'text', of: (row) => row.subject_type },
  { name: 'subject_id', type: 'text', of: (row) => row.subject_id },
  { name: 'details', type: 'json', of: (row) => row.details },
  { name: 'writer', type: 'text', of: (row) => row.writer },
  { name: 'written', type: 'bigint', of: (row) => row.written },
  { name: 'key_id', type: 'text', of: (row) => row.key_id },
  { name: 'mac', type: 'bytea', of: (row) => row.mac },
];

/** How many parameters the statements below take, beginning with the first one given. */
export const AUDIT_PARAMETERS = COLUMNS.length;

/** Inserts one row: as a statement of its own, or as a CTE in the statement of the change, which saves a round trip. */
export function insertAuditRow(firstParameter = 1): string {
  return `insert into audit_log (${namesOf(COLUMNS)}) values (${COLUMNS.map((_, index) => `$${firstParameter + index}`).join(', ')})`;
}

export function auditRowValues(row: AuditRow): unknown[] {
  return COLUMNS.map(({ of }) => of(row));
}

/** Inserts any number of rows, for statements that make many changes at once. */
export function insertAuditRows(firstParameter = 1): string {
  return insertRows('audit_log', COLUMNS, firstParameter);
}

export function auditRowsValues(rows: readonly AuditRow[]): unknown[] {
  return valuesOfRows(COLUMNS, rows);
}
