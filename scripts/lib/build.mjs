import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const INPUTS = ['src', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
const STAMP = '.built-from';

/** Tells in one line why there is nothing to start. */
export class BuildError extends Error {}

/**
 * Brings dist/ up to date. A build is made beside dist/ and moved into place as a whole, so that neither a simultaneous
 * nor an interrupted build leaves a mixture.
 */
export async function build(root, log = () => {}) {
  if (isFresh(root)) return;
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  if (!existsSync(tsc)) {
    // An installation without development dependencies runs the delivered dist/.
    if (existsSync(join(root, 'dist', 'main.js'))) return;
    throw new BuildError('dist/ is missing and the compiler is not installed: run `npm ci`.');
  }
  log('Building, which takes some ten seconds ...');
  const stamp = stampOf(root);
  const fresh = join(root, `dist.${process.pid}.new`);
  try {
    const command = [tsc, '-p', 'tsconfig.build.json', '--outDir', fresh];
    await promisify(execFile)(process.execPath, command, { cwd: root }).catch(
      ({ stdout, stderr }) => {
        throw new BuildError(`The build failed.\n${stdout}${stderr}`.trimEnd());
      },
    );
    const filter = (path) => !path.endsWith('.ts');
    cpSync(join(root, 'src'), fresh, { recursive: true, filter });
    writeFileSync(join(fresh, STAMP), stamp);
    moveIntoPlace(root, fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function moveIntoPlace(root, fresh) {
  const dist = join(root, 'dist');
  const old = join(root, `dist.${process.pid}.old`);
  for (let attempt = 1; ; attempt++) {
    try {
      if (existsSync(dist)) renameSync(dist, old);
      renameSync(fresh, dist);
      break;
    } catch (error) {
      // Another build moved its result between the two steps.
      if (attempt === 20 || !['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
      rmSync(old, { recursive: true, force: true });
      if (isFresh(root)) break;
    }
  }
  rmSync(old, { recursive: true, force: true });
}

/** Hash of the names, sizes and times of all inputs of a build, so that a comparison reads no file. */
function stampOf(root) {
  const hash = createHash('sha256').update(process.version);
  for (const input of INPUTS) describe(root, input, hash);
  return hash.digest('hex');
}

function describe(root, path, hash) {
  const absolute = join(root, path);
  const stat = statSync(absolute, { throwIfNoEntry: false });
  if (stat?.isDirectory()) {
    for (const name of readdirSync(absolute).sort()) describe(root, join(path, name), hash);
  } else if (stat && !path.endsWith('.spec.ts')) {
    hash.update(`${path}\0${stat.size}\0${stat.mtimeMs}\n`);
  }
}

function isFresh(root) {
  const file = join(root, 'dist', STAMP);
  return existsSync(file) && readFileSync(file, 'utf8') === stampOf(root);
}
