import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { newId } from '../common/ids.js';
import { type Statement, Statements } from '../database/statements.js';
import { afterCommit, type Tx } from '../database/transactions.js';
import { rowMac } from './audit-chain.js';
import type { AuditEntry, AuditRow } from './audit-entry.js';
import {
  auditRowsValues,
  auditRowValues,
  insertAuditRow,
  insertAuditRows,
} from './audit-insert.js';
import { AuditKeys } from './audit-keys.js';
import { boundedDetails, boundedText } from './audit-text.js';
import { AuditWriter } from './audit-writer.js';

const INSERT_ROW: Statement = { name: 'audit_insert_row', text: insertAuditRow() };
const INSERT_ROWS: Statement = { name: 'audit_insert_rows', text: insertAuditRows() };

/** Where every module writes down what it did, in the transaction that does it. */
@Injectable()
export class AuditLog {
  constructor(
    private readonly statements: Statements,
    private readonly keys: AuditKeys,
    private readonly clock: Clock,
    private readonly writer: AuditWriter = new AuditWriter(),
  ) {}

  async record(tx: Tx, entry: AuditEntry): Promise<void> {
    await this.statements.rowsIn(tx, INSERT_ROW, this.valuesOf(entry));
    afterCommit(tx, () => this.writer.committed(1));
  }

  async recordAll(tx: Tx, entries: readonly AuditEntry[]): Promise<void> {
    if (entries.length === 0) return;
    await this.statements.rowsIn(tx, INSERT_ROWS, this.valuesOfAll(entries));
    this.countOnCommit(tx, entries);
  }

  /** The parameters of `insertAuditRow`, for a hot path that records in the statement of its change. */
  valuesOf(entry: AuditEntry): unknown[] {
    return auditRowValues(this.rowOf(entry));
  }

  /** The parameters of `insertAuditRows`. */
  valuesOfAll(entries: readonly AuditEntry[]): unknown[] {
    return auditRowsValues(entries.map((entry) => this.rowOf(entry)));
  }

  /** For who inserts by `valuesOf` or `valuesOfAll`: counts the rows when their transaction commits. */
  countOnCommit(tx: Tx, entries: readonly unknown[]): void {
    afterCommit(tx, () => this.count(entries));
  }

  /** The same after a statement that was a transaction of its own. */
  count(entries: readonly unknown[]): void {
    this.writer.committed(entries.length);
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
