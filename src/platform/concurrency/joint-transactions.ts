import { setImmediate } from 'node:timers/promises';
import type { Transactions, Tx } from '../database/transactions.js';
import { Batcher } from './batcher.js';

interface Part<T = unknown> {
  /** Parts that share a key run one after another. */
  readonly keys: readonly string[];
  readonly work: (tx: Tx) => Promise<T>;
}

const MOST_PARTS = 32;

/** Transactions with several concurrent parts, which combine their statements. */
const shared = new WeakSet<Tx>();

/**
 * Runs small transactions that arrive together as one transaction. They share its commit and every statement that is a
 * SetOf. If one part fails, each part runs again in its own transaction, so the parts do not affect each other. Parts
 * with different keys run concurrently. A part that arrives alone does not wait.
 */
export class JointTransactions {
  private readonly parts = new Batcher<Part, unknown>((parts) => this.runAll(parts), MOST_PARTS);

  constructor(private readonly transactions: Transactions) {}

  /**
   * Like Transactions.run: `work` must have no effect that a rollback does not undo.
   *
   * @param keys things that this part changes and another part may read, such as the incident. The first key determines
   * the order.
   */
  async run<T>(keys: string | readonly string[], work: (tx: Tx) => Promise<T>): Promise<T> {
    return (await this.parts.submit({ keys: [keys].flat(), work })) as T;
  }

  private async runAll(parts: readonly Part[]): Promise<unknown[]> {
    return await this.transactions.run((tx) => runParts(tx, parts));
  }
}

/**
 * Runs the parts in the given transaction, where they share every statement that is a SetOf. Throws if a part fails.
 */
export async function runParts<T>(tx: Tx, parts: readonly Part<T>[]): Promise<T[]> {
  if (parts.length > 1) shared.add(tx);
  return (await sideBySide(tx, parts)) as T[];
}

/** Waits for every part even after a failure, so that no part uses the connection after its release. */
async function sideBySide(tx: Tx, parts: readonly Part[]): Promise<unknown[]> {
  const results: unknown[] = [];
  const lastOf = new Map<string, Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  const run = async ({ work }: Part, place: number, earlier: readonly unknown[]) => {
    // A part without predecessors starts now, so that all parts take their first step together.
    if (earlier.length > 0) await Promise.all(earlier);
    if (failure) return;
    try {
      results[place] = await work(tx);
    } catch (error) {
      failure ??= { error };
    }
  };
  const inOrder = parts
    .map((part, place) => ({ part, place }))
    .toSorted((one, other) => (one.part.keys[0]! < other.part.keys[0]! ? -1 : 1));
  for (const { part, place } of inOrder) {
    const earlier = part.keys.flatMap((key) => lastOf.get(key) ?? []);
    const done = run(part, place, earlier);
    for (const key of part.keys) lastOf.set(key, done);
  }
  await Promise.all(lastOf.values());
  // The earliest failure: PostgreSQL rejects every later statement of the transaction.
  if (failure) throw failure.error;
  return results;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A statement that the parts of a joint transaction share: items submitted at the same moment become one statement. In
 * any other transaction it runs at once for its single item. Two statements of one transaction never overlap.
 */
export class SetOf<Item, Result> {
  private readonly gathered = new WeakMap<Tx, Waiting<Item, Result>[]>();

  /** @param run returns one result per item, in the same order, and locks rows in a fixed order */
  constructor(
    private readonly run: (tx: Tx, items: readonly Item[]) => Promise<readonly Result[]>,
  ) {}

  async submit(tx: Tx, item: Item): Promise<Result> {
    if (!shared.has(tx)) return (await this.run(tx, [item]))[0]!;
    return await new Promise<Result>((resolve, reject) => {
      const waiting = this.gathered.get(tx);
      if (waiting) return void waiting.push({ item, resolve, reject });
      const first = [{ item, resolve, reject }];
      this.gathered.set(tx, first);
      void this.runSets(tx, first);
    });
  }

  private async runSets(tx: Tx, waiting: Waiting<Item, Result>[]): Promise<void> {
    for (;;) {
      await setImmediate();
      const set = waiting.splice(0);
      if (set.length === 0) break;
      try {
        const results = await this.run(
          tx,
          set.map(({ item }) => item),
        );
        set.forEach(({ resolve }, index) => resolve(results[index]!));
      } catch (error) {
        for (const { reject } of set) reject(error);
      }
    }
    this.gathered.delete(tx);
  }
}
