import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ApiClient } from './api-client.js';
import { compiledService } from './compiled-service.js';
import { TEST_SETTINGS } from './test-app.js';

export interface ServiceProcessOptions {
  /** Environment variables in addition to TEST_SETTINGS. Without DATABASE_URL, the service starts an embedded PostgreSQL. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Data directory. It is not removed at the end, so that another process can use it. */
  readonly dataDir?: string;
  /** Script that prepares the process, receives messages of the test, and then loads the service. */
  readonly entry?: string;
}

export interface ExitOf {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const PATIENCE_MS = 60_000;

/** The compiled service in its own process. Each response is compared with the contract. */
export class ServiceProcess {
  private static readonly running = new Set<ServiceProcess>();
  private static readonly ownDataDirs = new Set<string>();
  readonly lines: string[] = [];
  readonly dataDir: string;
  protected readonly child: ChildProcess;
  private watched: ApiClient | undefined;
  readonly exited: Promise<ExitOf>;

  /** Starts the process. `listening` waits until the service responds. */
  constructor(options: ServiceProcessOptions = {}) {
    this.dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'its-service-'));
    if (options.dataDir === undefined) ServiceProcess.ownDataDirs.add(this.dataDir);
    const entry = options.entry === undefined ? [] : [options.entry];
    this.child = spawn(process.execPath, [...entry, compiledService()], {
      cwd: this.dataDir,
      env: {
        PATH: process.env['PATH'],
        ...TEST_SETTINGS,
        LOG_LEVEL: 'info',
        PORT: '0',
        DATA_DIR: this.dataDir,
        ...options.settings,
      },
      stdio: ['ignore', 'pipe', 'pipe', ...entry.map(() => 'ipc' as const)],
    });
    for (const output of [this.child.stdout!, this.child.stderr!]) {
      createInterface({ input: output }).on('line', (line) => this.lines.push(line));
    }
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        ServiceProcess.running.delete(this);
        this.watched?.close();
        resolve({ code, signal });
      });
    });
    ServiceProcess.running.add(this);
  }

  static async start(options: ServiceProcessOptions = {}): Promise<ServiceProcess> {
    const service = new ServiceProcess(options);
    await service.listening();
    return service;
  }

  /** Ends all processes and removes their folders, for `afterEach`. */
  static async endAll(): Promise<void> {
    await Promise.all([...ServiceProcess.running].map((service) => service.kill()));
    for (const dataDir of ServiceProcess.ownDataDirs) {
      // Retries, because the database of a killed service may still delete its files.
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
    ServiceProcess.ownDataDirs.clear();
  }

  get pid(): number {
    return this.child.pid!;
  }

  get client(): ApiClient {
    if (!this.watched) throw new Error('The service does not listen yet.');
    return this.watched;
  }

  get url(): string {
    return this.client.url;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async listening(): Promise<void> {
    const line = await this.logged(/Listening on (http:\/\/[^"\s]+)/);
    this.watched = ApiClient.for(/Listening on (http:\/\/[^"\s]+)/.exec(line)![1]!);
  }

  /** Waits for the first line of the output that matches. */
  async logged(pattern: RegExp): Promise<string> {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
      const line = this.lines.find((one) => pattern.test(one));
      if (line !== undefined) return line;
      if (this.child.exitCode !== null || this.child.signalCode !== null) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`The service never logged ${String(pattern)}:\n${this.lines.join('\n')}`);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Stops the process like an orchestrator. */
  async stop(): Promise<ExitOf> {
    this.signal('SIGTERM');
    return this.exited;
  }

  /** Kills the process like a crash. The embedded database then ends itself. */
  async kill(): Promise<ExitOf> {
    this.signal('SIGKILL');
    return this.exited;
  }
}
