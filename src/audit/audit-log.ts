// SQL: every change of the service inserts audit rows.
import { Injectable } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { storable } from '../platform/text.js';
import {
  type InsertedColumn,
  insertRows,
  namesOf,
  valuesOfRows,
  type Statement,
  Statements,
} from '../platform/database/statements.js';
import type { AuditRow, AuditEntry } from './audit-entry.js';
import { newId } from '../platform/ids.js';
import { Clock } from '../platform/clock.js';
import { RowsAtCommit, afterCommit, type Tx } from '../platform/database/transactions.js';
import { rowMac, AuditKeys } from './chain/audit-chain.js';

const MAX_TEXT = 256;
const MAX_STRING = 1_000;
const MAX_DEPTH = 6;
const MAX_CHARACTERS = 8_000;

/** Limits the length of a text column. */
export function boundedText(text: string): string {
  return storable(cut(text, MAX_TEXT));
}

/** JSON of limited size. Parts that are too long are replaced by a note. */
export function boundedDetails(details: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(bounded(details, MAX_DEPTH, { left: MAX_CHARACTERS }));
}

interface Budget {
  left: number;
}

function bounded(value: unknown, depth: number, budget: Budget): unknown {
  budget.left -= 1;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') {
    const text = cut(value, Math.min(MAX_STRING, Math.max(0, budget.left)));
    budget.left -= text.length;
    return storable(text);
  }
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return bounded((value.toJSON as () => unknown)(), depth, budget);
  }
  if (depth === 0) return '[cut: too deep]';
  return Array.isArray(value)
    ? boundedArray(value, depth, budget)
    : boundedObject(value, depth, budget);
}

function boundedArray(items: readonly unknown[], depth: number, budget: Budget): unknown[] {
  const kept: unknown[] = [];
  for (const item of items) {
    if (budget.left <= 0) return [...kept, `[cut: ${items.length - kept.length} more]`];
    kept.push(bounded(item, depth - 1, budget));
  }
  return kept;
}

