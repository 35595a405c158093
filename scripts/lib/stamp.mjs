import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const INPUTS = [
  'src',
  'package.json',
  'package-lock.json',
  'nest-cli.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
export const STAMP = '.built-from';

/** What a build depends on, as one short text: names, sizes and times, so that comparing costs no reading. */
export function stampOf(root) {
  const hash = createHash('sha256').update(process.version);
  for (const input of INPUTS) describe(root, input, hash);
  return hash.digest('hex');
}

function describe(root, path, hash) {
  const absolute = join(root, path);
  const stat = statSync(absolute, { throwIfNoEntry: false });
  if (!stat) return;
  if (stat.isDirectory()) {
    for (const name of readdirSync(absolute).sort()) describe(root, join(path, name), hash);
  } else if (!path.endsWith('.spec.ts')) {
    hash.update(`${path}\0${stat.size}\0${stat.mtimeMs}\n`);
  }
}

export function isFresh(root) {
  const file = join(root, 'dist', STAMP);
  return existsSync(file) && readFileSync(file, 'utf8') === stampOf(root);
}
