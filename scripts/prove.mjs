// Runs checks whose result depends only on their input files, and only if these changed since the last pass.
//   npm run prove                runs all checks whose input changed
//   npm run prove -- alerts      runs one check
//   npm run prove -- --due       lists the checks whose input changed
// A check that passes writes the hash of its input to .ci/proofs; commit this file with the change.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const PROOFS = {
  alerts: {
    command: ['alerts:check'],
    input: ['docker', 'test/alerts', 'scripts/alerts', 'src/platform/metrics/metrics.ts'],
  },
  breaking: {
    command: ['openapi:breaking', '--', '--required'],
    input: ['openapi/*.json', 'openapi/oasdiff-levels.txt', 'scripts/contract'],
  },
  browser: {
    command: ['test:browser'],
    input: ['test/browser', 'src/platform/docs'],
  },
  readme: { command: ['readme'], input: ['README.md', 'scripts/readme', 'openapi/openapi.json'] },
};

const stampOf = (name) => `.ci/proofs/${name}`;

function hashOf({ command, input }) {
  const hash = createHash('sha256').update(command.join(' '));
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', ...input];
  const files = execFileSync('git', list, { encoding: 'utf8' }).split('\n').filter(existsSync);
  for (const file of files.sort()) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

function isDue(name) {
  const stamp = stampOf(name);
  return !existsSync(stamp) || readFileSync(stamp, 'utf8').trim() !== hashOf(PROOFS[name]);
}

function prove(name) {
  console.log(`Proving ${name}`);
  const { status } = spawnSync('npm', ['run', '--silent', ...PROOFS[name].command], {
    stdio: 'inherit',
  });
  if (status !== 0) return false;
  mkdirSync('.ci/proofs', { recursive: true });
  writeFileSync(stampOf(name), `${hashOf(PROOFS[name])}\n`);
  return true;
}

const words = process.argv.slice(2);
const due = Object.keys(PROOFS).filter(isDue);
if (words.includes('--due')) {
  for (const name of due) console.log(name);
} else {
  const unknown = words.filter((name) => !(name in PROOFS));
  if (unknown.length > 0) throw new Error(`Unknown check ${unknown}: ${Object.keys(PROOFS)}`);
  const results = (words.length > 0 ? words : due).map((name) => prove(name));
  process.exitCode = results.includes(false) ? 1 : 0;
}
