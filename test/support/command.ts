import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { compiledService } from './compiled-service.js';
import { TEST_SETTINGS } from './test-app.js';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly settings: Readonly<Record<string, string>>;
  /** Limit of the operating system, such as `ulimit -f 8`. */
  readonly limit?: string;
  /** Kills the process when its output matches. */
  readonly until?: RegExp;
}

/** Runs a command of an operator as a process. */
export async function runCommand(
  name: string,
  args: readonly string[],
  { settings, limit = 'true', until }: CommandOptions,
): Promise<Outcome> {
  const program = join(dirname(compiledService()), 'cli', `${name}.js`);
  const child = spawn(
    '/bin/sh',
    ['-c', `${limit}; exec "$@"`, 'sh', process.execPath, program, ...args],
    {
      env: { PATH: process.env['PATH'], ...TEST_SETTINGS, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  child.stdout.on('data', (said: Buffer) => {
    if (until?.test(said.toString())) child.kill('SIGKILL');
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}
