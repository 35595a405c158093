/** Somebody whose work has to wait. */
export interface Waiter {
  /** Such as its network, or the account that it wants: all waiters of one group share a turn. */
  readonly groups: readonly string[];
  /** Goes first among those who have their turn in the same round. */
  readonly preferred: boolean;
}

interface QueuedWaiter extends Waiter {
  readonly round: number;
  readonly start: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Runs a limited number of pieces of work at a time. The others wait in rounds. In each round everybody has one turn, and
 * a group has it together: who sends a hundred requests waits behind the others, and they do not wait behind that one.
 * When too many wait, the last in this order is refused, and not the one who came last.
 */
export class FairQueue {
  private free: number;
  /** In the order in which they will run. */
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

  /** The round after the last one in which somebody of the same group waits. */
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

/** Equals stay in the order of their arrival. */
function goesBefore(one: QueuedWaiter, other: QueuedWaiter): boolean {
  if (one.round !== other.round) return one.round < other.round;
  return one.preferred && !other.preferred;
}
