import { timeOfId } from '../../platform/ids.js';
import type { AuditRow } from '../audit-entry.js';
import type { WriterCount } from '../writing/audit-writer.js';

/**
 * Finds out how many rows are missing, from the counts that rows carry. Each row says how many rows of its writer had been
 * committed when it was made (`written`). Those rows have to be there. They are rows with a lower count themselves, because
 * a row is made before it is counted.
 */
export class WriterTally {
  private readonly writers = new Map<
    string,
    { rows: number; most: number; rowsWithMost: number }
  >();

  add({ writer, written }: Pick<AuditRow, 'writer' | 'written'>): void {
    if (writer === null || written === null) return;
    const count = this.writers.get(writer) ?? { rows: 0, most: 0, rowsWithMost: 0 };
    this.writers.set(writer, count);
    count.rows += 1;
    const said = Number(written);
    if (said > count.most) Object.assign(count, { most: said, rowsWithMost: 0 });
    if (said === count.most) count.rowsWithMost += 1;
  }

  /** `known`: counts that are known from outside the database, for rows that no later row tells of. */
  missing(known: readonly WriterCount[], acceptedAt: number): number {
    const missed = new Map<string, number>();
    const miss = (writer: string, rows: number): void => {
      // Somebody accepted the trail as it was, and with it the rows that were missing by then.
      if (timeOfId(writer) <= acceptedAt) return;
      missed.set(writer, Math.max(missed.get(writer) ?? 0, rows));
    };
    for (const [writer, { rows, most, rowsWithMost }] of this.writers) {
      miss(writer, most - (rows - rowsWithMost));
    }
    for (const { writer, written } of known) {
      miss(writer, written - (this.writers.get(writer)?.rows ?? 0));
    }
    return [...missed.values()].reduce((sum, rows) => sum + Math.max(0, rows), 0);
  }
}
