import type { PgBoss } from 'pg-boss';
import { periodicQueueName } from './boss-options.js';
import { BackgroundLoop } from '../../concurrency/background-loop.js';

const LONGEST_PAUSE_MS = 60_000;

export interface Period {
  readonly name: string;
  readonly seconds: number;
}

/**
 * Enqueues what recurs. Every replica tries twice in each period, and the database takes one job per period: so it
 * does not matter which replicas there are, nor whether their clocks agree.
 */
export class PeriodicJobs {
  private readonly loops: BackgroundLoop[];

  constructor(
    boss: PgBoss,
    periods: readonly Period[],
    onEnqueued: (queue: string) => void,
    onError: (error: unknown) => void,
  ) {
    this.loops = periods.map(({ name, seconds }) => {
      const queue = periodicQueueName(name);
      const enqueue = async (): Promise<void> => {
        const id = await boss.send(queue, {}, { singletonSeconds: seconds });
        if (id !== null) onEnqueued(queue);
      };
      return new BackgroundLoop(Math.min(seconds * 500, LONGEST_PAUSE_MS), enqueue, onError);
    });
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }
}
