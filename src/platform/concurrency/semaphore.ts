import { setImmediate } from 'node:timers/promises';

/** Releases a place. A second call has no effect. */
export type Release = () => void;

/** Limits the number of tasks that run at a time. Waiting tasks start in the order of their requests. */
export class Semaphore {
  private taken = 0;
  private readonly waiting: ((release: Release) => void)[] = [];

  constructor(private readonly places: number) {}

  /**
   * Whether no task holds a place. Then no task waits either, because a released place goes to the next waiting task.
   */
  get isIdle(): boolean {
    return this.taken === 0;
  }

  get isFull(): boolean {
    return this.taken === this.places;
  }

  /** Returns `undefined` if no place is free. */
  tryAcquire(): Release | undefined {
    if (this.isFull) return undefined;
    this.taken += 1;
    return this.releaseOnce();
  }

  acquire(): Promise<Release> {
    const release = this.tryAcquire();
    if (release) return Promise.resolve(release);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Runs `work` while holding a place, and releases the place even if `work` fails. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }

  private releaseOnce(): Release {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const next = this.waiting.shift();
      if (next) next(this.releaseOnce());
      else this.taken -= 1;
    };
  }
}

/** Maximum time that the event loop is blocked. */
const LONGEST_TURN_MS = 5;

/**
 * For CPU-bound work that cannot be split: tasks run one after another in the order of their requests, and the event
 * loop gets a turn after every few milliseconds of work. So a request waits for at most one task.
 */
export class LoopTurns {
  private readonly place = new Semaphore(1);
  private heldMs = 0;

  async run<T>(work: () => T): Promise<T> {
    return await this.place.run(async () => {
      if (this.heldMs >= LONGEST_TURN_MS) await this.giveBack();
      const began = performance.now();
      try {
        return work();
      } finally {
        this.heldMs += performance.now() - began;
      }
    });
  }

  /** Work that says where it may be interrupted. */
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
  }
}

/** The same work at once. */
export function atOnce<T>(pieces: Generator<void, T>): T {
  let step = pieces.next();
  while (!step.done) step = pieces.next();
  return step.value;
}
