/** A caller whose work may have to wait. */
export interface Waiter {
  /**
   * Groups of the caller, such as its network or the requested account. All callers of a group share one turn per
   * round.
   */
  readonly groups: readonly string[];
  /** Whether the caller goes first within its round. */
  readonly preferred: boolean;
}

interface QueuedWaiter extends Waiter {
  readonly round: number;
  readonly start: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Runs a limited number of tasks at a time. The other tasks wait in rounds. Each group has one turn per round, so a
 * sender of a hundred requests waits behind the others and does not delay them. If too many tasks wait, the last one in
 * this order is rejected, not the newest one.
 */
export class FairQueue {
  private free: number;
  /** In the order of execution. */
  private readonly waiting: QueuedWaiter[] = [];
  private round = 0;

  constructor(
    atATime: number,
    private readonly mostWaiting: number,
    private readonly refusal: () => Error,
  ) {
    this.free = atATime;
  }

  async run<T>(waiter: Waiter, work: () => Promise<T>): Promise<T> {
    await this.enter(waiter);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private enter(waiter: Waiter): Promise<void> {
    if (this.free > 0) {
      this.free -= 1;
      return Promise.resolve();
    }
    return new Promise((start, refuse) => {
      this.insert({ ...waiter, round: this.roundOf(waiter), start, refuse });
      if (this.waiting.length <= this.mostWaiting) return;
      this.waiting.pop()!.refuse(this.refusal());
    });
  }

  /** The round after the latest round in which a task of the same group waits. */
  private roundOf({ groups }: Waiter): number {
    const last = this.waiting.findLast((other) =>
      other.groups.some((group) => groups.includes(group)),
    );
    return 1 + (last?.round ?? this.round);
  }

  private insert(waiter: QueuedWaiter): void {
    const before = this.waiting.findIndex((other) => goesBefore(waiter, other));
    this.waiting.splice(before < 0 ? this.waiting.length : before, 0, waiter);
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next) {
      this.round = next.round;
      next.start();
    } else {
      this.free += 1;
    }
  }
}

/** Tasks of equal rank keep the order of their arrival. */
function goesBefore(one: QueuedWaiter, other: QueuedWaiter): boolean {
  if (one.round !== other.round) return one.round < other.round;
  return one.preferred && !other.preferred;
}
