import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFresh, STAMP, stampOf } from './stamp.mjs';

/** Says in one line why there is nothing to start. */
export class BuildError extends Error {}

/**
 * Brings dist/ up to date. It is built beside and moved into place whole, so that neither a second build at the same
 * time nor an interrupted one leaves a mixture.
 */
export function build(root, log = () => {}) {
  if (isFresh(root)) return;
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  if (!existsSync(nest)) {
    // An installation without development dependencies: it runs what it was delivered with.
    if (existsSync(join(root, 'dist', 'main.js'))) return;
    throw new BuildError('dist/ is missing and the compiler is not installed: run `npm ci`.');
  }
  log('Building ...');
  const stamp = stampOf(root);
  const fresh = join(root, `dist.${process.pid}.new`);
  try {
    compile(root, nest, fresh);
    writeFileSync(join(fresh, STAMP), stamp);
    moveIntoPlace(root, fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function compile(root, nest, outDir) {
  mkdirSync(outDir, { recursive: true });
  const config = `tsconfig.${process.pid}.new.json`;
  writeFileSync(
    join(root, config),
    JSON.stringify({ extends: './tsconfig.build.json', compilerOptions: { outDir } }),
  );
  try {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [nest, 'build', '--path', config],
      { cwd: root, encoding: 'utf8' },
    );
    if (status !== 0) throw new BuildError(`The build failed.\n${stdout}${stderr}`.trimEnd());
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
      // Another build moved between the two steps: take turns.
      if (attempt === 20 || !['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
      rmSync(old, { recursive: true, force: true });
      if (isFresh(root)) break;
    }
  }
  rmSync(old, { recursive: true, force: true });
}
