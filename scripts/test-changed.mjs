// Runs the tests that a change touches: changed specs, unit specs that import a changed file, and the HTTP tests named
// after the module of a changed file. `npm run test:changed -- REF` compares with REF instead of main.
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

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

const specs = new Set(changed.filter((file) => file.endsWith('.spec.ts')));
const sources = changed.filter((file) => file.startsWith('src/'));
for (const file of sources) {
  const module = file.split('/')[1].replace(/s$/, '');
  for (const spec of globSync(`test/e2e/${module}*.spec.ts`)) specs.add(spec);
}
if (sources.length > 0) {
  const related = lines(process.execPath, [
    ...JEST,
    '--listTests',
    '--findRelatedTests',
    ...sources,
  ]);
  // Every HTTP test imports the whole service.
  for (const file of related) if (file.includes('/src/')) specs.add(file);
}
if (specs.size === 0) {
  console.log(`No test is touched by the changes since ${ref}.`);
  process.exit();
}
const run = ['--testPathIgnorePatterns', '/node_modules/', '--runTestsByPath', ...specs];
process.exitCode = spawnSync(process.execPath, [...JEST, ...run, ...options], {
  stdio: 'inherit',
}).status;
