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

/** Limits a list of records, and leaves out the first record that does not fit with all its fields, and all after it. */
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
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const one of value) {
        if (this.isFull(items)) break;
        items.push(this.cut(one, depth + 1));
      }
      return items;
    }
    const fields: [string, unknown][] = [];
    for (const key of Object.keys(value)) {
      if (this.isFull(fields)) break;
      fields.push([this.text(key), this.cut((value as Record<string, unknown>)[key], depth + 1)]);
    }
    return Object.fromEntries(fields);
  }

  private isFull(items: readonly unknown[]): boolean {
    return items.length >= this.room.items || this.isSpent;
  }

  private number(value: number): number | null {
    this.left -= String(value).length + 1;
    return Number.isFinite(value) ? value : null;
  }

  private text(text: string): string {
    const kept = storable(text.slice(0, Math.min(this.room.longestText, Math.max(0, this.left))));
    // Each value counts, also one without a character.
    this.left -= kept.length + 1;
    return kept;
  }
}
