import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Options, transformSync } from '@swc/core';
import swcOptions from './swc-options.json';

const ROOT = resolve(__dirname, '../..');

/**
 * Compiles the service once per run, for tests that start and kill it as a process. Returns the path of its main.js.
 */
export function compiledService(): string {
  const home = join(tmpdir(), 'its-compiled');
  if (!existsSync(home)) build(home);
  return join(home, 'dist', 'main.js');
}

function build(home: string): void {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(spec|d)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const draft = `${home}.${randomBytes(4).toString('hex')}`;
  for (const path of sources) {
    const target = path.replace(join(ROOT, 'src'), join(draft, 'dist'));
    mkdirSync(dirname(target), { recursive: true });
    if (!path.endsWith('.ts')) {
      copyFileSync(path, target);
      continue;
    }
    const options = { ...(swcOptions as Options), filename: path, swcrc: false };
    const { code } = transformSync(readFileSync(path, 'utf8'), options);
    writeFileSync(target.replace(/\.ts$/, '.js'), code);
  }
  copyFileSync(join(ROOT, 'package.json'), join(draft, 'package.json'));
  symlinkSync(join(ROOT, 'openapi'), join(draft, 'openapi'));
  symlinkSync(join(ROOT, 'node_modules'), join(draft, 'node_modules'));
  try {
    renameSync(draft, home);
  } catch (error) {
    // Another suite has already created the folder, with the same content.
    if (!existsSync(home)) throw error;
    rmSync(draft, { recursive: true, force: true });
  }
}
