import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { goTool, type GoTool } from '../lib/go-tool.ts';
import { type Accepted, type Change, problemsOf } from './judgement.ts';

/*
 * Fails when the contract breaks clients of the last released one, unless somebody accepted the change with a reason.
 * oasdiff compares; it is a program in Go, which the toolchain of Go builds once for each version. Without that toolchain
 * nothing is compared, and `--required` makes this a failure.
 */

const OASDIFF: GoTool = {
  name: 'oasdiff',
  module: 'github.com/oasdiff/oasdiff',
  version: 'v1.35.0',
  folder: '.',
};

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

function compare(oasdiff: string): string[] {
  const files = ['openapi/baseline.json', 'openapi/openapi.json'];
  const options = ['--format', 'json', '--severity-levels', 'openapi/oasdiff-levels.txt'];
  const { status, stdout, stderr } = spawnSync(oasdiff, ['breaking', ...files, ...options], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status !== 0) return [`oasdiff ended with ${status}: ${stderr.trim()}`];
  // Of two documents without a change it prints nothing, or null.
  const changes = (JSON.parse(stdout.trim() || 'null') ?? []) as Change[];
  return problemsOf(changes, read('openapi/breaking-accepted.json') as Accepted[]);
}

function tell(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length === 0) return;
  process.stderr.write(
    'A change that has to be goes into openapi/breaking-accepted.json with its reason; a release makes the present contract the baseline: `npm run openapi:baseline`.\n',
  );
  process.exitCode = 1;
}

let oasdiff: string | undefined;
try {
  oasdiff = goTool(OASDIFF);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`The contract was not compared with the released one: ${reason}.\n`);
  if (process.argv.includes('--required')) process.exitCode = 1;
}
if (oasdiff !== undefined) tell(compare(oasdiff));
