import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const INPUTS = [
  'src',
  'package.json',
  'package-lock.json',
  'nest-cli.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const STAMP = '.built-from';

/** Error that says in one line why nothing can be started. */
export class BuildError extends Error {}

/**
 * Updates dist/. The build writes to a temporary folder and moves it into place, so that concurrent or interrupted
 * builds leave no mixture.
 */
export async function build(root, log = () => {}) {
  if (isFresh(root)) return;
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  if (!existsSync(nest)) {
    // An installation without development dependencies cannot build, so it runs the delivered build.
    if (existsSync(join(root, 'dist', 'main.js'))) return;
    throw new BuildError('dist/ is missing and the compiler is not installed: run `npm ci`.');
  }
  log('Building the service. This takes about 10 s.');
  const stamp = stampOf(root);
  const fresh = join(root, `dist.${process.pid}.new`);
  try {
    await compile(root, nest, fresh);
    writeFileSync(join(fresh, STAMP), stamp);
    moveIntoPlace(root, fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function compile(root, nest, outDir) {
  mkdirSync(outDir, { recursive: true });
  const config = `tsconfig.${process.pid}.new.json`;
  writeFileSync(
    join(root, config),
    JSON.stringify({ extends: './tsconfig.build.json', compilerOptions: { outDir } }),
  );
  try {
    const compiler = spawn(process.execPath, [nest, 'build', '--path', config], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [compiler.stdout, compiler.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (said += text));
    }
    const [status] = await once(compiler, 'close');
    if (status !== 0) throw new BuildError(`The build failed.\n${said}`.trimEnd());
  } finally {
    rmSync(join(root, config), { force: true });
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
      // Another build moved its result between the two steps, so this build tries again.
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
