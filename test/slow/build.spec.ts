import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

const LIBRARY = pathToFileURL(resolve('scripts/lib/build.mjs')).href;

/** Builds the service like `npm start`, in a separate process. */
function build(root: string): Promise<Outcome> {
  const program = `
    const { build } = await import(${JSON.stringify(LIBRARY)});
    try { await build(${JSON.stringify(root)}, console.log) }
    catch (error) { console.log(error.message); process.exitCode = 1 }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  return new Promise((done) => child.once('close', (code) => done({ code, output })));
}

/** Stands for the compiler, which would take seconds. Copies the source, and fails if the source is invalid. */
const COMPILER = `
  const { readFileSync, writeFileSync } = require('node:fs');
  const { compilerOptions } = JSON.parse(readFileSync(process.argv.at(-1), 'utf8'));
  const text = readFileSync('src/main.ts', 'utf8');
  if (text.includes('many')) {
    console.error('src/main.ts: error');
    process.exit(1);
  }
  writeFileSync(compilerOptions.outDir + '/main.js', text);`;

describe('a build at the start', () => {
  let root: string;

  const write = (file: string, text: string): void => writeFileSync(join(root, file), text);
  const built = (): string => readFileSync(join(root, 'dist/main.js'), 'utf8');

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'its-build-'));
    mkdirSync(join(root, 'node_modules/@nestjs/cli/bin'), { recursive: true });
    write('node_modules/@nestjs/cli/bin/nest.js', COMPILER);
    mkdirSync(join(root, 'src'));
    write('src/main.ts', 'export const answer: number = 41;\n');
    write('nest-cli.json', JSON.stringify({ sourceRoot: 'src' }));
    write('tsconfig.build.json', '{}');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('runs once, and again after a change of a source file', async () => {
    expect(await build(root)).toEqual({
      code: 0,
      output: 'Building the service. This takes about 10 s.\n',
    });
    expect(await build(root)).toEqual({ code: 0, output: '' });
    write('src/main.ts', 'export const answer: number = 42;\n\n');
    expect(await build(root)).toMatchObject({
      code: 0,
      output: 'Building the service. This takes about 10 s.\n',
    });
    expect(built()).toContain('42');
  });

  it('is complete if several builds run simultaneously', async () => {
    const outcomes = await Promise.all([build(root), build(root), build(root)]);
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(built()).toContain('41');
    expect(readdirSync(root).filter((name) => /\.(new|old)/.test(name))).toEqual([]);
  });

  it('keeps the previous build after a failure, and names the location of the error', async () => {
    await build(root);
    write('src/main.ts', 'export const answer: number = "many";\n');
    const { code, output } = await build(root);
    expect(code).toBe(1);
    expect(output).toContain('src/main.ts');
    expect(built()).toContain('41');
  });

  it('uses the delivered build without a compiler, or reports the missing compiler', async () => {
    rmSync(join(root, 'node_modules'), { recursive: true });
    expect(await build(root)).toEqual({
      code: 1,
      output: 'dist/ is missing and the compiler is not installed: run `npm ci`.\n',
    });
    mkdirSync(join(root, 'dist'));
    write('dist/main.js', '');
    expect(await build(root)).toEqual({ code: 0, output: '' });
    expect(existsSync(join(root, 'dist/main.js'))).toBe(true);
  });
});
