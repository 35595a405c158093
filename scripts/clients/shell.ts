import { type ChildProcess, spawn } from 'node:child_process';

const PATIENCE_MS = 480_000;
const underWay = new Set<ChildProcess>();

export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What a command has printed; one that fails throws it. */
export async function shell(command: string, { cwd, env }: Place): Promise<string> {
  // A process group of its own, so that what the command starts ends with it.
  const child = spawn('sh', ['-c', command], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  underWay.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const timer = setTimeout(() => end(child), PATIENCE_MS);
  const status = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal));
  }).finally(() => {
    clearTimeout(timer);
    underWay.delete(child);
  });
  if (status !== 0) throw new Error(`${command}\nended with ${status}.\n${output.trim()}`);
  return output;
}

function end({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}

/** What is still under way ends with this process, too. */
export function endAll(): void {
  for (const child of underWay) end(child);
}
