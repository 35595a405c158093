import { timeOfId } from '../../platform/ids.js';
import type { AuditRow } from '../audit-entry.js';
import type { WriterCount } from '../writing/audit-writer.js';

/**
 * Counts the rows of each writer against what the writer said of them. A row was made when `written` others of its
 * writer had committed: those have to be there. They are the ones that say less themselves, because each was made before
 * it was counted.
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

  /** How many rows are gone, as their writers said or as is known of them otherwise. */
  missing(known: readonly WriterCount[], acceptedAt: number): number {
    const missed = new Map<string, number>();
    const miss = (writer: string, rows: number): void => {
      // Whoever accepted the trail as it was has accepted what was gone by then.
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
