import { UnavailableError } from '../../common/errors/app-error.js';

/** Lets so many pieces of work run at a time and so many wait; what comes beyond is told to come back. */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(
    atATime: number,
    private readonly mostWaiting: number,
  ) {
    this.free = atATime;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private enter(): Promise<void> {
    if (this.free > 0) {
      this.free -= 1;
      return Promise.resolve();
    }
    if (this.waiting.length >= this.mostWaiting) {
      return Promise.reject(new UnavailableError('Too many passwords are being checked.'));
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** The slot goes straight to the one that waited longest. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free += 1;
  }
}
