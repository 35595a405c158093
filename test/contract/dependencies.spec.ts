import { readFileSync } from 'node:fs';

interface LockedPackage {
  readonly hasInstallScript?: boolean;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
const packages = Object.entries(
  read('package-lock.json')['packages'] as Record<string, LockedPackage>,
).filter(([path]) => path !== '');
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 13);
const namesWhere = (isSo: (locked: LockedPackage) => boolean) =>
  [...new Set(packages.filter(([, locked]) => isSo(locked)).map(([path]) => nameOf(path)))].sort();

/** Licences that allow a company to run and change the service. People decide about new licences. */
const LICENCES =
  /^\(?(?:MIT|MIT-0|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|Python-2\.0|CC0-1\.0|CC-BY-4\.0|Unlicense|Zlib|WTFPL)(?: (?:OR|AND) (?:MIT|CC0-1\.0|Zlib))?\)?$/;

describe('the required version of Node', () => {
  it('is the same in package.json, in the lock file and in the error message at the start', () => {
    const { engines } = read('package.json') as { engines: { node: string } };
    const [, needed] = /^>=(\d+)$/.exec(engines.node) ?? [];
    const locked = read('package-lock.json')['packages'] as Record<string, { engines?: object }>;
    expect(locked['']!.engines).toEqual(engines);
    const start = readFileSync('scripts/start.mjs', 'utf8');
    expect(/^const NEEDED = (\d+);$/m.exec(start)?.[1]).toBe(needed);
  });
});

describe('the locked dependencies', () => {
  it('have no install scripts except the scripts that package.json disables by name', () => {
    const refused = Object.entries(read('package.json')['allowScripts'] as Record<string, boolean>);
    expect(refused.filter(([, isAllowed]) => isAllowed)).toEqual([]);
    expect(namesWhere(({ hasInstallScript }) => hasInstallScript === true)).toEqual(
      refused.map(([name]) => name).sort(),
    );
  });

  it('never run install scripts, with any version of npm', () => {
    expect(readFileSync('.npmrc', 'utf8')).toMatch(/^ignore-scripts=true$/m);
    const scripts = Object.keys(read('package.json')['scripts'] as object);
    // The package has no scripts that npm runs as hooks, because npm would skip them too.
    expect(scripts.filter((name) => /^(?:pre|post)|^prepare/.test(name))).toEqual([]);
  });

  it('come from the registry, each with its digest', () => {
    expect(namesWhere(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([]);
    expect(namesWhere(({ resolved }) => resolved !== undefined)).toEqual([]);
  });

  it('have a known free licence', () => {
    expect(namesWhere(({ license }) => !LICENCES.test(license ?? ''))).toEqual([]);
  });
});