function boundedObject(object: object, depth: number, budget: Budget): Record<string, unknown> {
  const entries = Object.entries(object);
  const kept: [string, unknown][] = [];
  for (const [key, item] of entries) {
    if (budget.left <= 0) {
      kept.push(['[cut]', `${entries.length - kept.length} more`]);
      break;
    }
    budget.left -= Math.min(key.length, MAX_TEXT);
    kept.push([boundedText(key), bounded(item, depth - 1, budget)]);
  }
  // Assignment would treat a key named __proto__ in a special way.
  return Object.fromEntries(kept);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}[cut: ${text.length} characters]`;
}

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

/** Number of parameters of the statements below. */
export const AUDIT_PARAMETERS = COLUMNS.length;

/** Inserts one row: as its own statement, or as a CTE in the statement of the change, which saves a round trip. */
export function insertAuditRow(firstParameter = 1): string {
  return `insert into audit_log (${namesOf(COLUMNS)}) values (${COLUMNS.map((_, index) => `$${firstParameter + index}`).join(', ')})`;
}

function auditRowValues(row: AuditRow): unknown[] {
  return COLUMNS.map(({ of }) => of(row));
}

/** Inserts any number of rows. */
export function insertAuditRows(firstParameter = 1): string {
  return insertRows('audit_log', COLUMNS, firstParameter);
}

function auditRowsValues(rows: readonly AuditRow[]): unknown[] {
  return valuesOfRows(COLUMNS, rows);
}

/** Number of committed rows of a writer, as far as known. */
export interface WriterCount {
  readonly writer: string;
  readonly written: number;
}

/**
 * This process as a writer of audit rows. It counts its committed rows, and each new row carries the count, so that a
 * row that was removed before its sealing is noticed. Rolled back transactions leave no gap, and writers do not wait
 * for each other.
 */
@Injectable()
export class AuditWriter implements WriterCount {
  private current = { id: newId(), written: 0 };

  get id(): string {
    return this.current.id;
  }

  get writer(): string {
    return this.current.id;
  }

  get written(): number {
    return this.current.written;
  }

  /** Rows under an earlier id are not counted: see startNewId. */
  countCommitted(writer: string, rows: number): void {
    if (writer === this.current.id) this.current.written += rows;
  }

  /** Restarts the count under a new id, because an operator has accepted that rows were lost. */
  startNewId(): void {
    this.current = { id: newId(), written: 0 };
  }
}

const INSERT_ROW: Statement = { name: 'audit_insert_row', text: insertAuditRow() };
const INSERT_ROWS: Statement = { name: 'audit_insert_rows', text: insertAuditRows() };

/** Rows that may not have committed yet. */
interface Made {
  readonly writer: string;
  readonly rows: number;
}

/** Records changes of all modules, in the transaction of the change. */
@Injectable()
export class AuditLog {
  /** Keyed by the parameters of the statement, because the writer may get a new id before the commit. */
  private readonly made = new WeakMap<readonly unknown[], Made>();
  private readonly atCommit = new RowsAtCommit<AuditRow>((tx, rows) => this.insert(tx, rows));

  constructor(
    private readonly statements: Statements,
    private readonly keys: AuditKeys,
    private readonly clock: Clock,
    private readonly writer: AuditWriter = new AuditWriter(),
  ) {}

  async record(tx: Tx, entry: AuditEntry): Promise<void> {
    await this.recordAll(tx, [entry]);
  }

  /** Writes the rows right before the commit. */
  async recordAll(tx: Tx, entries: readonly AuditEntry[]): Promise<void> {
    this.atCommit.add(
      tx,
      entries.map((entry) => this.rowOf(entry)),
    );
  }

  /** Parameters of `insertAuditRow`, for hot paths that record in the statement of their change. */
  valuesOf(entry: AuditEntry): unknown[] {
    return this.rememberValues(auditRowValues(this.rowOf(entry)), 1);
  }

  /** Parameters of `insertAuditRows`. */
  valuesOfAll(entries: readonly AuditEntry[]): unknown[] {
    return this.rowsValues(entries.map((entry) => this.rowOf(entry)));
  }

  /** Counts rows inserted with `valuesOf` or `valuesOfAll` when their transaction commits. */
  countOnCommit(tx: Tx, values: readonly unknown[]): void {
    afterCommit(tx, () => this.count(values));
  }

  /**
   * Counts rows of a statement that was its own transaction. `inserted` is their number if the statement inserted only
   * some of them.
   */
  count(values: readonly unknown[], inserted?: number): void {
    const made = this.made.get(values);
    if (made) this.writer.countCommitted(made.writer, inserted ?? made.rows);
  }

  private async insert(tx: Tx, rows: readonly AuditRow[]): Promise<void> {
    const [first, ...others] = rows;
    const alone = first !== undefined && others.length === 0;
    const values = alone ? this.rememberValues(auditRowValues(first), 1) : this.rowsValues(rows);
    await this.statements.rowsIn(tx, alone ? INSERT_ROW : INSERT_ROWS, values);
    this.countOnCommit(tx, values);
  }

  private rowsValues(rows: readonly AuditRow[]): unknown[] {
    return this.rememberValues(auditRowsValues(rows), rows.length);
  }

  private rememberValues(values: unknown[], rows: number): unknown[] {
    this.made.set(values, { writer: this.writer.id, rows });
    return values;
  }

  private rowOf(entry: AuditEntry): AuditRow {
    const at = this.clock.now();
    const content = {
      // The id begins with the same millisecond, so ids sort by time.
      id: newId(at.getTime()),
      at,
      actor: boundedText(entry.actor),
      action: boundedText(entry.action),
      subject_type: boundedText(entry.subject.type),
      subject_id: boundedText(entry.subject.id),
      details: boundedDetails(entry.details ?? {}),
      writer: this.writer.id,
      written: String(this.writer.written),
    };
    const { id, key } = this.keys.rows.first;
    return { ...content, key_id: id, mac: rowMac(key, content) };
  }
}

/** Audit log of an operator command, with its own writer. */
export function logOfCommand(dataSource: DataSource, keys: AuditKeys): AuditLog {
  return new AuditLog(new Statements(dataSource), keys, new Clock());
}
