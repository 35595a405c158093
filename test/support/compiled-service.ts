import { createHash, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(__dirname, '../..');
const CACHE = join(tmpdir(), 'its-compiled');
const KEPT_MS = 60 * 60 * 1000;

const compilerOptions: ts.CompilerOptions = {
  module: ts.ModuleKind.CommonJS,
  target: ts.ScriptTarget.ES2023,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  esModuleInterop: true,
  isolatedModules: true,
};

/**
 * The service as JavaScript in a folder of its own, for tests that run it, and kill it, as a process. It is compiled when
 * the sources have changed and shared by all suites; the answer is the path of its main.js.
 */
export function compiledService(): string {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(spec|d)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const others = [join(ROOT, 'package.json'), join(ROOT, 'openapi', 'openapi.json')];
  const hash = createHash('sha256');
  for (const path of [...sources, ...others]) hash.update(path).update(readFileSync(path));
  const home = join(CACHE, hash.digest('hex').slice(0, 16));
  if (!existsSync(home)) build(home, sources);
  return join(home, 'dist', 'main.js');
}

function build(home: string, sources: readonly string[]): void {
  removeOld();
  const draft = `${home}.${randomBytes(4).toString('hex')}`;
  for (const path of sources) {
    const target = path.replace(join(ROOT, 'src'), join(draft, 'dist'));
    mkdirSync(dirname(target), { recursive: true });
    if (!path.endsWith('.ts')) {
      copyFileSync(path, target);
      continue;
    }
    const { outputText } = ts.transpileModule(readFileSync(path, 'utf8'), {
      fileName: path,
      compilerOptions,
    });
    writeFileSync(target.replace(/\.ts$/, '.js'), outputText);
  }
  copyFileSync(join(ROOT, 'package.json'), join(draft, 'package.json'));
  symlinkSync(join(ROOT, 'openapi'), join(draft, 'openapi'));
  symlinkSync(join(ROOT, 'node_modules'), join(draft, 'node_modules'));
  try {
    renameSync(draft, home);
  } catch (error) {
    // Another suite was faster with the same content.
    if (!existsSync(home)) throw error;
    rmSync(draft, { recursive: true, force: true });
  }
}

function removeOld(): void {
  mkdirSync(CACHE, { recursive: true });
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}
