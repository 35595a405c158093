import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Block } from './blocks.ts';

/** Port that the documents use. */
export const USUAL_PORT = '3000';

export interface Place {
  readonly cwd: string;
  /** Port of the tested service. */
  readonly port: string;
  /** Variables that the document assumes, such as `KEY='...'`. */
  readonly before?: string;
}

const marker = (index: number): string => `=== block ${index} ===`;

/** Runs the blocks in sequence in one shell. Returns the output of each block. */
export async function answersOf(blocks: readonly Block[], place: Place): Promise<string[]> {
  const marked = blocks.map(
    ({ commands }, index) => `printf '\\n%s\\n' '${marker(index)}'\n${commands}`,
  );
  const script = [place.before ?? '', ...marked]
    .join('\n')
    .replaceAll(`127.0.0.1:${USUAL_PORT}`, `127.0.0.1:${place.port}`);
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: place.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    once(shell, 'exit') as Promise<[number | null]>,
  ]);
  if (status !== 0) throw new Error(`The blocks ended with ${status}.\n${stdout}\n${stderr}`);
  return blocks.map((_block, index) => {
    const from = stdout.indexOf(marker(index)) + marker(index).length;
    const to = stdout.indexOf(marker(index + 1));
    return stdout.slice(from, to < 0 ? undefined : to).trim();
  });
}
