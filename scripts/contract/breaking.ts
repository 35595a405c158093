import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { goTool, type GoTool } from '../lib/go-tool.ts';

/*
 * Fails if the contract breaks clients of the last release and no accepted exception covers the change. The comparison
 * needs oasdiff, which the Go toolchain builds once per version. Without Go, the check is skipped, or fails with
 * `--required`.
 */

const OASDIFF: GoTool = {
  name: 'oasdiff',
  module: 'github.com/oasdiff/oasdiff',
  version: 'v1.35.0',
  folder: '.',
};

/** Change that oasdiff reports. */
interface Change {
  readonly id: string;
  readonly text: string;
  /** Level of the change. Level 3 is an error: the change breaks clients. */
  readonly level: number;
  readonly operation?: string;
  readonly path?: string;
}

/** Accepted changes of one kind. */
interface Accepted {
  readonly change: string;
  /** Regular expression for `METHOD /path: text`. Without a pattern, all changes of this kind are accepted. */
  readonly where?: string;
  readonly reason: string;
}

const BREAKS = 3;

/** Returns the changes that are not accepted, and the acceptances that match no change. */
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
  // oasdiff prints nothing, or null, if the documents are equal.
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
