// SQL: a batched insert, which can also be part of the statement of a change.
import { Injectable } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { storable } from '../platform/text.js';
import { columnsOf } from '../platform/database/columns.js';
import { RowInsert, RowsAtCommit, Statements } from '../platform/database/statements.js';
import type { AuditRow, AuditEntry } from './audit-entry.js';
import { AuditLogEntity } from './audit.entity.js';
import { isUuid, newId } from '../platform/ids.js';
import { Clock } from '../platform/clock.js';
import type { Tx } from '../platform/database/transactions.js';
import { rowMac, AuditKeys } from './chain/audit-chain.js';

const MAX_TEXT = 256;
const MAX_STRING = 1_000;
const MAX_CHARACTERS = 8_000;

export function boundedText(text: string): string {
  return storable(cut(text, MAX_TEXT));
}

export function boundedDetails(details: Readonly<Record<string, unknown>>): string {
  let left = MAX_CHARACTERS;
  const fields = Object.entries(details).map(([name, value]): [string, unknown] => {
    const json = JSON.stringify(value, storableValue) as string | undefined;
    if (json === undefined) return [name, undefined];
    const fits = json.length <= left;
    const kept: unknown = fits ? JSON.parse(json) : cut(json, left);
    left = Math.max(0, left - json.length);
    return [name, kept];
  });
  return JSON.stringify(Object.fromEntries(fields));
}

function storableValue(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return storable(cut(value, MAX_STRING));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [boundedText(key), item]));
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}[cut: ${text.length} characters]`;
}

const ROWS = new RowInsert(AuditLogEntity, columnsOf(AuditLogEntity, ['xid']));
export const AUDIT_PARAMETERS = ROWS.parameters;
export const insertAuditRows = (firstParameter?: number): string => ROWS.text(firstParameter);

@Injectable()
export class AuditLog {
  private readonly atCommit: RowsAtCommit<AuditRow>;

  constructor(
    statements: Statements,
    private readonly keys: AuditKeys,
    private readonly clock: Clock,
  ) {
    this.atCommit = new RowsAtCommit(statements, 'audit', ROWS);
  }

  async record(tx: Tx, ...entries: readonly AuditEntry[]): Promise<void> {
    this.atCommit.add(
      tx,
      entries.map((entry) => this.rowOf(entry)),
    );
  }

  /** Parameters of `insertAuditRows`, for frequent operations that insert records in the statement of their change. */
  valuesOfAll(entries: readonly AuditEntry[]): unknown[] {
    return ROWS.values(entries.map((entry) => this.rowOf(entry)));
  }

  private rowOf(entry: AuditEntry): AuditRow {
    const at = this.clock.now();
    const content = {
      // The id begins with the same millisecond as `at`, so that ids sort by time.
      id: newId(at.getTime()),
      at,
      actor: boundedText(entry.actor),
      action: boundedText(entry.action),
      subject_type: boundedText(entry.subject.type),
      subject_id: boundedText(subjectId(entry.subject.id)),
      details: boundedDetails(entry.details ?? {}),
    };
    const { id, key } = this.keys.ring.first;
    return { ...content, key_id: id, mac: rowMac(key, content) };
  }
}

/** Converts a UUID to lower case, because callers may write it in capitals. */
export function subjectId(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}

export function logOfCommand(dataSource: DataSource, keys: AuditKeys): AuditLog {
  return new AuditLog(new Statements(dataSource), keys, new Clock());
}
