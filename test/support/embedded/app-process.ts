import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

interface AppEvent {
  readonly event: 'started' | 'failed' | 'interrupted' | 'stopped' | 'log';
  readonly url: string;
  readonly pid: number;
  readonly ms: number;
  readonly line: string;
  readonly name: string;
  readonly message: string;
}

export interface OsUser {
  readonly uid: number;
  readonly gid: number;
}

/** The application of app.ts in a process, and a process group, of its own. */
export class AppProcess {
  private static readonly running = new Set<AppProcess>();
  private readonly events: AppEvent[] = [];
  private readonly child: ChildProcess;

  constructor(app: string, dataDir: string, user?: OsUser) {
    const args = [
      app,
      dataDir,
      String(user?.uid ?? ''),
      String(user?.gid ?? ''),
      '{"fsync":"off"}',
    ];
    this.child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
      cwd: '/',
    });
    createInterface({ input: this.child.stdout! }).on('line', (line) =>
      this.events.push(JSON.parse(line) as AppEvent),
    );
    AppProcess.running.add(this);
  }

  static async endAll(): Promise<void> {
    await Promise.all([...AppProcess.running].map((app) => app.stop()));
    AppProcess.running.clear();
  }

  get pid(): number {
    return this.child.pid!;
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  get logged(): string[] {
    return this.events.filter(({ event }) => event === 'log').map(({ line }) => line);
  }

  async event(...names: AppEvent['event'][]): Promise<AppEvent> {
    return eventually(() => this.events.find(({ event }) => names.includes(event)));
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.alive) this.child.kill(signal);
    await eventually(() => !this.alive);
  }

  async stop(): Promise<void> {
    await this.kill('SIGTERM');
  }
}

/** What the probe returns once that is neither undefined nor false. */
export async function eventually<T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  patienceMs = 60_000,
): Promise<T> {
  for (const begin = Date.now(); Date.now() - begin < patienceMs; await sleep(10)) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`It did not happen within ${patienceMs} ms: ${probe.toString()}`);
}
