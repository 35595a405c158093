// Runs the tests that a change touches: changed specs, unit specs that import a changed file, and the HTTP test named
// after the module of a changed file. `npm run test:changed -- REF` compares with REF instead of main.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const [ref = 'main', ...options] = process.argv.slice(2);
const git = (...args) =>
  execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
const JEST = [
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  'node_modules/jest/bin/jest.js',
];

const base = git('merge-base', ref, 'HEAD')[0];
const changed = [
  ...git('diff', '--name-only', '--diff-filter=d', base),
  ...git('ls-files', '--others', '--exclude-standard'),
].filter((file) => /^(src|test)\/.*\.ts$/.test(file));

const specs = new Set(changed.filter((file) => file.endsWith('.spec.ts')));
for (const file of changed) {
  const spec = `test/e2e/${file.split('/')[1]}.spec.ts`;
  if (file.startsWith('src/') && existsSync(spec)) specs.add(spec);
}
const sources = changed.filter((file) => file.startsWith('src/'));
if (sources.length > 0) {
  const list = ['--listTests', '--roots', 'src', '--findRelatedTests', ...sources];
  const related = execFileSync(process.execPath, [...JEST, ...list], { encoding: 'utf8' });
  for (const file of related.split('\n').filter(Boolean)) specs.add(file);
}
if (specs.size === 0) {
  console.log(`No test is touched by the changes since ${ref}.`);
  process.exit();
}
const run = [
  '--testPathIgnorePatterns',
  '/node_modules/',
  '--runTestsByPath',
  ...specs,
  ...options,
];
process.exitCode = spawnSync(process.execPath, [...JEST, ...run], { stdio: 'inherit' }).status;
