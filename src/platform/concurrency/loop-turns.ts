import { setImmediate } from 'node:timers/promises';
import { Semaphore } from './semaphore.js';

/** So long the event loop may be held before it is given back. */
const LONGEST_TURN_MS = 5;

/**
 * For work that keeps the processor busy and cannot be put into small pieces by itself: one piece after the other, in the order of
 * asking, and between them everybody else has a turn as soon as a few of them have taken long enough. However many ask at
 * once, a request beside them waits for no more than one piece.
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

  private async giveBack(): Promise<void> {
    await setImmediate();
    this.heldMs = 0;
  }
}
