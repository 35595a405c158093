import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { ServerProcess } from './server-process.js';

const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
/** A server that lived this long was well: its end is a new trouble, not more of the former one. */
const HEALTHY_AFTER_MS = 10_000;

/**
 * Keeps a server running on its port until it is told to stop. When the server ends by itself, the next one takes its
 * place and the reconnects of the application's pools find it; the application is never ended for it.
 */
export class Supervisor {
  private readonly stopping = new AbortController();
  private readonly watching: Promise<void>;

  constructor(
    private server: ServerProcess,
    private readonly spawn: () => Promise<ServerProcess>,
    private readonly log: (line: string) => void,
  ) {
    this.watching = this.watch();
  }

  get pid(): number {
    return this.server.pid;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.server.stop();
    await this.watching;
  }

  private async watch(): Promise<void> {
    const { signal } = this.stopping;
    let pause = SHORTEST_PAUSE_MS;
    for (;;) {
      const begin = Date.now();
      await this.server.exited;
      if (signal.aborted) return;

      if (Date.now() - begin >= HEALTHY_AFTER_MS) pause = SHORTEST_PAUSE_MS;
      this.log(`the PostgreSQL server (pid ${this.pid}) ended; starting it again in ${pause} ms`);
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      if (signal.aborted) return;

      await this.restart();
    }
  }

  private async restart(): Promise<void> {
    try {
      this.server = await this.spawn();
      if (this.stopping.signal.aborted) return await this.server.stop();
      await this.server.ready();
      this.log(`the PostgreSQL server is running again (pid ${this.pid})`);
    } catch (error) {
      if (!this.stopping.signal.aborted) {
        this.log(EmbeddedPostgresError.from(error).message);
      }
    }
  }
}
