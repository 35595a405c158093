import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QueryResultRow } from 'pg';
import type { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { startOnLoopback } from './embedded/on-loopback.js';
import { query } from './embedded/query.js';

/** PostgreSQL for one suite, which may stop it, hang it and kill its processes. */
export class PrivateServer {
  private constructor(
    private readonly dataDir: string,
    private readonly parameters: Readonly<Record<string, string>>,
    private running: EmbeddedPostgres,
  ) {}

  static async start(parameters: Readonly<Record<string, string>> = {}): Promise<PrivateServer> {
    const dataDir = mkdtempSync(join(tmpdir(), 'its-private-'));
    const all = { fsync: 'off', ...parameters };
    return new PrivateServer(dataDir, all, await startOnLoopback({ dataDir, parameters: all }));
  }

  get url(): string {
    return this.running.url;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get pid(): number {
    return this.running.pid;
  }

  stop(): Promise<void> {
    return this.running.stop();
  }

  /** Starts the server again, possibly on another port. */
  async startAgain(): Promise<void> {
    const { dataDir, parameters } = this;
    this.running = await startOnLoopback({ dataDir, parameters });
  }

  /** Stops every process of the server, like a hanging machine: connections stay open. */
  pause(): void {
    for (const pid of this.processes()) signal(pid, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of this.processes()) signal(pid, 'SIGCONT');
  }

  /** Kills the server process. Its supervisor starts a new one. */
  crash(): void {
    process.kill(this.running.pid, 'SIGKILL');
  }

  query<Row extends QueryResultRow>(text: string): Promise<Row[]> {
    return query<Row>(this.url, text);
  }

  /** Ends every session of the service. */
  async killSessions(condition = 'true'): Promise<void> {
    await this.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'incident-triage-service' and ${condition}`,
    );
  }

  async remove(): Promise<void> {
    await this.running.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  private processes(): number[] {
    const { pid } = this.running;
    const children = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((candidate) => parentOf(candidate) === pid);
    return [pid, ...children];
  }
}

/** Ignores a process that has already ended, such as a backend without a client. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function parentOf(pid: number): number | undefined {
  try {
    // The program name is in parentheses and may contain any character.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
