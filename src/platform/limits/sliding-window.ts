/** How finely hits are remembered: a window of a minute forgets by the second. */
const STEPS = 60;

/**
 * The hits of one key within the last `length` milliseconds, gathered in at most 61 steps: constant in time and memory
 * however high the limit is. A step begins with its first hit and is forgotten as a whole `length` later, so a burst at
 * the edge of a window cannot have twice the limit: no more than the limit fits into any 59 seconds of a minute window.
 */
export class SlidingWindow {
  private readonly starts: number[] = [];
  private readonly counts: number[] = [];
  private total = 0;

  constructor(private readonly length: number) {}

  hitsAt(now: number): number {
    while (this.starts.length > 0 && this.starts[0]! + this.length <= now) {
      this.starts.shift();
      this.total -= this.counts.shift()!;
    }
    return this.total;
  }

  hit(now: number, hits = 1): void {
    const last = this.starts.length - 1;
    if (last >= 0 && now - this.starts[last]! < this.length / STEPS) {
      this.counts[last]! += hits;
    } else {
      this.starts.push(now);
      this.counts.push(hits);
    }
    this.total += hits;
  }

  /** When fewer than `limit` hits are left; the past when that is so already. */
  freeAt(limit: number): number {
    let left = this.total;
    let at = -Infinity;
    for (let step = 0; left >= limit && step < this.starts.length; step += 1) {
      at = this.starts[step]! + this.length;
      left -= this.counts[step]!;
    }
    return at;
  }

  /** When none is left. */
  emptyAt(): number {
    return (this.starts.at(-1) ?? -Infinity) + this.length;
  }
}
