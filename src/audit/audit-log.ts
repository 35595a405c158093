// SQL: every change of the service pays for it (see writing/audit-insert.ts).
import { Injectable } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { Clock } from '../platform/clock.js';
import { newId } from '../platform/ids.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import { afterCommit, type Tx } from '../platform/database/transactions.js';
import { rowMac } from './chain/audit-chain.js';
import type { AuditEntry, AuditRow } from './audit-entry.js';
import {
  auditRowsValues,
  auditRowValues,
  insertAuditRow,
  insertAuditRows,
} from './writing/audit-insert.js';
import { AuditKeys } from './chain/audit-keys.js';
import { boundedDetails, boundedText } from './writing/audit-text.js';
import { AuditWriter } from './writing/audit-writer.js';

const INSERT_ROW: Statement = { name: 'audit_insert_row', text: insertAuditRow() };
const INSERT_ROWS: Statement = { name: 'audit_insert_rows', text: insertAuditRows() };

/** Rows that were made and may not have committed yet. */
interface Made {
  readonly writer: string;
  readonly rows: number;
}

/** Where every module records what it does, in the transaction that does it. */
@Injectable()
export class AuditLog {
  /** By the parameters of their statement: until they commit, the writer may have been given another id. */
  private readonly made = new WeakMap<readonly unknown[], Made>();

  constructor(
    private readonly statements: Statements,
    private readonly keys: AuditKeys,
    private readonly clock: Clock,
    private readonly writer: AuditWriter = new AuditWriter(),
  ) {}

  async record(tx: Tx, entry: AuditEntry): Promise<void> {
    const values = this.valuesOf(entry);
    await this.statements.rowsIn(tx, INSERT_ROW, values);
    this.countOnCommit(tx, values);
  }

  async recordAll(tx: Tx, entries: readonly AuditEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const values = this.valuesOfAll(entries);
    await this.statements.rowsIn(tx, INSERT_ROWS, values);
    this.countOnCommit(tx, values);
  }

  /** The parameters of `insertAuditRow`, for hot paths that record in the statement of their change. */
  valuesOf(entry: AuditEntry): unknown[] {
    return this.rememberValues(auditRowValues(this.rowOf(entry)), 1);
  }

  /** The parameters of `insertAuditRows`. */
  valuesOfAll(entries: readonly AuditEntry[]): unknown[] {
    const values = auditRowsValues(entries.map((entry) => this.rowOf(entry)));
    return this.rememberValues(values, entries.length);
  }

  /** For callers that insert what `valuesOf` or `valuesOfAll` gave them: counts the rows once their transaction commits. */
  countOnCommit(tx: Tx, values: readonly unknown[]): void {
    afterCommit(tx, () => this.count(values));
  }

  /**
   * For callers whose statement was a transaction of its own: counts the rows at once. `inserted` is how many there are, when
   * the statement inserts only some of them.
   */
  count(values: readonly unknown[], inserted?: number): void {
    const made = this.made.get(values);
    if (made) this.writer.countCommitted(made.writer, inserted ?? made.rows);
  }

  private rememberValues(values: unknown[], rows: number): unknown[] {
    this.made.set(values, { writer: this.writer.id, rows });
    return values;
  }

  private rowOf(entry: AuditEntry): AuditRow {
    const at = this.clock.now();
    const content = {
      // The id begins with the same millisecond, so that the order of ids is the order of times.
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

/** For a command that an operator runs: the log of a writer of its own, which ends with the process. */
export function logOfCommand(dataSource: DataSource, keys: AuditKeys): AuditLog {
  return new AuditLog(new Statements(dataSource), keys, new Clock());
}
