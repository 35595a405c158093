import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from './eventually.js';

/** Replica in its own process, which the test can kill. replica-app.ts lists its commands. */
export class ReplicaProcess {
  private static readonly running = new Set<ReplicaProcess>();
  readonly lines: string[] = [];
  private readonly child: ChildProcess;

  /** @param part what the process does: see replica-app.ts */
  constructor(url: string, part: string) {
    this.child = spawn(
      process.execPath,
      [
        '--require',
        join(__dirname, 'run-typescript.cjs'),
        join(__dirname, 'replica-app.ts'),
        url,
        part,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    createInterface({ input: this.child.stdout! }).on('line', (line) => this.lines.push(line));
    ReplicaProcess.running.add(this);
  }

  static async killAll(): Promise<void> {
    await Promise.all([...this.running].map((one) => one.kill()));
    this.running.clear();
  }

  /** Waits for the first line with this beginning, and returns the line. */
  async said(word: string): Promise<string> {
    const lines = await eventually(
      () => this.lines.filter((line) => line.startsWith(word)),
      (found) => found.length > 0,
    );
    return lines[0]!;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await eventually(() => (this.child.signalCode ?? this.child.exitCode) !== null);
  }
}
