import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls `work` again and again with a pause after each call, and at once when woken. It never runs twice at a time, and
 * an error only ends the one call: `onError` hears of the first one of a series. With `restMs` it rests that long after
 * each call, however often it is woken, so that what comes meanwhile is worked off together.
 */
export class BackgroundLoop {
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;
  private again = false;
  private failing = false;
  private stopped = true;
  private halt = new AbortController();

  constructor(
    private readonly pauseMs: number,
    private readonly work: () => Promise<void>,
    private readonly onError: (error: unknown) => void,
    private readonly restMs = 0,
  ) {}

  start(): void {
    this.stopped = false;
    this.halt = new AbortController();
    this.wake();
  }

  wake(): void {
    if (this.stopped) return;
    this.again = true;
    this.underWay ??= this.run();
  }

  /** Ends when the call under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.halt.abort();
    clearTimeout(this.timer);
    await this.underWay;
  }

  private async run(): Promise<void> {
    clearTimeout(this.timer);
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        await this.work();
        this.failing = false;
      } catch (error) {
        if (!this.failing) this.onError(error);
        this.failing = true;
        break;
      }
      if (this.restMs > 0) await this.rest();
    }
    this.underWay = undefined;
    if (this.stopped) return;
    this.timer = setTimeout(() => this.wake(), this.pauseMs);
    this.timer.unref();
  }

  private async rest(): Promise<void> {
    await sleep(this.restMs, undefined, { signal: this.halt.signal, ref: false }).catch(
      () => undefined,
    );
  }
}
