import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The notes service in a process of its own (notes-process.ts), to be killed. */
export class NotesReplica {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(databaseUrl: string): Promise<NotesReplica> {
    const child = spawn(
      process.execPath,
      [
        '--require',
        join(__dirname, 'jobs/run-typescript.cjs'),
        join(__dirname, 'notes-process.ts'),
        databaseUrl,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return new NotesReplica(url, child);
  }

  async kill(): Promise<void> {
    if (this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}

export function postNote(url: string, path: string, key: string, body: object): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-caller': 'ana', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
}
