import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { eventually } from '../jobs/eventually.js';

interface AppEvent {
  readonly event: 'started' | 'failed' | 'interrupted' | 'log';
  readonly url: string;
  readonly pid: number;
  readonly line: string;
  readonly message: string;
}

export interface OsUser {
  readonly uid: number;
  readonly gid: number;
}

/** Runs app.cjs in a separate process and process group. */
export class AppProcess {
  private static readonly running = new Set<AppProcess>();
  private readonly events: AppEvent[] = [];
  private readonly child: ChildProcess;

  constructor(app: string, dataDir: string, user?: OsUser) {
    const args = [app, dataDir, String(user?.uid ?? ''), String(user?.gid ?? '')];
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

  get logged(): string[] {
    return this.events.filter(({ event }) => event === 'log').map(({ line }) => line);
  }

  async event(...names: AppEvent['event'][]): Promise<AppEvent> {
    return (await eventually(() => this.events.find(({ event }) => names.includes(event))))!;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal);
    await eventually(() => this.child.exitCode !== null || this.child.signalCode !== null);
  }

  async stop(): Promise<void> {
    await this.kill('SIGTERM');
  }
}
