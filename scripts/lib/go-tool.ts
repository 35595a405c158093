import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Go program that the project uses, in a fixed version. */
export interface GoTool {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** Path of the program in the module. */
  readonly folder: string;
  readonly tags?: string;
}

/**
 * Returns the path of the program, which the Go toolchain builds once per version. Throws an error with the reason if
 * it cannot be built.
 */
export function goTool({ name, module, version, folder, tags = '' }: GoTool): string {
  const place = resolve('node_modules/.cache', name, version);
  const program = join(place, process.platform === 'win32' ? `${name}.exe` : name);
  if (existsSync(program)) return program;
  // Builds the program in its own module folder, whose go.sum fixes all dependencies.
  const { Dir } = JSON.parse(go(['mod', 'download', '-json', `${module}@${version}`])) as {
    readonly Dir: string;
  };
  mkdirSync(place, { recursive: true });
  go(['install', '-tags', tags, folder], Dir, { GOBIN: place, GOWORK: 'off' });
  return program;
}

function go(args: readonly string[], cwd = process.cwd(), env: Record<string, string> = {}) {
  const { error, status, stdout, stderr } = spawnSync('go', args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, GOFLAGS: '-trimpath -buildvcs=false', ...env },
  });
  if (error) throw new Error('the toolchain of Go is not installed');
  if (status !== 0) throw new Error(`go ${args[0]} failed:\n${(stderr || stdout).trim()}`);
  return stdout;
}
