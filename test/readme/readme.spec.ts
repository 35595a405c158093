import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellBlocks } from '../../scripts/readme/blocks.js';
import { declaredSettings } from '../../src/platform/config/settings.js';
import '../../src/platform/config/settings.js';

const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...globSync('docs/*.md')];
const readDocument = (path: string): string => readFileSync(path, 'utf8');
const readme = readDocument('README.md');
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
};

/** Returns the anchors that GitHub creates for the headings. */
const anchorsOf = (path: string): string[] =>
  [...readDocument(path).matchAll(/^#+ (.+)$/gm)].map(
    ([, heading]) =>
      `#${heading!
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-')}`,
  );

describe('the README', () => {
  it('starts and tests with one command each', () => {
    const commands = shellBlocks(readme).map((block) => block.commands);
    expect(commands[0]).toBe('npm ci && npm start');
    expect(commands).toContain('npm ci && npm test');
  });

  it('names only settings that exist', () => {
    const known = declaredSettings.map(({ variable }) => variable);
    const named = [...readme.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });
});

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readDocument(document);

  it('links only to files and headings that exist', () => {
    const links = [...text.matchAll(/\]\((?!http)([^)#]*)(#[^)]+)?\)/g)];
    const broken = links.filter(([, file, anchor]) => {
      const target = file ? join(dirname(document), file) : document;
      return !existsSync(target) || (anchor && !anchorsOf(target).includes(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it('names only commands that exist', () => {
    const named = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name);
    expect(named.filter((name) => !(name! in scripts))).toEqual([]);
  });
});
