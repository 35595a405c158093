import { UnavailableError } from '../errors/app-error.js';

/** Who waits. */
export interface Waiter {
  /** What it has in common with other senders, such as its network: all that share one of these share one turn. */
  readonly groups: readonly string[];
  /** Goes before strangers of the same round. */
  readonly preferred: boolean;
}

interface QueuedWaiter extends Waiter {
  readonly round: number;
  readonly start: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Lets so many pieces of work run at a time. The others wait in rounds: in each round everybody has one turn, and those
 * who share a network or an account have it together, so that whoever sends a hundred waits behind the others and not
 * the others behind him. When too many wait, the last in this order is told to come back.
 */
export class FairQueue {
  private free: number;
  /** In the order in which they will run. */
  private readonly waiting: QueuedWaiter[] = [];
  private round = 0;

  constructor(
    atATime: number,
    private readonly mostWaiting: number,
  ) {
    this.free = atATime;
  }

  async run<T>(sender: Waiter, work: () => Promise<T>): Promise<T> {
    await this.enter(sender);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private enter(sender: Waiter): Promise<void> {
    if (this.free > 0) {
      this.free -= 1;
      return Promise.resolve();
    }
    return new Promise((start, refuse) => {
      this.insert({ ...sender, round: this.roundOf(sender), start, refuse });
      if (this.waiting.length <= this.mostWaiting) return;
      this.waiting.pop()!.refuse(new UnavailableError('Too many passwords are being checked.'));
    });
  }

  /** The one after the last in which somebody waits who has something in common with the sender. */
  private roundOf({ groups }: Waiter): number {
    const last = this.waiting.findLast((other) => other.groups.some((one) => groups.includes(one)));
    return 1 + (last?.round ?? this.round);
  }

  private insert(sender: QueuedWaiter): void {
    const before = this.waiting.findIndex((other) => goesBefore(sender, other));
    this.waiting.splice(before < 0 ? this.waiting.length : before, 0, sender);
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
