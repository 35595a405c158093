import { setImmediate } from 'node:timers/promises';

interface Waiter {
  readonly isPreferred: boolean;
  readonly start: () => void;
  readonly reject: (error: Error) => void;
}

interface WaitingLimit {
  readonly most: number;
  readonly error: () => Error;
}

/** Limits concurrent tasks. Preferred tasks start first. If too many tasks wait, the last task is rejected. */
export class Semaphore {
  private taken = 0;
  private readonly waiting: Waiter[] = [];

  constructor(
    private readonly places: number,
    private readonly limit?: WaitingLimit,
  ) {}

  async run<T>(work: () => Promise<T>, { isPreferred = false } = {}): Promise<T> {
    if (this.taken < this.places) this.taken += 1;
    else await new Promise<void>((start, reject) => this.wait({ isPreferred, start, reject }));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next.start();
      else this.taken -= 1;
    }
  }

  private wait(waiter: Waiter): void {
    const behind = waiter.isPreferred ? this.waiting.findIndex((one) => !one.isPreferred) : -1;
    this.waiting.splice(behind < 0 ? this.waiting.length : behind, 0, waiter);
    if (this.limit && this.waiting.length > this.limit.most) {
      this.waiting.pop()!.reject(this.limit.error());
    }
  }
}

const LONGEST_TURN_MS = 5;

/** Runs CPU-bound tasks one after another. The event loop gets a turn after every few milliseconds of work. */
export class LoopTurns {
  private pause: Promise<void> | undefined;
  private heldMs = 0;

  async run<T>(work: () => T): Promise<T> {
    while (this.heldMs >= LONGEST_TURN_MS) await (this.pause ??= this.giveBack());
    const began = performance.now();
    try {
      return work();
    } finally {
      this.heldMs += performance.now() - began;
    }
  }

  async runInPieces<T>(pieces: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = await this.run(() => {
        const began = performance.now();
        let one = pieces.next();
        while (!one.done && performance.now() - began < LONGEST_TURN_MS) one = pieces.next();
        return one;
      });
      if (step.done) return step.value;
    }
  }

  private async giveBack(): Promise<void> {
    await setImmediate();
    this.heldMs = 0;
    this.pause = undefined;
  }
}

export function atOnce<T>(pieces: Generator<void, T>): T {
  let step = pieces.next();
  while (!step.done) step = pieces.next();
  return step.value;
}
