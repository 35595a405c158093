import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import {
  after,
  anyOf,
  before,
  countedList,
  createdAfter,
  createdBefore,
} from '../platform/counting/counted-list.js';
import { BY_ID, type StatementValues } from '../platform/counting/counted-list.sql.js';
import { foldStatement, SimpleCounts } from '../platform/counting/count-fold.js';
import { AdvisoryLock } from '../platform/database/advisory-locks.js';
import { Statements } from '../platform/database/statements.js';
import { Transactions, type Tx } from '../platform/database/transactions.js';
import {
  INCIDENT_STATUSES,
  type IncidentStatus,
  LISTED_COLUMNS,
  sequenceIn,
  SEVERITIES,
  type Severity,
} from './incident.js';

const INCIDENT_SORTS = {
  created_at: BY_ID,
  updated_at: { column: 'updated_at' },
  triaged_at: { column: 'triaged_at', nullable: true },
  severity: { column: 'severity' },
  status: { column: 'status' },
  incident_type: { column: 'incident_type' },
  source: { column: 'source' },
  incident_number: { column: 'number', unique: true },
  resolved_at: { column: 'resolved_at', nullable: true },
} as const;
export const SORT_FIELDS = Object.keys(INCIDENT_SORTS) as (keyof typeof INCIDENT_SORTS)[];

/** The list of incidents. Filters have the names of the query parameters. */
export const incidentList = countedList({
  table: 'incidents',
  columns: [...LISTED_COLUMNS, 'triaged_at', 'number'].join(', '),
  where: 'deleted_at is null',
  counts: 'incident',
  counted: {
    source: { filter: 'source', type: 'text' },
    incident_type: { filter: 'type', type: 'text' },
    severity: { filter: 'severity', type: 'incident_severity', all: SEVERITIES },
    status: { filter: 'status', type: 'incident_status', all: INCIDENT_STATUSES },
  },
  indexes: [
    ['source'],
    ['source', 'status', 'severity'],
    ['incident_type'],
    ['incident_type', 'status', 'severity'],
    ['status', 'severity'],
  ],
  filters: {
    created_after: createdAfter,
    created_before: createdBefore,
    number: isNumbered,
    classification: anyOf('classification', 'text'),
    updated_after: after('updated_at'),
    resolved_after: after('resolved_at'),
    resolved_before: before('resolved_at'),
  },
  sorts: INCIDENT_SORTS,
});
export type IncidentListRequest = Parameters<typeof incidentList>[0];

/** Finds incidents by the indexed sequence, then compares the whole number. */
function isNumbered(numbers: readonly string[], values: StatementValues): string {
  return `number = any(${values.add(numbers.map(sequenceIn), 'bigint[]')})
    and incident_number = any(${values.add(numbers, 'text[]')})`;
}

const countedColumn = {
  type: 'text',
  collation: 'C',
  primaryKeyConstraintName: 'pk_incident_counts',
} as const;

/** A sum of the fold: the number of incidents with these values. */
@Entity('incident_counts')
export class IncidentCountEntity {
  @PrimaryColumn(countedColumn)
  readonly source: string;

  @PrimaryColumn(countedColumn)
  readonly incident_type: string;

  @PrimaryColumn({
    type: 'enum',
    enum: SEVERITIES,
    enumName: 'incident_severity',
    primaryKeyConstraintName: 'pk_incident_counts',
  })
  readonly severity: Severity;

  @PrimaryColumn({
    type: 'enum',
    enum: ['open', 'resolved', 'triaged'],
    enumName: 'incident_status',
    primaryKeyConstraintName: 'pk_incident_counts',
  })
  readonly status: IncidentStatus;

  @Column({ type: 'bigint' })
  readonly n: string;
}

const FOLD = foldStatement('incident', ['source', 'incident_type', 'severity', 'status']);

/** Keeps totals exact and cheap for any number of incidents. */
@Injectable()
export class IncidentCounts extends SimpleCounts {
  constructor(statements: Statements, transactions: Transactions) {
    const fold = async (tx: Tx, most: number) => {
      const [row] = await statements.rowsIn<{ n: number }>(tx, FOLD, [most]);
      return row?.n ?? 0;
    };
    super({ fold }, transactions, AdvisoryLock.IncidentCounts, 'incidents');
  }
}
