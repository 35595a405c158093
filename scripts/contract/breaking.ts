import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Accepted, type Change, problemsOf } from './judgement.ts';

/*
 * Fails when the contract breaks clients of the last released one, unless somebody accepted the change with a reason.
 * oasdiff compares; it is a program in Go, which the toolchain of Go builds once for each version. Without that toolchain
 * nothing is compared, and `--required` makes this a failure.
 */

const VERSION = 'v1.35.0';
const FOLDER = resolve('node_modules/.cache/oasdiff', VERSION);
const OASDIFF = join(FOLDER, process.platform === 'win32' ? 'oasdiff.exe' : 'oasdiff');

function run(command: string, args: readonly string[], env: Record<string, string> = {}) {
  return spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 256 * 1024 * 1024,
  });
}

/** Why there is no oasdiff; undefined when there is. */
function obstacle(): string | undefined {
  if (existsSync(OASDIFF)) return undefined;
  if (run('go', ['version']).status !== 0) return 'the toolchain of Go is not installed';
  mkdirSync(FOLDER, { recursive: true });
  const { status, stderr } = run('go', ['install', `github.com/oasdiff/oasdiff@${VERSION}`], {
    GOBIN: FOLDER,
    GOFLAGS: '-trimpath',
  });
  return status === 0 ? undefined : `go install failed:\n${stderr.trim()}`;
}

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

function compare(): string[] {
  const { status, stdout, stderr } = run(OASDIFF, [
    ...['breaking', 'openapi/baseline.json', 'openapi/openapi.json'],
    ...['--format', 'json', '--severity-levels', 'openapi/oasdiff-levels.txt'],
  ]);
  if (status !== 0) return [`oasdiff ended with ${status}: ${stderr.trim()}`];
  // Of two documents without a change it prints nothing, or null.
  const changes = (JSON.parse(stdout.trim() || 'null') ?? []) as Change[];
  return problemsOf(changes, read('openapi/breaking-accepted.json') as Accepted[]);
}

const missing = obstacle();
if (missing === undefined) {
  const problems = compare();
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) {
    process.stderr.write(
      'A change that has to be goes into openapi/breaking-accepted.json with its reason; a release makes the present contract the baseline: `npm run openapi:baseline`.\n',
    );
    process.exitCode = 1;
  }
} else {
  process.stderr.write(`The contract was not compared with the released one: ${missing}.\n`);
  if (process.argv.includes('--required')) process.exitCode = 1;
}
