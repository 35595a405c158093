// Prints how large the project is: lines and files per module, files with one importer, longest files, size of the
// contract. `npm run house -- REF` also prints the difference to a commit.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

const isCode = (path) => /\.(ts|mjs|cjs)$/.test(path) && !/\.spec\.ts$|\.d\.ts$/.test(path);
const isSpec = (path) => /\.spec\.ts$/.test(path);
const isData = (path) => /test\/(fixtures|evals\/cases)\//.test(path);
const linesOf = (path) => readFileSync(path, 'utf8').split('\n').length - 1;

function filesBelow(root, folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|cjs|json|sql)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

function importersOf(files) {
  const importers = new Map(files.map((file) => [file, new Set()]));
  for (const file of files) {
    for (const [, from] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)\.js'/g)) {
      importers.get(`${resolve(dirname(file), from)}.ts`)?.add(file);
    }
  }
  return importers;
}

function measure(root) {
  const source = filesBelow(root, 'src').filter(isCode);
  const modules = Map.groupBy(source, (file) => {
    const [, module] = relative(root, file).split('/');
    return module.endsWith('.ts') ? '(root files)' : module;
  });
  const tests = [...filesBelow(root, 'test'), ...filesBelow(root, 'scripts')];
  const glossary = readFileSync(join(root, 'docs/architecture.md'), 'utf8').split('## Glossary')[1];
  const sum = (files) => files.reduce((total, file) => total + linesOf(file), 0);
  const rows = {};
  for (const [module, files] of [...modules].sort(([a], [b]) => a.localeCompare(b))) {
    rows[`src/${module}: lines`] = sum(files);
    rows[`src/${module}: files`] = files.length;
  }
  rows['src without specs: lines'] = sum(source);
  rows['src without specs: files'] = source.length;
  rows['src specs: lines'] = sum(filesBelow(root, 'src').filter(isSpec));
  rows['test and scripts without data: lines'] = sum(
    tests.filter((file) => !isData(relative(root, file)) && !file.endsWith('.json')),
  );
  rows['files with one importer'] = [...importersOf(source).values()].filter(
    ({ size }) => size === 1,
  ).length;
  rows['openapi.json: KB'] = Math.round(
    readFileSync(join(root, 'openapi/openapi.json')).length / 1000,
  );
  rows['private glossary words'] = glossary?.match(/^\| [^-|]/gm)?.length ?? 0;
  const longest = source
    .map((file) => [relative(root, file), linesOf(file)])
    .sort(([, a], [, b]) => b - a)
    .slice(0, 10);
  return { rows, longest };
}

function measureCommit(ref) {
  const folder = mkdtempSync(join(tmpdir(), 'its-house-'));
  try {
    const archive = execFileSync('git', ['archive', ref], { maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    return measure(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const [ref] = process.argv.slice(2);
const now = measure(process.cwd());
const before = ref && measureCommit(ref);
for (const name of new Set([...Object.keys(now.rows), ...Object.keys(before?.rows ?? {})])) {
  const value = now.rows[name] ?? 0;
  const change = before ? value - (before.rows[name] ?? 0) : 0;
  const shown = before ? `${change > 0 ? '+' : ''}${change}`.padStart(9) : '';
  console.log(`${name.padEnd(44)}${String(value).padStart(8)}${shown}`);
}
console.log('\nLongest files of src');
for (const [file, lines] of now.longest) console.log(`${file.padEnd(70)}${lines}`);
