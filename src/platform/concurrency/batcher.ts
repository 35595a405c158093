import { isDatabaseUnavailable, isLostRace } from '../database/sqlstate.js';
import { inSpan, presentSpan, type Span } from '../tracing/tracing.js';

/** Processes all items in one statement. Returns one result per item, in the same order. */
type RunBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly span: Span | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Combines rows in one statement. A rejected batch is retried row by row, a batch with unknown outcome is not. */
export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private underWay = 0;
  private itemsUnderWay = 0;
  private scheduled = false;

  constructor(
    private readonly runBatch: RunBatch<Item, Result>,
    private readonly maxItems = 100,
    private readonly maxUnderWay = 2,
  ) {}

  submit(item: Item): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.waiting.push({ item, span: presentSpan(), resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled || this.underWay >= this.maxUnderWay) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      while (this.isWorthABatch()) void this.flush(this.waiting.splice(0, this.maxItems));
    });
  }

  private isWorthABatch(): boolean {
    const items = this.waiting.length;
    return items > 0 && items >= this.itemsUnderWay && this.underWay < this.maxUnderWay;
  }

  private async flush(batch: Waiting<Item, Result>[]): Promise<void> {
    this.underWay += 1;
    this.itemsUnderWay += batch.length;
    try {
      await this.runTogether(batch);
    } finally {
      this.underWay -= 1;
      this.itemsUnderWay -= batch.length;
      if (this.waiting.length > 0) this.schedule();
    }
  }

  private async runTogether(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const span = batch.find((one) => one.span)?.span;
      const results = await inSpan(span, () => this.runBatch(batch.map(({ item }) => item)));
      if (results.length !== batch.length) {
        throw new Error(`A batch of ${batch.length} items returned ${results.length} results.`);
      }
      batch.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      if (batch.length === 1 || (isDatabaseUnavailable(error) && !isLostRace(error))) {
        for (const { reject } of batch) reject(error);
      } else {
        for (const item of batch) await this.runTogether([item]);
      }
    }
  }
}

/** Never runs `work` twice at the same time. Calls during a run share the next run, which begins after these calls. */
export function sharedRuns<T>(work: () => Promise<T>): () => Promise<T> {
  const runs = new Batcher<undefined, T>(
    async (calls) => {
      const result = await work();
      return calls.map(() => result);
    },
    Infinity,
    1,
  );
  return () => runs.submit(undefined);
}
