import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosSite } from './chaos-site.js';

const LOOK_MS = 50;

interface Overdue {
  readonly id: string;
  readonly fence: string;
  readonly claimed: boolean;
  readonly overdue: number;
}

/**
 * Measures how long actions lie about that nobody looks after, while at least one replica is there to do it: from the end
 * of the lease, or from when the first replica was back. A claim is settled by whoever looks first; what has no claim waits
 * for its turn at its vendor.
 */
export class StuckWatch {
  private readonly lapsed = new Map<string, number>();
  private readonly waiting = new Map<string, number>();
  private over = false;
  private looking: Promise<void> | undefined;
  private servedSince: number | undefined;

  constructor(private readonly site: ChaosSite) {}

  start(): void {
    this.looking = this.look();
  }

  async stop(): Promise<void> {
    this.over = true;
    await this.looking;
  }

  /** In milliseconds: one for each claim that lapsed, until it was taken over, put back or ended. */
  get claims(): readonly number[] {
    return [...this.lapsed.values()];
  }

  /** In milliseconds: one for each turn of an action that nobody had claimed, until it was claimed or ended. */
  get turns(): readonly number[] {
    return [...this.waiting.values()];
  }

  private async look(): Promise<void> {
    for (; !this.over; await sleep(LOOK_MS)) {
      const served = this.site.places.some(({ gone, stopped }) => !gone && !stopped);
      if (!served) this.servedSince = undefined;
      else this.servedSince ??= performance.now();
      if (this.servedSince === undefined) continue;
      const { rows } = await this.site.db.query<Overdue>(
        `select id, fence, phase is not null as claimed,
                (extract(epoch from clock_timestamp() - lease_until) * 1000)::float8 as overdue
           from actions where status = 'pending' and lease_until < clock_timestamp()`,
      );
      const servedFor = performance.now() - this.servedSince;
      for (const { id, fence, claimed, overdue } of rows) {
        const longest = claimed ? this.lapsed : this.waiting;
        const run = `${id}/${fence}`;
        const waited = Math.min(overdue, servedFor);
        longest.set(run, Math.max(waited, longest.get(run) ?? 0));
      }
    }
  }
}
