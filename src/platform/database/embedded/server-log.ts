import { close, copyFile, ftruncate, fstat, open } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const LONGEST = 1024 * 1024;
const CHECK_EVERY_MS = 60_000;

/** The file that postgres writes its messages to. A file, as a pipe would have to be drained for ever, also by a dying process. */
export class ServerLog {
  private readonly timer: NodeJS.Timeout;

  private constructor(
    readonly path: string,
    /** Opened for appending, so that postgres goes on at the start after the file was emptied. */
    readonly descriptor: number,
  ) {
    this.timer = setInterval(() => void this.shorten().catch(() => undefined), CHECK_EVERY_MS);
    this.timer.unref();
  }

  static async open(path: string): Promise<ServerLog> {
    const descriptor = await promisify(open)(path, 'a', 0o600);
    await chmod(path, 0o600);
    const log = new ServerLog(path, descriptor);
    await log.shorten();
    return log;
  }

  /** Keeps one former file, so the two together stay near twice the bound. */
  async shorten(longest = LONGEST): Promise<void> {
    if ((await this.size()) <= longest) return;
    await promisify(copyFile)(this.path, `${this.path}.1`);
    await promisify(ftruncate)(this.descriptor, 0);
  }

  async size(): Promise<number> {
    return (await promisify(fstat)(this.descriptor)).size;
  }

  /** Why the server that began to write at this position ended. */
  async complaintSince(position: number): Promise<string> {
    const content = await readFile(this.path);
    return lastComplaint(content.subarray(Math.min(position, content.length)).toString());
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await promisify(close)(this.descriptor);
  }
}

const SEVERITY = /^.*?(?:FATAL|PANIC|ERROR|fatal|error): +/;

/** The cause, without the advice that follows it; of a message without severity, its last line. */
export function lastComplaint(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const grave = lines.filter((line) => SEVERITY.test(line)).at(-1);
  return (grave ?? lines.at(-1) ?? 'it gave no reason').replace(SEVERITY, '').trim();
}
