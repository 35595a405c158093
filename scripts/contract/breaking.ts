import { readFileSync } from 'node:fs';
import { breakingChanges } from './compare.ts';
import type { OpenApiDocument } from './document.ts';

/** Fails when the contract breaks clients of the last released one, unless someone accepted the change with a reason. */
interface Accepted {
  readonly change: string;
  readonly reason: string;
}

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

const changes = breakingChanges(
  read('openapi/baseline.json') as OpenApiDocument,
  read('openapi/openapi.json') as OpenApiDocument,
);
const accepted = read('openapi/breaking-accepted.json') as Accepted[];
const problems = [
  ...changes
    .filter((change) => !accepted.some((entry) => entry.change === change && entry.reason))
    .map((change) => `breaks clients: ${change}`),
  ...accepted
    .filter(({ change }) => !changes.includes(change))
    .map(({ change }) => `accepted but not there: ${change}`),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) {
  process.stderr.write(
    'A change that has to be goes into openapi/breaking-accepted.json with its reason; a release makes the present contract the baseline: `npm run openapi:baseline`.\n',
  );
  process.exitCode = 1;
}
