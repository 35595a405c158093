import { Injectable } from '@nestjs/common';
import { newId } from '../../platform/ids.js';

/** How many rows of a writer are known to have committed. */
export interface WriterCount {
  readonly writer: string;
  readonly written: number;
}

/**
 * This process as a writer of audit rows. It counts the rows that committed, and each further row carries the count: a
 * row that was removed before it was sealed is then missed. A transaction that rolls back leaves no gap to explain, and
 * nobody waits for anybody.
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

  /** What was made under a former id counts for nobody: see beginAnew. */
  countCommitted(writer: string, rows: number): void {
    if (writer === this.current.id) this.current.written += rows;
  }

  /** For when rows were lost and somebody has accepted it: what comes now is counted anew. */
  startNewId(): void {
    this.current = { id: newId(), written: 0 };
  }
}
