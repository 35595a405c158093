// Runs the tests nearest to a change: changed specs, unit specs that import a changed file, and database and HTTP tests
// that are named after its module. `npm run test:changed -- REF` compares with REF instead of main.
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { relative } from 'node:path';

const UNIT_SPECS = 20;
const SERVICE_SPECS = 3;

const [ref = 'main', ...options] = process.argv.slice(2);
const lines = (...command) =>
  execFileSync(...command, { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
const JEST = [
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  'node_modules/jest/bin/jest.js',
];

const [base] = lines('git', ['merge-base', ref, 'HEAD']);
const changed = [
  ...lines('git', ['diff', '--name-only', '--diff-filter=d', base]),
  ...lines('git', ['ls-files', '--others', '--exclude-standard']),
].filter((file) => /^(src|test)\/.*\.ts$/.test(file));
const specs = changed.filter((file) => file.endsWith('.spec.ts'));
const sources = changed.filter((file) => file.startsWith('src/') && !specs.includes(file));

const words = (path) =>
  path
    .replace(/(\.spec)?\.ts$/, '')
    .split(/[/.-]/)
    .map((word) => word.replace(/s$/, ''));
const sharedWords = (spec) => {
  const named = words(spec);
  return Math.max(
    ...sources.map((file) => words(file).filter((word) => named.includes(word)).length),
  );
};
const nearest = (found, limit) => {
  const sorted = found
    .filter((spec) => !specs.includes(spec))
    .map((spec) => [sharedWords(spec), spec])
    .sort(([a, left], [b, right]) => b - a || left.length - right.length)
    .map(([, spec]) => spec);
  const rest = sorted.splice(limit);
  if (rest.length > 0) console.log(`Left out ${rest.length} less related tests: ${rest.join(' ')}`);
  return sorted;
};

const run = [...specs];
if (sources.length > 0) {
  const related = lines(process.execPath, [
    ...JEST,
    '--listTests',
    '--findRelatedTests',
    ...sources,
  ]);
  // Every HTTP test imports the whole service, so HTTP tests are chosen by name.
  const unit = related.map((file) => relative('.', file)).filter((file) => file.startsWith('src/'));
  const modules = sources.map((file) => words(file.replace('src/platform', 'src'))[1]);
  const named = globSync('test/{db,e2e}/*.spec.ts').filter((spec) =>
    modules.some((module) => spec.split('/')[2].startsWith(module)),
  );
  run.push(...nearest(unit, UNIT_SPECS), ...nearest(named, SERVICE_SPECS));
}
if (run.length === 0) {
  console.log(`No test is touched by the changes since ${ref}.`);
  process.exit();
}
const paths = ['--testPathIgnorePatterns', '/node_modules/', '--runTestsByPath', ...run];
process.exitCode = spawnSync(process.execPath, [...JEST, ...paths, ...options], {
  stdio: 'inherit',
}).status;
