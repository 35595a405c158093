/** Gives a place back. A second call does nothing. */
export type Release = () => void;

/** Lets so many pieces of work run at a time. The others wait, and get their places in the order of asking. */
export class Semaphore {
  private taken = 0;
  private readonly waiting: ((release: Release) => void)[] = [];

  constructor(private readonly places: number) {}

  /** Whether nobody has a place. Nobody waits either, since a place that is given back goes to who waits. */
  get isIdle(): boolean {
    return this.taken === 0;
  }

  /** Whether no place is free. */
  get isFull(): boolean {
    return this.taken === this.places;
  }

  /** A place, or undefined when none is free. */
  tryAcquire(): Release | undefined {
    if (this.isFull) return undefined;
    this.taken += 1;
    return this.releaseOnce();
  }

  /** A place, as soon as one is free. */
  acquire(): Promise<Release> {
    const release = this.tryAcquire();
    if (release) return Promise.resolve(release);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Works in a place of its own, which it gives back when it ends, also with an error. */
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
