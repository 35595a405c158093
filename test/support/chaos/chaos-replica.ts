import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compiledService } from '../compiled-service.js';
import { TEST_SETTINGS } from '../test-app.js';

/** What a replica says about itself, in milliseconds of the clock that all processes of the machine share. */
export type Report =
  | { readonly kind: 'claim'; readonly at: number }
  | { readonly kind: 'stopping'; readonly at: number }
  | { readonly kind: 'activated'; readonly at: number; readonly locked: boolean };

/** Up to how long a replica dawdles at a failpoint, and with a claim made and not committed. */
export type Delays = Readonly<Partial<Record<number | 'claim', number>>>;

export interface ChaosOptions {
  readonly databaseUrl: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly delays?: Delays;
  readonly heard?: (report: Report) => void;
}

const PATIENCE_MS = 60_000;

/** CLOCK_MONOTONIC in milliseconds. */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

/** One replica of the service as a process, to be killed at a place of its work, or stopped and continued. */
export class ChaosReplica {
  private static readonly running = new Set<ChaosReplica>();
  /** One version for the whole run, whatever happens to the sources meanwhile. */
  private static main: string | undefined;
  readonly lines: string[] = [];
  readonly exited: Promise<void>;
  url = '';
  /** It was stopped, and nobody has woken it. */
  stopped = false;

  private constructor(
    private readonly child: ChildProcess,
    dataDir: string,
  ) {
    ChaosReplica.running.add(this);
    for (const output of [child.stdout!, child.stderr!]) {
      createInterface({ input: output }).on('line', (line) => this.lines.push(line));
    }
    this.exited = once(child, 'exit').then(() => {
      ChaosReplica.running.delete(this);
      rmSync(dataDir, { recursive: true, force: true });
    });
  }

  static async start(options: ChaosOptions): Promise<ChaosReplica> {
    const { databaseUrl, settings = {}, delays, heard } = options;
    const dataDir = mkdtempSync(join(tmpdir(), 'its-chaos-'));
    ChaosReplica.main ??= compiledService();
    const entry = join(__dirname, 'chaos-service.cjs');
    const child = spawn(process.execPath, [entry, ChaosReplica.main], {
      cwd: dataDir,
      env: {
        PATH: process.env['PATH'],
        ...TEST_SETTINGS,
        LOG_LEVEL: 'info',
        PORT: '0',
        DATABASE_URL: databaseUrl,
        DATA_DIR: dataDir,
        ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const replica = new ChaosReplica(child, dataDir);
    if (heard) child.on('message', (report: Report) => heard(report));
    if (delays) replica.tell({ delays });
    await replica.listening();
    return replica;
  }

  static async killAll(): Promise<void> {
    await Promise.all([...ChaosReplica.running].map((replica) => replica.kill()));
  }

  get gone(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Makes it die with SIGKILL as soon as it comes to the failpoint; settles when it has. */
  async dieAt(point: number): Promise<void> {
    this.tell({ dieAt: point });
    await this.exited;
  }

  /** Makes it stop itself with SIGSTOP the next time that it comes to the failpoint; settles when it does. */
  stopAt(point: number): Promise<void> {
    return new Promise((resolve) => {
      const hear = ({ kind }: Report): void => {
        if (kind !== 'stopping') return;
        this.child.off('message', hear);
        this.stopped = true;
        resolve();
      };
      this.child.on('message', hear);
      this.tell({ stopAt: point });
    });
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.stopped = signal === 'SIGSTOP';
    this.child.kill(signal);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  private tell(order: object): void {
    if (this.child.connected) this.child.send(order, () => undefined);
  }

  private async listening(): Promise<void> {
    const pattern = /Listening on (http:\/\/[^"\s]+)/;
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end && !this.gone;) {
      const line = this.lines.find((one) => pattern.test(one));
      if (line) {
        this.url = pattern.exec(line)![1]!;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`The replica does not listen:\n${this.lines.join('\n')}`);
  }
}
