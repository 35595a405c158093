import { Injectable } from '@nestjs/common';
import { newId } from '../../platform/ids.js';

/** How many rows of a writer are known to have been committed. */
export interface WriterCount {
  readonly writer: string;
  readonly written: number;
}

/**
 * This process as a writer of audit rows. It counts its rows that were committed, and each further row carries the count. So
 * a row that somebody removes before it is sealed is missed. A transaction that rolls back is not counted and leaves no
 * gap, and no writer waits for another one.
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

  /** Rows that were made under an earlier id are not counted: see startNewId. */
  countCommitted(writer: string, rows: number): void {
    if (writer === this.current.id) this.current.written += rows;
  }

  /** Starts to count from zero under another id: rows were lost, and somebody has accepted that. */
  startNewId(): void {
    this.current = { id: newId(), written: 0 };
  }
}
