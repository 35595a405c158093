import { storable } from '../../platform/text.js';

/** Limits of a stored value. Longer texts and lists are cut. */
export interface Room {
  /** Characters of all texts, numbers and keys together. */
  readonly characters: number;
  readonly longestText: number;
  readonly items: number;
  readonly depth: number;
}

/** Limits a value of a model or a vendor, and replaces characters that PostgreSQL does not store. */
export function storedJson<T>(value: T, room: Room): T {
  return new Cutter(room).cut(value, 0) as T;
}

/** Limits a list of records. Drops the first record that does not fit with all its fields, and all records after it. */
export function storedRecords<T extends object>(records: readonly T[], room: Room): T[] {
  const cutter = new Cutter(room);
  const kept: T[] = [];
  for (const record of records.slice(0, room.items)) {
    const cut = cutter.cut(record, 1) as T;
    if (cutter.isSpent) break;
    kept.push(cut);
  }
  return kept;
}

class Cutter {
  private left: number;

  constructor(private readonly room: Room) {
    this.left = room.characters;
  }

  get isSpent(): boolean {
    return this.left <= 0;
  }

  cut(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.number(value);
    if (typeof value === 'boolean' || value === null || value === undefined) return value;
    if (typeof value !== 'object' || depth === this.room.depth) return null;
    if (value instanceof Date) return value.toISOString();
    if (Array.isArray(value)) return this.each(value, (item) => this.cut(item, depth + 1));
    const fields = this.each(Object.keys(value), (key) => {
      return [
        this.text(key),
        this.cut((value as Record<string, unknown>)[key], depth + 1),
      ] as const;
    });
    return Object.fromEntries(fields);
  }

  private each<T, R>(items: readonly T[], cut: (item: T) => R): R[] {
    const kept: R[] = [];
    for (const item of items.slice(0, this.room.items)) {
      if (this.isSpent) break;
      kept.push(cut(item));
    }
    return kept;
  }

  private number(value: number): number | null {
    this.left -= String(value).length + 1;
    return Number.isFinite(value) ? value : null;
  }

  private text(text: string): string {
    const kept = storable(text.slice(0, Math.min(this.room.longestText, Math.max(0, this.left))));
    // An empty text counts, too.
    this.left -= kept.length + 1;
    return kept;
  }
}
