import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosSite } from './chaos-site.js';

const LOOK_MS = 50;

/**
 * Measures for how long actions lie about whose lease has lapsed, while at least one replica is there to take them over:
 * from the end of the lease, or from when the first replica was back, to the next claim or the end.
 */
export class StuckWatch {
  private readonly longest = new Map<string, number>();
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

  /** In milliseconds, ascending: one for each claim that lapsed. */
  get waits(): readonly number[] {
    return [...this.longest.values()].sort((a, b) => a - b);
  }

  private async look(): Promise<void> {
    for (; !this.over; await sleep(LOOK_MS)) {
      const served = this.site.places.some((replica) => !replica.gone);
      if (!served) this.servedSince = undefined;
      else this.servedSince ??= performance.now();
      if (this.servedSince === undefined) continue;
      const { rows } = await this.site.db.query<{ id: string; fence: string; overdue: number }>(
        `select id, fence, (extract(epoch from clock_timestamp() - lease_until) * 1000)::float8 as overdue
           from actions where status = 'pending' and lease_until < clock_timestamp()`,
      );
      const servedFor = performance.now() - this.servedSince;
      for (const { id, fence, overdue } of rows) {
        const run = `${id}/${fence}`;
        const waited = Math.min(overdue, servedFor);
        this.longest.set(run, Math.max(waited, this.longest.get(run) ?? 0));
      }
    }
  }
}
