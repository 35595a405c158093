import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { isFresh, STAMP, stampOf } from './stamp.mjs';

/** Says in one line why there is nothing to start. */
export class BuildError extends Error {}

/**
 * Brings dist/ up to date. It is built beside and moved into place whole, so that neither a second build at the same
 * time nor an interrupted one leaves a mixture.
 */
export async function build(root, log = () => {}) {
  if (isFresh(root)) return;
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  if (!existsSync(nest)) {
    // An installation without development dependencies: it runs what it was delivered with.
    if (existsSync(join(root, 'dist', 'main.js'))) return;
    throw new BuildError('dist/ is missing and the compiler is not installed: run `npm ci`.');
  }
  log('Building, which takes some ten seconds ...');
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
  const signs = showThatItGoesOn();
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
    signs.end();
    rmSync(join(root, config), { force: true });
  }
}

/** A dot each second, for somebody who watches. */
function showThatItGoesOn() {
  if (!process.stderr.isTTY) return { end: () => {} };
  const timer = setInterval(() => process.stderr.write('.'), 1_000);
  return {
    end: () => {
      clearInterval(timer);
      process.stderr.write('\n');
    },
  };
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
