import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { goTool, type GoTool } from '../lib/go-tool.ts';

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

/** A change as oasdiff tells it. */
interface Change {
  readonly id: string;
  readonly text: string;
  /** 3 is an error: it breaks clients. What is less is for people who read. */
  readonly level: number;
  readonly operation?: string;
  readonly path?: string;
}

/** Changes that somebody has judged, of one kind. */
interface Accepted {
  readonly change: string;
  /** A regular expression on `METHOD /path: text`; without it all changes of this kind are meant. */
  readonly where?: string;
  readonly reason: string;
}

const BREAKS = 3;

/** What is to be told: changes that nobody accepted with a reason, and what was accepted and is not there. */
function problemsOf(changes: readonly Change[], accepted: readonly Accepted[]): string[] {
  const breaking = changes.filter(({ level }) => level >= BREAKS);
  const means = ({ change, where = '', reason }: Accepted, { id, ...rest }: Change): boolean =>
    reason.trim() !== '' && change === id && new RegExp(where).test(placeOf(rest));
  const open = breaking.filter((change) => !accepted.some((entry) => means(entry, change)));
  const idle = accepted.filter((entry) => !breaking.some((change) => means(entry, change)));
  return [
    ...new Set(open.map(({ id, ...rest }) => `breaks clients: [${id}] ${placeOf(rest)}`)),
    ...idle.map(({ change, where = '' }) => `accepted but not there: [${change}] ${where}`.trim()),
  ];
}

function placeOf({ operation, path, text }: Omit<Change, 'id'>): string {
  return operation ? `${operation} ${path}: ${text}` : text;
}

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
